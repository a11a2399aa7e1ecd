"""The Markdown of an answer becomes HTML with harmless tags only."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.shared.safe_html import answer_html, lang

TAGS = {
    *("p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br", "s", "div"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def render(text: str) -> str:
    return answer_html(text, lambda n: f"({n})" if n < 10 else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ten days [1].", "Ten days (1)."),
        ("a [1][2] [3]", "a (1)(2) (3)"),
        ("**bold [1]**", "<strong>bold (1)</strong>"),
        ("- one [1]\n- two [2]", "<li>two (2)</li>"),
        ("| a |\n| - |\n| b [1] |", "<td>b (1)</td>"),
        ("`code[1]`", "<code>code[1]</code>"),
        ("```\nrow[1]\n```", "row[1]"),
        ("unknown [12]", "unknown [12]"),
        ("costs $5 to $6, :smile: a -> b", "costs $5 to $6, :smile: a -&gt; b"),
    ],
)
def test_markers_become_links_except_in_code(text: str, expected: str) -> None:
    assert expected in render(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#### Alba\n\n#### Norden", ["h3", "h3"]),
        ("## Both\n\n#### Alba\n\n### Norden", ["h3", "h5", "h4"]),
        ("# Under\n\n> ###### Quoted", ["h3", "h4"]),
        ("# a\n## b\n### c\n#### d\n##### e\n###### f", ["h3", "h4", "h5", "h6", "h6", "h6"]),
    ],
)
def test_headings_start_below_those_of_the_page_and_skip_no_level(
    text: str, expected: list[str]
) -> None:
    html = answer_html(text, lambda n: f"({n})", heading=3)
    assert re.findall(r"<(h\d)>", html) == re.findall(r"</(h\d)>", html) == expected


@pytest.mark.parametrize(
    "text",
    [
        "![pixel](http://x/y.png)",
        "[click](javascript:alert(1))",
        "[click][1]\n\n[1]: http://x",
        "<http://x>",
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "&lt;b&gt; &#60;b>",
    ],
)
def test_links_images_and_html_stay_text(text: str) -> None:
    tags = re.findall(r"<(\w+)[^>]*>", render(text))
    assert set(tags) == {"div", "p"}


@given(st.text(st.sampled_from("[]()<>!&\"'`*_#|-\n 1ahref=:/x"), max_size=80))
def test_any_text_produces_only_harmless_tags(text: str) -> None:
    html = render(text)
    assert set(re.findall(r"</?(\w+)", html)) <= TAGS
    assert "href=" not in re.sub(r">[^<]*<", "><", html)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Annual leave", ""),
        ("연차는 며칠인가요?", ' lang="ko"'),
        ("有給休暇は何日ですか？", ' lang="ja"'),
        ("休暇規程.md에서 정한 연차 일수", ' lang="ko"'),
        ("「연차」という言葉について", ' lang="ja"'),
    ],
)
def test_korean_and_japanese_text_is_marked_with_its_language(text: str, expected: str) -> None:
    assert lang(text) == expected
