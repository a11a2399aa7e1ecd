"""Names that users or documents supply are escaped in Streamlit's Markdown."""

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

# What Streamlit 1.67 replaces in the text nodes of parsed Markdown.
REPLACED = re.compile(
    r":material_\w+:|:[\w+-]+:|https?://[-.\w]|www\.[-.\w]|[-.\w+]@[-\w]+\.[-\w]"
    r"|(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)",
    re.ASCII | re.IGNORECASE,
)
SPAN = re.compile(r":color\[\\(.)\]")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
FRAGMENTS = (
    *(":", "::", "smile", "material/", "x", "1", ".", ")", "[", "]", "![", "](", "http://"),
    *("www.", "@", "a@b.c", "*", "_", "`", "\\", "&", "#", "|", "{", "}", "-", ">", "<", "="),
    *("~", "$", " ", "\n", "\t", "+", "文", "color", "red", "/"),
)
NAMES = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))

# Elements that render their label, text, or help as Markdown, and attributes with external text.
MARKDOWN = (
    *("button", "caption", "checkbox", "date_input", "download_button", "error", "expander"),
    *("feedback", "file_uploader", "form_submit_button", "header", "image", "info", "link_button"),
    *("markdown", "menu_button", "metric", "multiselect", "number_input", "page_link", "pills"),
    *("popover", "progress", "radio", "segmented_control", "selectbox", "slider", "spinner"),
    *("status", "subheader", "success", "tabs", "text_area", "text_input", "title", "toast"),
    *("toggle", "warning", "write"),
)
KEYWORDS = ("label", "help", "text", "body", "caption")
EXTERNAL = ("name", "title", "titles", "question", "location", "collection", "author", "quote")


@given(NAMES)
@example(r"\<->")
def test_a_name_is_shown_literally_on_one_line(name: str) -> None:
    assert "".join(text_nodes(literal(name))) == re.sub(r"[ \t\n\r\f\v]+", " ", name).strip(" ")


@given(NAMES)
def test_no_text_remains_that_streamlit_replaces(name: str) -> None:
    assert not [text for text in text_nodes(literal(name)) if REPLACED.search(text)]


@given(NAMES)
def test_markdown_syntax_is_escaped(name: str) -> None:
    unescaped_text = ESCAPE.sub("", SPAN.sub("", literal(name)))
    assert not re.search(r"[\\`*_\[\]{}<>#|~$!&:]", unescaped_text)
    assert not re.match(r"[-+] |\d+[.)]", literal(name))


def test_an_ordinary_name_stays_unchanged() -> None:
    for name in ("Leave policy (Bristol), 2026-05.pdf", "휴가 안내", "休暇規程 第3版"):
        assert literal(name) == name


def text_nodes(markdown: str) -> list[str]:
    """The text nodes that result from parsing Markdown with Streamlit's directives."""
    parts = SPAN.split(markdown)  # every second part is the character within a span
    return [part if n % 2 else ESCAPE.sub(r"\1", part) for n, part in enumerate(parts)]


def test_names_are_passed_to_streamlits_markdown_only_through_literal() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in FILES}
    calls = [f"{file}: {call}" for file, text in sources.items() for call in unescaped_calls(text)]
    assert calls == []


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("st.button(source.name)", 1),
        ("st.button(literal(source.name))", 0),
        ("st.slider('x', help=source.name)", 1),
        ("st.caption(words.NOTICES.format(title=turn.title))", 1),
        ("st.caption(words.NOTICES.format(title=literal(turn.title)))", 0),
        ("def f(title):\n    st.toast(f'{title} is saved')", 1),
        ("def f(one):\n    label = words.OPEN.format(name=one.name)\n    st.button(label)", 1),
        ("bar.progress(0.5, source.name)", 1),
        ("st.button(words.ASK, key=source.name)", 0),
        ("st.selectbox(words.ASK, names, format_func=lambda one: one.name)", 0),
    ],
)
def test_the_check_detects_a_name_that_is_not_escaped(code: str, calls: int) -> None:
    assert len(list(unescaped_calls(code))) == calls


def unescaped_calls(code: str) -> Iterator[str]:
    """Calls that pass a name to Streamlit's Markdown without escaping it."""
    tree = ast.parse(code)
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] or [tree]
    for body in bodies:
        variables = {
            node.targets[0].id: node.value
            for node in ast.walk(body)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(body):
            if is_markdown(node) and any(
                contains_name(argument, variables) for argument in rendered_arguments(node)
            ):
                yield ast.unparse(node)


def is_markdown(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MARKDOWN
    )


def rendered_arguments(call: ast.Call) -> list[ast.expr]:
    """The rendered arguments: the text (the second argument of a progress bar) and the help."""
    position = 1 if call.func.attr == "progress" else 0
    keywords = [argument.value for argument in call.keywords if argument.arg in KEYWORDS]
    return [*call.args[position : position + 1], *keywords]


def contains_name(node: ast.AST, variables: dict[str, ast.expr]) -> bool:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "literal":
        return False
    if isinstance(node, ast.Attribute) and node.attr in EXTERNAL:
        return True
    if isinstance(node, ast.Name):
        value = variables.get(node.id)
        others = {name: expression for name, expression in variables.items() if name != node.id}
        return contains_name(value, others) if value is not None else node.id in EXTERNAL
    return any(contains_name(child, variables) for child in ast.iter_child_nodes(node))
