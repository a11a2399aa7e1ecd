"""Converts macros (code, panels, files, roadmaps, and others) to the HTML that readers see."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

from loaders.confluence.storage_format.elements import (
    Element,
    ac,
    add,
    insert,
    is_within,
    rename,
    set_separate_text,
    set_text,
    words,
)
from loaders.confluence.storage_format.links import Links, link_target, markdown_link

_URI_ENCODED = "--uriencoded--"


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro and its element: its name in lower case, its parameters by name, and its body.

    `parameters` contains the text of each parameter; a page or file that it names is a link. The
    name of the unnamed parameter is "". `plain` is None if there is no plain body.
    """

    element: Element
    name: str
    parameters: dict[str, str]
    rich: Element | None
    plain: str | None
    links: Links

    def parameter(self, *names: str) -> str:
        """The first of these parameters that is not empty; "" if all are."""
        return next((text for name in names if (text := self.parameters.get(name))), "")


def read_macro(element: Element, links: Links) -> Macro:
    """Read an `ac:structured-macro` or `ac:macro` element."""
    plain = element.find(ac("plain-text-body"))
    parameters = [*element.iterfind(ac("default-parameter")), *element.iterfind(ac("parameter"))]
    return Macro(
        element=element,
        name=element.get(ac("name"), "").lower(),
        parameters={each.get(ac("name"), ""): _text_of(each, links) for each in parameters},
        rich=element.find(ac("rich-text-body")),
        plain=None if plain is None else "".join(plain.itertext()),
        links=links,
    )


def _text_of(parameter: Element, links: Links) -> str:
    if target := link_target(parameter, links):
        return markdown_link(target.text, target.url)
    text = words(parameter)
    return unquote(text.removeprefix(_URI_ENCODED)) if text.startswith(_URI_ENCODED) else text


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
"""Macros whose body has a fixed language, and its name."""


def convert_code(macro: Macro) -> None:
    """Convert the body to a code block with its language, below its title."""
    language = PLAIN_BODIES.get(macro.name, macro.parameter("language", ""))
    set_code_block(macro, macro.plain or "", language, macro.parameter("title"))


def convert_formula(macro: Macro) -> None:
    """Convert a formula in its own paragraph to a block of TeX, as people search for it."""
    set_code_block(macro, _formula(macro), "latex")


def convert_inline_formula(macro: Macro) -> None:
    """Convert an inline formula to its TeX."""
    set_text(macro.element, _formula(macro))


def convert_html(macro: Macro) -> None:
    """Convert a body of HTML to what a browser would show."""
    from lxml import html  # type: ignore[import-untyped]

    set_text(macro.element, "", "div")
    parser = html.HTMLParser(remove_comments=True, remove_pis=True)
    page = html.document_fromstring(f"<div>{macro.plain or ''}</div>", parser=parser)
    macro.element.extend(page.body)


def _formula(macro: Macro) -> str:
    return (macro.plain or "").strip() or macro.parameter("body", "equation", "formula", "")


def set_code_block(macro: Macro, text: str, language: str = "", title: str = "") -> None:
    """Convert text to a code block below its title, or to inline code in a table."""
    set_text(macro.element, "", "div")
    if is_within(macro.element, "td", "th"):  # a cell is one line
        macro.element.text = f"{title} " if title else ""
        add(macro.element, "code", text)
        return
    if title:
        add(macro.element, "p", title)
    code = add(add(macro.element, "pre"), "code", text)
    if language.lower() not in _NO_LANGUAGE:
        code.set("class", f"language-{language}")


PANELS = {
    "info": "Info",
    "note": "Note",
    "warning": "Warning",
    "error": "Error",
    "tip": "Tip",
    "success": "Success",
}
"""The words for kinds of panels, which a page shows only by color and icon."""


def keep_body(macro: Macro, kind: str = "") -> None:
    """Convert a macro to its rich body below its kind and title."""
    keep_bare_body(macro)
    label(macro.element, kind, macro.parameter("title"))


def keep_bare_body(macro: Macro) -> None:
    """Convert a macro to its rich body only: its parameters control its appearance or a search."""
    set_text(macro.element, "", "div")
    if macro.rich is not None:
        macro.rich.tail = ""
        rename(macro.rich, "div")
        macro.element.append(macro.rich)


