"""Names that are not ours reach Streamlit's Markdown as text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ui.shared.safe_html import literal

ROOT = Path(__file__).parents[3]
FILES = sorted([*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py")])

# What Streamlit 1.67 replaces in each piece of text that Markdown was parsed into.
REPLACED = re.compile(
    r":material_\w+:|:[\w+-]+:|https?://[-.\w]|www\.[-.\w]|[-.\w+]@[-\w]+\.[-\w]"
    r"|(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)",
    re.ASCII | re.IGNORECASE,
)
SPAN = re.compile(r":color\[\\(.)\]")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
PIECES = (
    *(":", "::", "smile", "material/", "x", "1", ".", ")", "[", "]", "![", "](", "http://"),
    *("www.", "@", "a@b.c", "*", "_", "`", "\\", "&", "#", "|", "{", "}", "-", ">", "<", "="),
    *("~", "$", " ", "\n", "\t", "+", "文", "color", "red", "/"),
)
NAMES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))

# What renders its label, its text or its help as Markdown, and words for what is not ours.
MARKDOWN = (
    *("button", "caption", "checkbox", "date_input", "download_button", "error", "expander"),
    *("feedback", "file_uploader", "form_submit_button", "header", "image", "info", "link_button"),
    *("markdown", "menu_button", "metric", "multiselect", "number_input", "page_link", "pills"),
    *("popover", "progress", "radio", "segmented_control", "selectbox", "slider", "spinner"),
    *("status", "subheader", "success", "tabs", "text_area", "text_input", "title", "toast"),
    *("toggle", "warning", "write"),
)
KEYWORDS = ("label", "help", "text", "body", "caption")
NOT_OURS = ("name", "title", "titles", "question", "location", "collection", "author", "quote")


@given(NAMES)
@example(r"\<->")
def test_what_is_shown_is_the_name_in_one_line(name: str) -> None:
    assert "".join(shown(literal(name))) == re.sub(r"[ \t\n\r\f\v]+", " ", name).strip(" ")


@given(NAMES)
def test_no_piece_of_text_is_left_that_streamlit_replaces(name: str) -> None:
    assert not [piece for piece in shown(literal(name)) if REPLACED.search(piece)]


@given(NAMES)
def test_no_sign_of_markdown_is_left_without_a_backslash(name: str) -> None:
    left = ESCAPED.sub("", SPAN.sub("", literal(name)))
    assert not re.search(r"[\\`*_\[\]{}<>#|~$!&:]", left)
    assert not re.match(r"[-+] |\d+[.)]", literal(name))


def test_an_ordinary_name_stays_as_it_is() -> None:
    for name in ("Leave policy (Bristol), 2026-05.pdf", "휴가 안내", "休暇規程 第3版"):
        assert literal(name) == name


def shown(markdown: str) -> list[str]:
    """The pieces of text, as Markdown with Streamlit's directives is parsed into them."""
    pieces = SPAN.split(markdown)  # every second one is the sign within a span
    return [part if n % 2 else ESCAPED.sub(r"\1", part) for n, part in enumerate(pieces)]


def test_names_reach_streamlits_markdown_through_literal_only() -> None:
    code = {path.name: path.read_text(encoding="utf-8") for path in FILES}
    found = [f"{name}: {line}" for name, text in code.items() for line in unescaped(text)]
    assert found == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("st.button(source.name)", 1),
        ("st.button(literal(source.name))", 0),
        ("st.slider('x', help=source.name)", 1),
        ("st.caption(words.NOTICES.format(title=turn.title))", 1),
        ("st.caption(words.NOTICES.format(title=literal(turn.title)))", 0),
        ("def f(title):\n    st.toast(f'{title} is kept')", 1),
        ("def f(one):\n    label = words.OPEN.format(name=one.name)\n    st.button(label)", 1),
        ("bar.progress(0.5, source.name)", 1),
        ("st.button(words.ASK, key=source.name)", 0),
        ("st.selectbox(words.ASK, names, format_func=lambda one: one.name)", 0),
    ],
)
def test_a_name_that_is_not_escaped_is_noticed(code: str, found: int) -> None:
    assert len(list(unescaped(code))) == found


def unescaped(code: str) -> Iterator[str]:
    """The calls that hand a name to Streamlit's Markdown as it is; those of constants hand none."""
    tree = ast.parse(code)
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] or [tree]
    for body in bodies:
        known = {
            node.targets[0].id: node.value
            for node in ast.walk(body)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(body):
            if is_markdown(node) and any(names_data(one, known) for one in shown_arguments(node)):
                yield ast.unparse(node)


def is_markdown(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MARKDOWN
    )


def shown_arguments(call: ast.Call) -> list[ast.expr]:
    """The arguments that are shown: a progress bar's second one, else the first, and its help."""
    at = 1 if call.func.attr == "progress" else 0
    named = [one.value for one in call.keywords if one.arg in KEYWORDS]
    return [*call.args[at : at + 1], *named]


def names_data(node: ast.AST, known: dict[str, ast.expr]) -> bool:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "literal":
        return False
    if isinstance(node, ast.Attribute) and node.attr in NOT_OURS:
        return True
    if isinstance(node, ast.Name):
        value = known.get(node.id)
        others = {name: one for name, one in known.items() if name != node.id}
        return names_data(value, others) if value is not None else node.id in NOT_OURS
    return any(names_data(child, known) for child in ast.iter_child_nodes(node))
