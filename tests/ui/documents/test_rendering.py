"""A document's text as HTML, with exactly the quoted characters highlighted."""

import re
from html import unescape
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.library.document_style import Style
from tests.linear_time import require_linear_time
from ui.documents.rendering import Highlight, Kind, document_html, visible_text

LETTERS = "가힣あんア漢字" + "".join(map(chr, range(0x4E00, 0x5200)))
"""Every letter of a test document is different, so that each one in the page is identified."""


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Markdown of all kinds in which no letter occurs twice."""
    letters = iter(LETTERS)

    def words(most: int = 4) -> str:
        lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=most))
        return " ".join("".join(next(letters) for _ in range(length)) for length in lengths)

    def phrase() -> str:
        form = draw(st.sampled_from(["{}", "**{}**", "*{}*", "`{}`", "~~{}~~", "[{}](http://x/_)"]))
        return form.format(words()) + draw(st.sampled_from(["", r"\*", "!", "  ", " <b>"]))

    def line() -> str:
        return "".join(phrase() for _ in range(draw(st.integers(1, 3)))).strip()

    def table() -> str:
        cells = [
            [words() + draw(st.sampled_from(["", r" \| "])) + words() for _ in "ab"] for _ in "xy"
        ]
        return "\n".join(
            ["| a | b |", "|---|:-:|", *(f"| {left} |{right}|" for left, right in cells)]
        )

    def block() -> str:
        kind = draw(st.sampled_from(["#", "## ", "-", "1.", ">", "```", "|", "", "    ", "setext"]))
        if kind == "|":
            text = table()
        elif kind == "```":
            text = f"```py\n{words()}\n\n  {words()}\n```"
        elif kind == "setext":
            text = f"{line()}\n==="
        elif kind == "":
            text = f"{line()}\n{line()}"
        else:
            text = f"{kind} {line()}"
        inside = draw(st.sampled_from(["", "", "> ", "- ", "10. "]))
        indent = inside if inside == "> " else " " * len(inside)
        return inside + text.replace("\n", "\n" + indent)

    return "\n\n".join(block() for _ in range(draw(st.integers(1, 6))))


def letters_of(text: str) -> str:
    return "".join(one for one in text if one in LETTERS)


def marked(html: str) -> str:
    found = re.findall(r"<mark[^>]*>(.*?)</mark>", html, re.DOTALL)
    return unescape("".join(found))


@given(documents(), st.data(), st.sampled_from(Style))
def test_exactly_the_letters_of_a_span_are_marked(
    text: str, data: st.DataObject, style: Style
) -> None:
    ends = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(ends, ends).map(sorted), max_size=4))
    html = document_html(text, [Highlight(*span) for span in spans], style=style)
    inside = {at for start, end in spans for at in range(start, end)}
    assert letters_of(marked(html)) == letters_of("".join(text[at] for at in sorted(inside)))
    assert letters_of(unescape(re.sub("<[^>]*>", "", html))) == letters_of(text)


TAGS = re.compile(
    r"</?(?:h[2-6]|p|ul|ol|li|table|thead|tbody|tr|th|td|pre|code|em|strong|del|blockquote|div|span"
    r'|mark|a|br|hr)(?: (?:id="fn-at-\d+"|class="fn-[\w -]+"|start="\d+"|tabindex="0"|data-far=""'
    r'|href="(?:https?:|mailto:)[^"<>]*"|target="_blank"|rel="noopener noreferrer"))*>'
)
PIECES = [*"ab가 \n\t\r\0`*_~|#->[]()!\\<&\"'=:1.+", "](http://x)", "](javascript:a)", "|-|-|\n"]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)


@given(HOSTILE, st.lists(st.tuples(*[st.integers(0, 130)] * 2).map(sorted)), st.sampled_from(Style))
def test_no_text_injects_markup_or_fails(text: str, spans: list[list[int]], style: Style) -> None:
    highlights = [Highlight(*span, kind) for span, kind in zip(spans, cycle(Kind), strict=False)]
    html = document_html(text, highlights, style=style)
    rest = TAGS.sub("", html)
    assert "<" not in rest
    assert ">" not in rest
    assert html.count("<mark") == html.count("</mark>")


@pytest.mark.parametrize(
    "text", ["[a](javascript:alert(1))", "![a](http://x/y.png)", "<img src=x>"]
)
def test_a_document_runs_no_script_and_loads_no_picture(text: str) -> None:
    html = document_html(text, style=Style.MARKDOWN)
    assert "<img" not in html
    assert "href" not in html
    assert 'src="' not in html


def test_markdown_becomes_headings_lists_tables_and_code() -> None:
    text = "# Top\n\n- one\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```sh\nls | wc\n```\n"
    html = document_html(
        text, [Highlight(text.index("1"), text.index("1") + 1)], style=Style.MARKDOWN
    )
    assert html == (
        '<h2 id="fn-at-0">Top</h2><ul><li>one</li></ul>'
        '<div class="fn-grid" tabindex="0"><table><thead><tr><th>a</th><th class="fn-right">b</th>'
        '</tr></thead><tbody><tr><td><mark>1</mark></td><td class="fn-right">2</td></tr></tbody>'
        '</table></div><pre tabindex="0"><code>ls | wc\n</code></pre>'
    )


def test_a_quote_across_lines_is_one_highlight() -> None:
    html = document_html("ten days\nof leave", [Highlight(4, 11)], style=Style.MARKDOWN)
    assert html == "<p>ten <mark>days\nof</mark> leave</p>"


def test_lines_of_japanese_are_joined_without_a_space() -> None:
    html = document_html("年次休暇は\n十日です。", [Highlight(3, 8)], style=Style.MARKDOWN)
    assert html == "<p>年次休<mark>暇は十日</mark>です。</p>"


def test_extracted_text_is_literal_except_for_its_structure() -> None:
    text = "## Paths\n\nC:\\*temp* and __init__\nnext: 1\n\n    indented"
    html = document_html(text, style=Style.EXTRACTED)
    assert html == (
        '<h3 id="fn-at-0">Paths</h3><p>C:\\*temp* and __init__<br>next: 1</p><p>indented</p>'
    )


def test_plain_text_keeps_its_lines() -> None:
    html = document_html("# not a heading\n  | a |\n\n\nnext", [Highlight(2, 5)], style=Style.PLAIN)
    assert html == (
        '<p class="fn-plain"># <mark>not</mark> a heading\n  | a |</p><p class="fn-plain">next</p>'
    )


def test_front_matter_is_shown_as_it_is() -> None:
    html = document_html(
        "---\ntitle: Leave\n---\n# Leave", [Highlight(11, 16)], style=Style.MARKDOWN
    )
    assert html == (
        '<pre class="fn-front">---\ntitle: <mark>Leave</mark>\n---</pre>'
        '<h2 id="fn-at-21">Leave</h2>'
    )


def test_the_more_important_of_overlapping_highlights_is_visible() -> None:
    highlights = [Highlight(0, 9, Kind.FOCUS), Highlight(2, 6), Highlight(4, 5, Kind.CURRENT)]
    assert document_html("abcdefghi", highlights, style=Style.PLAIN) == (
        '<p class="fn-plain"><span class="fn-focus">ab</span><mark>cd</mark>'
        '<mark class="fn-match fn-current">e</mark><mark>f</mark>'
        '<span class="fn-focus">ghi</span></p>'
    )


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("## Leave\n\n**Ten** days", "Leave Ten days"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a · b; 1 · 2"),
        ("| 1 | 2 |\n| 3 | 4 |", "1 · 2; 3 · 4"),
        ("<b> & `c`", "<b> & c"),
        ("**연차**는 **25日**です。", "연차는 25日です。"),
    ],
)
def test_the_visible_text_has_no_syntax(text: str, visible: str) -> None:
    assert visible_text(text, Style.MARKDOWN) == visible


@pytest.mark.parametrize("piece", ["a *b* ", "[", "| a ", "> ", "a\n", "`", "\\|"])
def test_rendering_takes_linear_time(piece: str) -> None:
    def render(size: int) -> str:
        text = piece * size
        every = [Highlight(at, at + 1) for at in range(0, len(text), 7)]
        return document_html(text, every, style=Style.MARKDOWN)

    require_linear_time(render, 4000)
