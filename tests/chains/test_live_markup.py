"""No text of a model or a document becomes HTML, a link, or an image in an answer's Markdown."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import AnswerReader, quotation, read_answer
from chains.citations.markers import as_markdown, plain_text
from domain import CitationState, RetrievedPassage
from services.export.answer_text import safe_answer

WORDS = "New employees get 25 days."
SOURCES = [RetrievedPassage(1, "p1", "d1", "Leave", "leave.md", f"{WORDS} ![x](http://evil/x)")]
LIVE = {"html_block", "html_inline", "image", "link_open"}


def markdown(answer):
    return as_markdown(read_answer(answer, SOURCES))


def live_tokens(text):
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    return {token.type for token in [*tokens, *inner]} & LIVE


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("![pixel](http://evil/x)", "![pixel]\\(http://evil/x)"),
        ("[here](http://evil/x)", "[here]\\(http://evil/x)"),
        ('<img src="http://evil/x">', '\\<img src="http://evil/x">'),
        ("<http://evil/x>", "\\<http://evil/x>"),
        ("![x][r]\n\n[r]: http://evil/x", "![x][r]\n\n[r]\\: http://evil/x"),
        (f'![25][1: "{WORDS}"](http://evil/x)', "![25][1]\\(http://evil/x)"),
        (f'![25][1: "{WORDS}"(http://evil/x)', "![25][1]\\(http://evil/x)"),
        ("![1]\n\n[1]: http://evil/x", "![1]\n\n[1]\\: http://evil/x"),
        ('“New [1: "<img src=//evil/x>"]”', "“New [1]”"),
        ("\\<b> \\\\<b> ]\\(x)", "\\<b> \\\\\\<b> ]\\(x)"),
        ("2 < 3 and a <- b", "2 < 3 and a <- b"),
        ("`![x](http://evil/x)`", "`![x](http://evil/x)`"),
        ("```html\n<img src=x>\n```\n<b>", "```html\n<img src=x>\n```\n\\<b>"),
    ],
)
def test_html_links_and_images_become_text_except_in_code(answer, shown):
    assert markdown(answer) == shown
    assert live_tokens(shown) == set()


@pytest.mark.parametrize(
    "answer",
    [
        "` ![x](http://evil/x)",
        "`a\nb` ![x](http://evil/x) `c`",
        "| ` | ![x](http://evil/x) ` |\n| - | - |",
        "- a\n\n  ```\n![x](http://evil/x)",
        "- ```\n  a\n  ```\n![x](http://evil/x)",
        "~~~ ~~~~\n" + "~" * 50 + "\n![x](http://evil/x)",
        "``` " + "a" * 90 + "\n```\n![x](http://evil/x)",
        "```\na\n```" + " " * 90 + "\n![x](http://evil/x)",
        "```\na\r```\r![x](http://evil/x)",
        "a\n     ```\n![x](http://evil/x)",
        "`" * 1005 + "\n" + "`" * 1006 + "\n![x](http://evil/x)",
        "```a`\n![x](http://evil/x)",
        "a\n     ```\n\\![x\\](http://evil/x) ![x](http://evil/x)",
        "```\n```\u3000\n```\n![x](http://evil/x)",
        "```\n```\u00a0\n```\n![x](http://evil/x)",
        "```\n```\x0c\n```\n![x](http://evil/x)",
        "```\n     ```\n```\n![x](http://evil/x)",
        "```\n\t```\n```\n![x](http://evil/x)",
        "|```\n~~~\n    ~~~~\n~~~\n![x](http://evil/x)\n`",
        "| `a | b` z `![x](http://evil/x)` |\n|-|-|",
        "- ~~~\n  ~~~\n  ![x](http://evil/x)\n  ~~~",
        "> a\nb\n2. c\n   ```\nx\n```\n```\n![x](http://evil/x)",
        "- - -\n  ```\n ```\n![x](http://evil/x)\n```",
        "-\n  ```\nx\n```\n\n![x](http://evil/x)\n```\n\n![x](http://evil/x)",
        "a\n2. b\n   ```\nx\n  ```\n![x](http://evil/x)",
        "- a\nb\n  ```\nx\n```\n![x](http://evil/x)\n```\n![x](http://evil/x)",
        "a\n2. ```\n![x](http://evil/x)\n",
        "- - ```\n  ![x](http://evil/x)",
        "-     ```\n  ![x](http://evil/x)",
    ],
    ids=range(29),
)
def test_what_only_looks_like_code_does_not_hide_an_image(answer):
    assert live_tokens(answer) & {"image"}
    assert live_tokens(markdown(answer)) == set()


@pytest.mark.parametrize(
    "answer",
    [
        "- a\n  ```\n![x⟧(http://evil/)",
        "| a | b |\n|---|---|\n| `x | ![x⟧(http://evil/)` |",
        "- a\n  ```\n\n⟦x⟧: http://evil/\n\n![x]",
        "$$\n```\n![x⟧(http://evil/)",
        "```\n```" + " " * 90 + "\n![x⟧(http://evil/)\n\n⟦x⟧: http://evil/",
    ],
)
def test_look_alikes_do_not_hide_an_image(answer):
    assert live_tokens(markdown(answer)) == set()
    assert "](" not in markdown(f"\\[\n\n{answer}").replace("\\](", "")


def test_an_escaped_bracket_of_a_passage_contains_no_code():
    passage = RetrievedPassage(1, "p1", "d1", "Leave", "leave.md", "See [7†`], [2†\\`].")
    for mark in ("[7†`]", "[2†\\`]"):
        shown = as_markdown(read_answer(f"Look {mark} and `![x](http://e/)` ok", [passage]))
        assert live_tokens(shown) == set()


JAVA = "```java\nList<String> a; d[0](x)\n```"
SHELL = "```sh\n   ls\n   ```"


@pytest.mark.parametrize(
    "answer",
    [
        f"It costs $5.\n\n{JAVA}",
        f"It costs $5 or \\(x\\):\n{JAVA}\n`Map<K, V>`",
        "It costs $5.\n\nUse `Map<K, V>`.",
        "It costs $5 with `Map<K, V>`.",
        f"1. Run:\n   {SHELL}\n2. Then:\n\n```html\n<div>\n```\n`Map<K, V>`",
        f"1. Run:\n\n   ```\n   <b>\n\n   <i>\n   ```\n\n2. Then:\n   {SHELL}\n   `a<b>`",
        "1. a\n   - b:\n\n     ```\n     <b>\n     ```\n   - c\n10. d\n    ~~~\n    <b>\n    ~~~",
        f"- a\n\n    ```html\n    <b>\n    ```\n\nText.\n\n* a\n## B\n1) c\n   {SHELL}\n{JAVA}",
        f"$$\nx < y\n$$\n\n{JAVA}\n\\[\nx\n\\]\n1. a\n\n{JAVA}",
        "  ```html\n<b>\n  ```\n`a<b>`",
        "1. a\n\n```html\n<b>\n```\n\n2. b\n\n   ```html\n   <b>\n   ```",
        f"| `a` | b |\n|-|-|\n| c | `Map<K, V>` |\n\n{JAVA}",
        "1. ```html\n   <b>\n   ```\n2. a\n   - 1) ~~~\n        <b>\n        ~~~\n\n   `a<b>`",
        f"Compare `a | b`.\nUse `Map<K, V>`.\n{JAVA}",
    ],
    ids=range(14),
)
def test_ordinary_code_stays_as_it_is(answer):
    assert markdown(answer) == answer
    assert safe_answer(answer) == answer


@pytest.mark.parametrize(
    "formula",
    [
        "$$\n```\n$$\n",
        "$ ` $ ",
        "\\( ` \\) ",
        "\\[\n~~~\n\\]\n",
        "$ `a $ b` z `",
        "\\[\n$$\n\\]\n```\n$$\n",
        "\\[\n$$\n\\]\n$$\n```\n$$\n",
        "$$\n- a\n\n  $$\n  ```\nx\n```\n```\n",
        "$$\n\n`$$`\n\n$$\n```\n$$\n",
        "$$$\n```\n$$$\n",
        "$$\nx $$ y\n```\n$$\n",
        "a $$\n\n$$\n```\n$$\n",
        "- a\n\n  $$\nx\n  $$\n```\n$$\n",
        "$$\nx\n     $$\n```\n$$\n",
    ],
)
def test_a_formula_does_not_hide_an_image_from_clients_that_render_formulas(formula):
    assert "](" not in markdown(f"{formula}![x](http://evil/x) ` $ `")


PARTS = ["![x]", "[x]", "](http://x)", "(http://x)", "]: http://x", "[1]", '[1: "New employees',
         '"', "]", "[", "!", "(", ")", ":", "<", "<img src=x>", "<!--", "<http://x>", "/", "\\",
         "`", "``", "```", "~~~", "    ", " ", "\n", "\n\n", "\r", "> ", "- ", "1. ", "|", "a",
         "|-|\n", "⟦", "⟧", "2. ", "  ", "\t", "~", "# ", "- - -", "\u3000", "$", "$$", "\\[",
         "\\]"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=25), st.data())
@example(["<", "img src=x>"], None)
@example(["\n    ```\n", "<", "img src=x>", "\n\n<", "img src=x>"], None)
@example(["a\n", "    ", "```\n", "\\", "<img src=x>"], None)
@example(["```", "\n", "```", "\u3000", "\n", "```", "\n", "![x]", "(http://x)"], None)
@example(["```\n", "     ```\n", "```\n", "![x]", "(http://x)"], None)
@example(["- a\n", "  ```\n", "![x", "⟧", "(http://x)"], None)
@example(["1. a\n", "   ```\n", "   <b>\n", "x\n", "```\n", "<b>"], None)
def test_no_piece_of_a_stream_is_live(parts, data):
    answer = "".join(parts)
    positions = st.lists(st.integers(0, len(answer)), max_size=12)
    cuts = sorted(data.draw(positions)) if data else range(len(answer))
    reader, pieces = AnswerReader(SOURCES), []
    for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True):
        pieces += reader.feed(answer[start:end])
        assert live_tokens(as_markdown(pieces)) == set()
    shown = as_markdown(pieces + reader.close())
    assert live_tokens(shown) == set()
    assert shown == markdown(answer)
    assert safe_answer(shown) == shown


def test_the_quotes_of_the_built_in_answerer_are_not_live():
    shown = as_markdown(quotation(1, '<img src="http://evil/x"> ![x](http://evil/x) <!-- a'))
    assert live_tokens(shown) == set()


def test_a_citation_after_an_image_is_found():
    checked = check_answer(f'![x](http://evil/x) 25 days [1: "{WORDS}"].', SOURCES, lambda _: None)
    [citation] = checked.citations
    assert citation.state is CitationState.VERIFIED
    assert checked.text.endswith(" 25 days [1].")
    assert checked.marks == (0,)


def test_plain_text_has_no_backslashes():
    assert plain_text(read_answer("![x](http://evil/x) ` <b>", SOURCES)) == (
        "![x](http://evil/x) ` <b>"
    )
