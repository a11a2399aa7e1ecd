"""Converts the storage format of a page to plain HTML by element, and the HTML to Markdown."""

from collections.abc import Callable

from loaders.confluence.storage_format.elements import (
    Element,
    ac,
    is_html,
    parse,
    plain_text,
    rename,
    set_text,
    words,
)
from loaders.confluence.storage_format.links import (
    Links,
    convert_anchor,
    convert_emoticon,
    convert_image,
    convert_link,
    convert_time,
)
from loaders.confluence.storage_format.macros import PANELS, convert_macro, label, parameter_texts
from loaders.formats.content import clean, collapse_blank_lines
from loaders.formats.html import to_markdown as html_to_markdown

# Cloud's own fallback text for apps that define none.
_NO_FALLBACK = ("We don't have a way to export", "We don’t have a way to export")
_AROUND = (ac("adf-content"), ac("adf-extension"))


def convert_task_list(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert a list of tasks; a nested list belongs to the task before it."""
    rename(element, "ul")
    for child in list(element):
        before = child.getprevious()
        if child.tag == "ul" and before is not None and before.tag == "li":
            child.tail = ""
            before.append(child)


def convert_task(element: Element, links: Links) -> None:
    """Convert a task to a list item with a checkbox; its body names the assignee and due date."""
    is_done = words(element.find(ac("task-status"))) == "complete"
    body = element.find(ac("task-body"))
    set_text(element, "[x] " if is_done else "[ ] ", "li")
    if body is not None:
        body.tail = ""
        element.append(body)
        convert_item(body, links)


def convert_item(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert a list item that begins with a paragraph to one that begins with its text."""
    if len(element) and element[0].tag == "p" and not (element.text or "").strip():
        element.text = ""
        rename(element[0], "span")


def convert_extension(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """Convert an element specific to Cloud's editor to its fallback HTML, contents, or words."""
    settings = _settings(element)
    saved_body = _saved_body(element)
    texts = [] if saved_body else parameter_texts(settings)
    set_text(element, " ".join(texts), "div")
    for part in saved_body:
        part.tail = ""
        rename(part, "div")
        element.append(part)
    if saved_body:
        label(element, PANELS.get(settings.get("panel-type", ""), ""), "")


def _saved_body(element: Element) -> list[Element]:
    fallback = element.find(ac("adf-fallback"))
    if (text := words(fallback)) and not text.startswith(_NO_FALLBACK):
        return [fallback]
    contents = element.findall(f".//{ac('adf-content')}")
    return [each for each in contents if next(each.iterancestors(*_AROUND)) is element]


def _settings(element: Element) -> dict[str, str]:
    names = (ac("adf-attribute"), ac("adf-parameter"))
    return {each.get("key", ""): words(each) for each in element.iter(*names) if not len(each)}


def _omit(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    set_text(element, "")


_CONVERTERS: dict[str, Callable[[Element, Links], None]] = {
    ac("structured-macro"): convert_macro,
    ac("macro"): convert_macro,
    ac("link"): convert_link,
    "a": convert_anchor,
    ac("image"): convert_image,
    ac("emoticon"): convert_emoticon,
    "time": convert_time,
    "li": convert_item,
    ac("task"): convert_task,
    ac("task-list"): convert_task_list,
    ac("adf-extension"): convert_extension,
    ac("placeholder"): _omit,
}
# Pages show these as separate boxes; adjacent boxes need no space, but their words do.
_APART = frozenset({ac("structured-macro"), ac("macro"), ac("link"), ac("image")})
_BLOCKS = frozenset(
    ac(name)
    for name in ("layout", "layout-section", "layout-cell", "rich-text-body", "adf-content")
)
_SETTINGS = frozenset(ac(name) for name in ("parameter", "adf-attribute", "adf-parameter"))


def to_markdown(storage: str, links: Links) -> str:
    """Convert the storage format of a page, blog post, or comment to Markdown.

    Headings, lists, tables, and code are converted as in any HTML page (see
    `loaders.formats.html`); elements specific to Confluence become their words. Unlike there, links
    keep their targets: the author of the page set each of them by hand, and where a word leads (the
    form, the dashboard, the page with the details) is often what people ask. Quotes still read like
    the page, because `chains.citations.visible_text` separates a link's target from its words.

    Args:
        storage: `body.storage.value` from Confluence; if it is damaged, tags are lost but no words.
        links: Resolves the page's links, mentions, and files.

    Returns:
        The text without the page's title; empty if the page has no text. Plain text if tags are
        nested too deeply to be parsed.
    """
    root = parse(storage)
    if root is None:
        return clean(collapse_blank_lines(plain_text(storage)))
    # In document order, inner elements follow outer ones; reversed, they are converted first.
    for element in reversed(list(root.iter())):
        if element.tag in _APART:
            _part_from_previous(element)
        if converter := _CONVERTERS.get(element.tag):
            converter(element, links)
    return html_to_markdown(_html(root))[0]


def _part_from_previous(element: Element) -> None:
    before = element.getprevious()
    if before is not None and before.tag in _APART and not before.tail:
        before.tail = " "


def _html(root: Element) -> str:
    from lxml import etree  # type: ignore[import-untyped]

    for element in list(root.iter()):
        if element.tag in _SETTINGS:
            set_text(element, "")
        elif not is_html(element):
            rename(element, "div" if element.tag in _BLOCKS else "span")
    rename(root, "body")
    html: str = etree.tostring(root, method="html", encoding="unicode")
    return html
