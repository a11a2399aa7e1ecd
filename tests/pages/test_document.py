"""The document page."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from domain import Principal
from domain.errors import UnreadableError
from services.library.document_parts import Heading
from services.library.original_service import OriginalFile
from services.library.reader_service import Cited, DocumentView, Freshness, Span, ViewContent
from tests.pages.conftest import APP, Services, page_text
from ui.documents import document_page
from ui.text import words

BEFORE, FOCUS, AFTER = "# Before it\n\n", "<b>Ten</b> days of leave.", "\n\n## After it"
TEXT = BEFORE + FOCUS + AFTER
STORED = Freshness("v1", 12, datetime.now(UTC) - timedelta(days=34, minutes=5))


def view(**changes: object) -> DocumentView:
    """The middle part of three, with a highlighted quote; the text starts at character 100."""
    start = 100 + len(BEFORE)
    plain = {
        "document_id": "d1",
        "title": "Leave <policy>",
        "location": "/files/leave.md",
        "format": "md",
        "content": ViewContent.STORED,
        "stored": STORED,
        "text": TEXT,
        "start": 100,
        "focus": Span(start, start + len(FOCUS)),
        "marks": (Span(start, start + 10),),
        "heading_path": ("Leave policy", "Annual leave"),
        "headings": (Heading(100, 1, "Before <it>"), Heading(900, 2, "Elsewhere")),
        "part": 2,
        "parts": 3,
        "previous": 0,
        "next": 100 + len(TEXT),
        "question": "How many days?",
    }
    return DocumentView(**(plain | changes))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _no_cached_pictures() -> Iterator[None]:
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def open_document(services: Services, **address: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.query_params.update(address or {"id": "d1"})
    page.switch_page("pages/document.py")
    return page.run()


def test_a_document_is_rendered_with_the_quote_and_its_passage_highlighted(
    services: Services,
) -> None:
    services.reader.document = view()
    html = page_text(open_document(services, id="d1", start="111", end="121"))
    assert "Leave &lt;policy&gt;" in html
    assert "Leave policy › Annual leave" in html
    assert "imported 34 days ago, version 12" in html
    assert "/files/leave.md" in html
    assert "How many days?" in html
    assert "<mark>&lt;b&gt;Ten&lt;/b&gt;</mark>" in html
    assert '<span class="fn-focus"> days of leave.</span>' in html
    assert '<h2 id="fn-at-100">Before it</h2>' in html
    assert "<b>" not in html
    assert services.reader.views == [("d1", 111, 121, None)]


def test_the_url_names_the_answer_that_cites_the_passage(services: Services) -> None:
    services.reader.document = view()
    open_document(services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2")
    assert services.reader.views == [("d1", 111, 121, Cited("c1", "t1", 2))]


def test_the_earlier_and_the_later_part_of_a_long_document_open(services: Services) -> None:
    services.reader.document = view()
    page = open_document(services, id="d1", start="111", end="121")
    assert words.PART_OF.format(part=2, parts=3) in page_text(page)
    button(page, words.LATER_PART).click().run()
    assert services.reader.positions[-1] == view().next
    button(page, words.EARLIER_PART).click().run()
    assert services.reader.positions[-1] == 0


def test_from_another_part_a_button_leads_back_to_the_quote(services: Services) -> None:
    services.reader.document = view()
    cited = {"start": "111", "end": "121", "conversation": "c1", "turn": "t1", "n": "2"}
    page = open_document(services, id="d1", **cited)
    assert words.BACK_TO_PASSAGE not in {one.label for one in page.button}
    button(page, words.LATER_PART).click().run()
    button(page, words.BACK_TO_PASSAGE).click().run()
    assert services.reader.positions == [None, view().next, None]
    assert set(services.reader.views) == {("d1", 111, 121, Cited("c1", "t1", 2))}
    assert words.BACK_TO_PASSAGE not in {one.label for one in page.button}


def test_from_a_match_a_button_leads_back_to_the_quote(services: Services) -> None:
    services.reader.document = view()
    page = open_document(services)
    page.text_input[0].set_value("it").run()
    button(page, words.BACK_TO_PASSAGE).click().run()
    assert services.reader.positions[-1] is None
    assert page.text_input[0].value == ""


def test_a_document_that_was_not_opened_at_a_passage_has_no_way_back(services: Services) -> None:
    services.reader.document = view(focus=Span(100, 100), marks=())
    page = open_document(services, id="d1", at="900")
    assert services.reader.positions == [900]
    assert words.BACK_TO_PASSAGE not in {one.label for one in page.button}


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ({"id": "d1"}, ".fn-reading mark"),
        ({"id": "d1", "at": "100"}, ".fn-reader"),
        ({"id": "d1", "at": "900"}, "#fn-at-900"),
    ],
)
def test_the_page_scrolls_to_the_quote_or_to_the_position_in_the_address(
    services: Services, address: dict[str, str], target: str
) -> None:
    services.reader.document = view()
    assert f'data-what="{target}"' in page_text(open_document(services, **address))


def test_a_link_to_an_empty_span_scrolls_to_the_heading_there(services: Services) -> None:
    services.reader.document = view(focus=Span(900, 900), marks=())
    html = page_text(open_document(services, id="d1", start="900", end="900"))
    assert 'data-what="#fn-at-900"' in html


def test_a_document_in_one_part_has_no_buttons_for_others(services: Services) -> None:
    services.reader.document = view(previous=None, next=None, parts=1)
    labels = {one.label for one in open_document(services).button}
    assert labels.isdisjoint({words.EARLIER_PART, words.LATER_PART})


def test_the_outline_leads_to_headings_of_this_part_and_of_others(services: Services) -> None:
    services.reader.document = view()
    cited = {"start": "111", "end": "121", "conversation": "c1", "turn": "t<1", "n": "2"}
    html = page_text(open_document(services, id="d1", **cited, at="100"))
    assert 'href="#fn-at-100" target="_self">Before &lt;it&gt;</a>' in html
    address = "document?id=d1&amp;start=111&amp;end=121&amp;conversation=c1&amp;turn=t%3C1&amp;n=2"
    assert f'href="{address}&amp;at=900" target="_self">Elsewhere</a>' in html
    services.reader.document = view(headings=())
    assert words.OUTLINE not in page_text(open_document(services))


def test_words_are_found_and_counted_and_the_matches_visited_in_turn(services: Services) -> None:
    services.reader.document = view()
    page = open_document(services)
    page.text_input[0].set_value("it").run()
    html = page_text(page)
    assert words.MATCH_OF.format(n=1, total=2) in html
    assert '<h2 id="fn-at-100">Before <mark class="fn-match fn-current">it</mark></h2>' in html
    assert 'After <mark class="fn-match">it</mark></h3>' in html
    button(page, words.NEXT_MATCH).click().run()
    assert words.MATCH_OF.format(n=2, total=2) in page_text(page)
    assert services.reader.positions[-1] == 100 + TEXT.rindex("it")
    button(page, words.NEXT_MATCH).click().run()
    assert services.reader.positions[-1] == 100 + TEXT.index("it")


def test_evidence_is_shown_even_if_the_document_was_removed_during_a_search(
    services: Services,
) -> None:
    services.reader.document = view()
    page = open_document(services)
    services.reader.document = view(content=ViewContent.SAVED_REMOVED, stored=None)
    services.reader.is_removed = True
    page.text_input[0].set_value("it").run()
    assert words.DOCUMENT_REMOVED in page_text(page)


def test_words_that_do_not_occur_are_reported(services: Services) -> None:
    services.reader.document = view()
    page = open_document(services)
    page.text_input[0].set_value("holiday").run()
    assert words.NO_MATCHES in page_text(page)
    assert button(page, words.NEXT_MATCH).disabled


def test_a_changed_document_shows_the_stored_text_and_links_to_the_current_one(
    services: Services,
) -> None:
    services.reader.document = view(
        content=ViewContent.SAVED_CHANGED, previous=None, next=None, now=Span(300, 320)
    )
    cited = {"start": "111", "end": "121", "conversation": "c1", "turn": "t1", "n": "2"}
    page = open_document(services, id="d1", **cited, at="900")
    assert words.DOCUMENT_CHANGED in page_text(page)
    button(page, words.SHOW_NOW).click().run()
    assert services.reader.views[-1] == ("d1", 300, 320, None)
    assert services.reader.positions[-1] is None


def test_a_removed_document_shows_the_stored_text(services: Services) -> None:
    services.reader.document = view(
        content=ViewContent.SAVED_REMOVED, previous=None, next=None, stored=None
    )
    page = open_document(services)
    html = page_text(page)
    assert words.DOCUMENT_REMOVED in html
    assert words.GONE in html
    assert "<mark>" in html
    assert not page.button
    assert not page.text_input


@pytest.mark.parametrize(
    "address",
    [
        {"start": "1"},
        {"id": "d1", "start": "x"},
        {"id": "d1", "end": "-5"},
        {"id": "d1", "n": "²"},
        {"id": "d1", "at": "x"},
    ],
)
def test_a_broken_link_is_reported(services: Services, address: dict[str, str]) -> None:
    html = page_text(open_document(services, **address))
    assert words.BROKEN_LINK in html
    assert services.reader.views == []


def test_a_missing_document_is_reported_without_a_traceback(services: Services) -> None:
    assert "This document is not in the library." in page_text(open_document(services))


@pytest.mark.parametrize(
    ("location", "link"),
    [
        ("https://wiki.example/leave", 'href="https://wiki.example/leave"'),
        ("javascript:alert(1)", ""),
        ("/files/leave.md", ""),
    ],
)
def test_only_an_original_on_the_web_is_a_link(
    services: Services, location: str, link: str
) -> None:
    services.reader.document = view(location=location, headings=())
    html = page_text(open_document(services))
    assert link in html
    assert html.count("href=") == bool(link) + 1  # and the link to the passages
    assert 'href="library?id=d1"' in html


def test_a_pdf_shows_the_original_page_next_to_the_text(services: Services) -> None:
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7)
    services.originals.picture = png()
    page = open_document(services)
    assert len(page.get("image")) == 1
    assert "page 7" in page_text(page)


def test_the_page_with_the_quote_is_shown_and_its_neighbors_on_request(services: Services) -> None:
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7, pages=8)
    services.originals.picture = png()
    page = open_document(services)
    assert services.originals.pictures == [(7, ("<b>Ten</b>",))]
    button(page, words.NEXT_PAGE).click().run()
    assert services.originals.pictures[-1][0] == 8
    assert button(page, words.NEXT_PAGE).disabled
    button(page, words.PREVIOUS_PAGE).click().run()
    assert words.ORIGINAL_PAGE.format(page=7) in page.get("image")[0].proto.imgs[0].caption


def test_a_picture_drawn_for_one_person_is_drawn_again_for_another(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7)
    services.originals.picture = png()
    drawn = []
    for user_id in ("ada", "ada", "ben"):
        person = Principal(user_id)
        monkeypatch.setattr(document_page, "principal", lambda person=person: person)
        assert open_document(services).get("image")
        drawn.append(len(services.originals.pictures))
    assert drawn == [1, 1, 2]


def test_the_original_can_be_downloaded(services: Services) -> None:
    services.reader.document = view()
    page = open_document(services)
    [download] = page.get("download_button")
    assert download.proto.label == words.DOWNLOAD_ORIGINAL
    assert words.ORIGINAL_CHANGED not in page_text(page)
    services.originals.file = OriginalFile("leave.md", Path("leave.md"), is_current=False)
    assert words.ORIGINAL_CHANGED in page_text(open_document(services))


def test_why_the_original_cannot_be_downloaded_is_shown(services: Services) -> None:
    services.reader.document = view()
    services.originals.file = UnreadableError("The original file a_b.md no longer exists.")
    page = open_document(services)
    assert "no longer exists" in page_text(page)
    assert not page.get("download_button")


def test_a_document_from_the_web_has_no_file_to_download(services: Services) -> None:
    services.reader.document = view(location="https://wiki.example/leave", format="confluence")
    assert not open_document(services).get("download_button")


def test_the_reason_is_shown_if_a_page_image_cannot_be_drawn(services: Services) -> None:
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7)
    services.originals.picture = UnreadableError("The original file has changed.")
    html = page_text(open_document(services))
    assert "The original file has changed." in html
    assert "<mark>" in html


def png() -> bytes:
    picture = io.BytesIO()
    Image.new("RGB", (20, 20), "white").save(picture, "PNG")
    return picture.getvalue()


def button(page: AppTest, label: str) -> Button:
    return next(one for one in page.button if one.label == label)