def label(element: Element, kind: str, title: str) -> None:
    """Put a panel's kind and title before its text, as a separate paragraph.

    A kind without a title is put at the start of the first paragraph: "Note: ...".
    """
    if title:
        insert(element, "p", f"{kind}: {title}" if kind else title)
    elif kind and (first := _opening_paragraph(element)) is not None:
        first.text = f"{kind}: {(first.text or '').lstrip()}"
    elif kind:
        insert(element, "p", f"{kind}:")


def _opening_paragraph(element: Element) -> Element | None:
    """The paragraph at the beginning of the element, however deeply nested in blocks."""
    while len(element) and not (element.text or "").strip():
        element = element[0]
        if element.tag == "p":
            return element
        if element.tag != "div":
            return None
    return None


_SHOWN = frozenset({
    "", "accesslink", "alt", "caption", "code", "description", "diagram", "diagramdisplayname",
    "diagramname", "file", "filename", "heading", "key", "label", "link", "message", "name",
    "page", "question", "subtitle", "summary", "text", "title", "url", "user",
})  # fmt: skip
_SETTINGS = frozenset({"atlassian-macro-output-type", "class", "cql", "css", "sort", "style"})
_WORDS = re.compile(r"[^\W\d_]{2}[,;:.!?]* [^\W\d_]|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CODE = re.compile(r"[{}\[\]<>=]|\d(?:px|em|%)")


def parameter_texts(parameters: Mapping[str, str]) -> list[str]:
    """The values that are meaningful to a reader, in order and without duplicates.

    These are values with a meaningful name (title, caption, url ...), phrases, and any Korean,
    Japanese, or Chinese text. Sizes, colors, ids, switches, and queries are only settings.
    """
    return list(dict.fromkeys(
        text for name, text in parameters.items() if text and _is_meaningful(name.lower(), text)
    ))  # fmt: skip


def _is_meaningful(name: str, text: str) -> bool:
    if "](" in text or name in _SHOWN:
        return True
    is_phrase = _WORDS.search(text) is not None and _CODE.search(text) is None
    return is_phrase and name not in _SETTINGS


_DAY_LENGTH = len("2026-11-21")


def convert_roadmap(macro: Macro) -> None:
    """Convert a plan to a list of its lanes, with their bars and dates, and its markers."""
    set_text(macro.element, "", "div")
    plan = _plan(macro.parameter("source"))
    if title := macro.parameter("title") or _plan_text(plan, "title"):
        add(macro.element, "p", title)
    if plan:
        entries = add(macro.element, "ul")
        for lane in _parts(plan, "lanes"):
            _add_entry(entries, lane, _parts(lane, "bars"))
        for marker in _parts(plan, "markers"):
            _add_entry(entries, marker, [])


def _add_entry(entries: Element, entry: Any, inner: list[Any]) -> None:
    days = (_plan_text(entry, name)[:_DAY_LENGTH] for name in ("startDate", "endDate"))
    day = _plan_text(entry, "markerDate", "date")[:_DAY_LENGTH] or " - ".join(filter(None, days))
    text = ": ".join(
        filter(None, (day, _plan_text(entry, "title"), _plan_text(entry, "description")))
    )
    item = add(entries, "li", text)
    if inner:
        bars = add(item, "ul")
        for bar in inner:
            _add_entry(bars, bar, [])


def _plan(source: str) -> Any:
    try:
        return json.loads(source if source.startswith("{") else unquote(source))
    except (ValueError, RecursionError):  # from another macro of the same name
        return None


def _parts(of: Any, name: str) -> list[Any]:
    parts = of.get(name) if isinstance(of, dict) else None
    return parts if isinstance(parts, list) else []


def _plan_text(of: Any, *names: str) -> str:
    texts = (of.get(name) for name in names) if isinstance(of, dict) else ()
    return next((text for text in texts if isinstance(text, str) and text), "")


# Only their title is shown; other parameters control their appearance.
_BOXES = ("panel", "expand", "ui-expand", "excerpt", "details", "chart", "section", "column")
# Macros that list or link to content that is imported itself. toc-zone and others have a body.
_NAVIGATION = (
    "anchor", "attachments", "blog-posts", "change-history", "children", "content-report-table",
    "contentbylabel", "contentbyuser", "contributors", "contributors-summary",
    "create-from-template", "create-space-button", "detailssummary", "favpages", "gadget",
    "global-reports", "index", "labels-list", "listlabels", "livesearch", "navmap", "network",
    "pagetree", "pagetreesearch", "popular-labels", "profile-picture", "recently-updated",
    "recently-updated-dashboard", "recently-used-labels", "related-labels", "search",
    "searchbox", "space-attachments", "space-details", "spaces", "tasks-report-macro", "toc",
    "toc-zone", "userlister",
)  # fmt: skip
_FILES = ("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "multimedia")
_FORMULAS = (
    "easy-math-block", "eazy-math-block", "latex", "latex-formatting", "math-block", "mathblock",
    "mathdisplay", "mathjax-block-macro",
)  # fmt: skip
_INLINE_FORMULAS = (
    "easy-math-inline", "eazy-math-inline", "latex-inline", "math-inline", "mathinline",
    "mathjax-inline-macro",
)  # fmt: skip


def convert_macro(element: Element, links: Links) -> None:
    """Convert a macro of any kind to HTML in place."""
    macro = read_macro(element, links)
    _MACROS.get(macro.name, _convert_unknown)(macro)


def _label_converter(*names: str) -> Callable[[Macro], None]:
    """A converter that keeps a macro's title and the first non-empty one of these parameters."""

    def convert(macro: Macro) -> None:
        texts = (macro.parameter("title"), macro.parameter(*names))
        set_separate_text(macro.element, " ".join(dict.fromkeys(filter(None, texts))))

    return convert


def _convert_page(macro: Macro) -> None:
    """Convert an included page to a link: its text is imported with that page."""
    name = macro.parameter("", "page", "blogpost", "pageTitle")
    if name and "](" not in name:
        space_key, _, title = name.rpartition(":")
        if not space_key.replace("~", "").isalnum():
            space_key, title = "", name
        space = space_key or macro.parameter("spaceKey", "space") or None
        name = markdown_link(title, macro.links.page(space, title, ""))
    set_separate_text(macro.element, name)


def _convert_file(macro: Macro) -> None:
    """Convert a displayed file to a link."""
    name = macro.parameter("name", "file", "filename", "")
    if name and "](" not in name:
        name = markdown_link(name, macro.links.attachment(name, None, None))
    title = macro.parameter("title")
    set_separate_text(macro.element, " ".join(part for part in (title, name) if part))


def _convert_unknown(macro: Macro) -> None:
    """Convert an unknown macro to its textual parameters, followed by its body."""
    texts = parameter_texts(macro.parameters)
    if macro.rich is not None:
        keep_bare_body(macro)
    elif (macro.plain or "").strip():
        set_code_block(macro, macro.plain or "")
    else:
        set_separate_text(macro.element, " ".join(texts))
        return
    for text in reversed(texts):
        insert(macro.element, "p", text)


_MACROS: dict[str, Callable[[Macro], None]] = {
    "code": convert_code,
    **dict.fromkeys(PLAIN_BODIES, convert_code),
    **{name: partial(keep_body, kind=kind) for name, kind in PANELS.items()},
    **dict.fromkeys(_BOXES, keep_body),
    **dict.fromkeys(_NAVIGATION, keep_bare_body),
    **dict.fromkeys(_FILES, _convert_file),
    **dict.fromkeys(_FORMULAS, convert_formula),
    **dict.fromkeys(_INLINE_FORMULAS, convert_inline_formula),
    **dict.fromkeys(("include", "excerpt-include"), _convert_page),
    **dict.fromkeys(("style", "css-stylesheet"), keep_bare_body),
    "html": convert_html,
    "roadmap": convert_roadmap,
    "status": _label_converter("title", "colour", "color"),
    "jira": _label_converter("key", "jqlQuery", "url"),
    "jiraissues": _label_converter("key", "jqlQuery", "url"),
    "gallery": _label_converter("include"),
    "profile": _label_converter("user"),
    "widget": _label_converter("url"),
    "iframe": _label_converter("src", "url"),
}
