"""Macros with a body of plain text: code, formulas, HTML."""

from loaders.confluence.storage_format.elements import add, is_within, say
from loaders.confluence.storage_format.macro import Macro

_NO_LANGUAGE = frozenset({"", "none", "text", "plain"})
PLAIN_BODIES = {
    "noformat": "",
    "preformatted": "",
    "plantuml": "plantuml",
    "plantumlrender": "plantuml",
    "plantumlcloud": "plantuml",
    "mermaid": "mermaid",
    "mermaid-macro": "mermaid",
    "mermaiddiagram": "mermaid",
    "mermaid-cloud": "mermaid",
    "markdown": "markdown",
    "markdown-macro": "markdown",
    "sql": "sql",
    "graphviz": "dot",
}
"""Macros whose body is of one language, and its name."""


def say_code(macro: Macro) -> None:
    """The body as a code block below its title, named by its language."""
    language = PLAIN_BODIES.get(macro.name, macro.parameter("language", ""))
    say_block(macro, macro.plain or "", language, macro.parameter("title"))


def say_formula(macro: Macro) -> None:
    """A formula in a paragraph of its own as a block of its TeX, which is how it is searched."""
    say_block(macro, _formula(macro), "latex")


def say_inline_formula(macro: Macro) -> None:
    """A formula within a line as its TeX."""
    say(macro.element, _formula(macro))


def say_html(macro: Macro) -> None:
    """A body of HTML as what a browser would show of it."""
    from lxml import html  # type: ignore[import-untyped]

    say(macro.element, "", "div")
    parser = html.HTMLParser(remove_comments=True, remove_pis=True)
    page = html.document_fromstring(f"<div>{macro.plain or ''}</div>", parser=parser)
    macro.element.extend(page.body)


def _formula(macro: Macro) -> str:
    return (macro.plain or "").strip() or macro.parameter("body", "equation", "formula", "")


def say_block(macro: Macro, text: str, language: str = "", title: str = "") -> None:
    """A text as a code block below its title; within a table as code in its line."""
    say(macro.element, "", "div")
    if is_within(macro.element, "td", "th"):  # a cell is one line
        macro.element.text = f"{title} " if title else ""
        add(macro.element, "code", text)
        return
    if title:
        add(macro.element, "p", title)
    code = add(add(macro.element, "pre"), "code", text)
    if language.lower() not in _NO_LANGUAGE:
        code.set("class", f"language-{language}")
