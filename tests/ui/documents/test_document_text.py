"""The outline of a document leads to the headings in its text."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.library import document_parts as document_parts_module
from services.library.document_parts import DocumentParts, document_parts
from services.library.document_style import Style
from services.library.reader_service import DocumentView, Span, ViewContent
from ui.documents.document_text import reading_html

FORMATS = {Style.MARKDOWN: "md", Style.EXTRACTED: "docx", Style.PLAIN: "txt"}
LINES = [
    "# A *heading*",
    "### ![A picture](a.png) `and` [a link](http://x)",
    "#hashtag",
    "##",
    "    # Indented",
    "A line of text",
    "===",
    "---",
    "> # In a quote",
    "> text",
    "> ---",
    "- # In a list",
    "- item",
    "  ## In an item",
    "10. # In a numbered list",
    "```",
    "~~~ py",
    "  ```",
    "| a | b |",
    "|---|---|",
    "| # c | d |",
    "> | a | b |",
    "> |---|---|",
    "title: # Front matter",
    "# Carriage\r# Return",
    "<h1>HTML</h1>",
    "",
    "",
]
FRONT = st.sampled_from(["", "", "---\n# comment\n---\n"])
TEXTS = st.tuples(FRONT, st.lists(st.sampled_from(LINES), max_size=40).map("\n".join)).map("".join)


def pages(text: str, style: Style, contents: DocumentParts) -> list[str]:
    """The HTML of each part of the document."""
    return [
        reading_html(
            DocumentView(
                document_id="d1",
                title="Leave",
                location="",
                format=FORMATS[style],
                content=ViewContent.STORED,
                stored=None,
                text=text[part.start : part.end],
                start=part.start,
                opening=part.opening,
                focus=Span(0, 0),
                headings=contents.headings,
            ),
            (),
            None,
            {"id": "d1", "turn": "t1"},
        )
        for part in contents.parts
    ]


def headings_of(html: str) -> dict[int, str]:
    """The text of each heading by its position, without those that show nothing."""
    found = re.findall(r'<(h\d) id="fn-at-(\d+)">(.*?)</\1>', html, re.DOTALL)
    texts = {int(at): unescape(re.sub("<[^>]*>", "", inside)) for _, at, inside in found}
    return {at: " ".join(text.split()) for at, text in texts.items() if text.strip()}


def divided(text: str, style: Style, part_characters: int) -> DocumentParts:
    """The parts of a document, each with at most so many characters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_parts_module, "PART_CHARACTERS", part_characters)
        return document_parts(text, style)


SIZES = st.sampled_from([40, 150, 100_000])


@given(TEXTS, st.sampled_from(Style), SIZES)
def test_the_outline_has_exactly_the_headings_of_the_pages(
    text: str, style: Style, part_characters: int
) -> None:
    contents = divided(text, style, part_characters)
    found: dict[int, str] = {}
    for html in pages(text, style, contents):
        found |= headings_of(html)
    assert {one.start: one.title for one in contents.headings} == found


@given(TEXTS, st.sampled_from(Style), SIZES)
def test_every_link_of_the_outline_has_its_target(
    text: str, style: Style, part_characters: int
) -> None:
    contents = divided(text, style, part_characters)
    every = pages(text, style, contents)
    for here in every:
        links = re.findall(r'<a class="fn-depth-\d" href="([^"]*)"', here)
        assert len(links) in (0, 2 * len(contents.headings))
        for link in map(urlsplit, map(unescape, links)):
            at = int(link.fragment.removeprefix("fn-at-") or parse_qs(link.query)["at"][0])
            there = here if link.fragment else every[contents.part_at(at)]
            assert f'id="fn-at-{at}"' in there
