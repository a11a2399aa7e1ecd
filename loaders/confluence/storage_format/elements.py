"""What the converters share: names of Confluence's elements, and their change into HTML's."""

import re
from collections.abc import Iterator
from typing import Any

from loaders.formats.content import clean, one_line

Element = Any
"""An element of lxml, whose types are not published."""

AC = "http://atlassian.com/content"
"""The namespace of Confluence's own elements. No document names it: any would do."""

RI = "http://atlassian.com/resource/identifier"
"""The namespace of what names a page, a file or a person."""

ROOT = "storage"
"""The element around all others."""

_NO_XML = re.compile("[\ufffe\uffff]")


def ac(name: str) -> str:
    """The full name of an `ac:` element or attribute."""
    return f"{{{AC}}}{name}"


def ri(name: str) -> str:
    """The full name of an `ri:` element or attribute."""
    return f"{{{RI}}}{name}"


_BREAKS = frozenset({"br", "p", "div", "li", "td", "th", "pre"})
# What holds blocks, and sentences only by way of them.
_CONTAINERS = frozenset({ROOT, "div", *map(ac, ("layout-cell", "rich-text-body", "adf-content"))})


def is_html(element: Element) -> bool:
    """Whether the element's name is one HTML might know."""
    return str(element.tag).isalnum()


def rename(element: Element, tag: str) -> None:
    """Make the element one of HTML, with what it holds and without attributes."""
    element.tag = tag
    element.attrib.clear()


def allowed(text: str) -> str:
    """The text without the characters that XML has no place for."""
    return _NO_XML.sub("", clean(text))


def say(element: Element, text: str, tag: str = "span") -> None:
    """Make the element one of HTML that holds that text only."""
    del element[:]
    rename(element, tag)
    element.text = allowed(text)


def say_apart(element: Element, text: str) -> None:
    """As `say`, in a block of its own where no sentence is around the element."""
    before = element.getprevious()
    around = (element.getparent().text if before is None else before.tail, element.tail)
    is_alone = element.getparent().tag in _CONTAINERS and not any(map(_holds_text, around))
    say(element, text, "div" if is_alone else "span")


def _holds_text(text: str | None) -> bool:
    return bool(text and text.strip())


def words(element: Element | None) -> str:
    """The text within on one line; empty where there is no element."""
    return "" if element is None else one_line("".join(_texts(element)))


def _texts(element: Element) -> Iterator[str]:
    from lxml import etree  # type: ignore[import-untyped]

    for event, each in etree.iterwalk(element, events=("start", "end")):
        yield " " if each.tag in _BREAKS else ""
        tail = each.tail if each is not element else None
        yield (each.text if event == "start" else tail) or ""


def add(parent: Element, tag: str, text: str = "") -> Element:
    """A new last child of the parent."""
    child = parent.makeelement(tag)
    child.text = allowed(text)
    parent.append(child)
    return child


def insert(parent: Element, tag: str, text: str) -> None:
    """A new first child of the parent, before its text."""
    child = parent.makeelement(tag)
    child.text = allowed(text)
    child.tail, parent.text = parent.text, ""
    parent.insert(0, child)


def is_within(element: Element, *tags: str) -> bool:
    """Whether an element of one of these names is around this one."""
    return next(element.iterancestors(*tags), None) is not None
