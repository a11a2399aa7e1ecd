"""A page's storage format made plain HTML, element by element, and that HTML made Markdown."""

from collections.abc import Callable

from loaders.confluence.storage_format.elements import Element, ac, is_html, rename, say
from loaders.confluence.storage_format.inline import (
    convert_emoticon,
    convert_image,
    convert_time,
)
from loaders.confluence.storage_format.links import Links, convert_anchor, convert_link
from loaders.confluence.storage_format.macros import convert_macro
from loaders.confluence.storage_format.parse import parse, plain_text
from loaders.confluence.storage_format.structure import (
    convert_extension,
    convert_item,
    convert_task,
    convert_task_list,
)
from loaders.formats.content import clean, single_spaced
from loaders.formats.html import to_markdown as html_to_markdown


def _leave_out(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    say(element, "")


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
    ac("placeholder"): _leave_out,
}
# A page shows them as boxes of their own: side by side they need no space, their words do.
_APART = frozenset({ac("structured-macro"), ac("macro"), ac("link"), ac("image")})
_BLOCKS = frozenset(
    ac(name)
    for name in ("layout", "layout-section", "layout-cell", "rich-text-body", "adf-content")
)
_SETTINGS = frozenset(ac(name) for name in ("parameter", "adf-attribute", "adf-parameter"))


def to_markdown(storage: str, links: Links) -> str:
    """Turn the storage format of a page, blog post or comment into Markdown.

    Headings, lists, tables and code read as those of any page (see `loaders.formats.html`), what
    only Confluence has becomes its words. Unlike there, links keep their targets: whoever wrote
    the page set each of them by hand, and where a word leads (the form, the dashboard, the page
    with the details) is often what people ask. Quotes still read as the page does, since
    `chains.visible_text` knows a link's target from its words.

    Args:
        storage: `body.storage.value` as Confluence gives it; damage costs tags, not words.
        links: Finds what the page's links, mentions and files name.

    Returns:
        The text without the page's title; empty where the page has none. Plain text where tags
        are nested too deeply to be read.
    """
    root = parse(storage)
    if root is None:
        return clean(single_spaced(plain_text(storage)))
    # Inner elements come after the ones around them, so that all see what they hold converted.
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
            say(element, "")
        elif not is_html(element):
            rename(element, "div" if element.tag in _BLOCKS else "span")
    rename(root, "body")
    html: str = etree.tostring(root, method="html", encoding="unicode")
    return html
