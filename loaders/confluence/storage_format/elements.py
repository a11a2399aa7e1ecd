"""Parses the storage format and converts Confluence's elements to HTML."""

import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from typing import Any

from loaders.formats.content import clean, one_line

Element = Any
"""An lxml element; lxml publishes no types."""

AC = "http://atlassian.com/content"
"""The namespace of Confluence's own elements. Documents don't declare it, so any would work."""

RI = "http://atlassian.com/resource/identifier"
"""The namespace of elements that identify a page, file, or person."""

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
# Elements that contain blocks but no sentences of their own.
_CONTAINERS = frozenset({ROOT, "div", *map(ac, ("layout-cell", "rich-text-body", "adf-content"))})


def is_html(element: Element) -> bool:
    """Whether the name of the element may be an HTML name."""
    return str(element.tag).isalnum()


def rename(element: Element, tag: str) -> None:
    """Turn the element into an HTML element with the same contents but no attributes."""
    element.tag = tag
    element.attrib.clear()


def allowed(text: str) -> str:
    """The text without characters that XML does not allow."""
    return _NO_XML.sub("", clean(text))


def set_text(element: Element, text: str, tag: str = "span") -> None:
    """Turn the element into an HTML element that contains only this text."""
    del element[:]
    rename(element, tag)
    element.text = allowed(text)


def set_separate_text(element: Element, text: str) -> None:
    """Like `set_text`, but as a separate block if the element is not inside a sentence."""
    before = element.getprevious()
    around = (element.getparent().text if before is None else before.tail, element.tail)
    is_alone = element.getparent().tag in _CONTAINERS and not any(map(_holds_text, around))
    set_text(element, text, "div" if is_alone else "span")


def _holds_text(text: str | None) -> bool:
    return bool(text and text.strip())


def words(element: Element | None) -> str:
    """The element's text on one line; empty if there is no element."""
    return "" if element is None else one_line("".join(_texts(element)))


def _texts(element: Element) -> Iterator[str]:
    from lxml import etree  # type: ignore[import-untyped]

    for event, each in etree.iterwalk(element, events=("start", "end")):
        yield " " if each.tag in _BREAKS else ""
        tail = each.tail if each is not element else None
        yield (each.text if event == "start" else tail) or ""


def add(parent: Element, tag: str, text: str = "") -> Element:
    """Append a child to the parent and return it."""
    child = parent.makeelement(tag)
    child.text = allowed(text)
    parent.append(child)
    return child


def insert(parent: Element, tag: str, text: str) -> None:
    """Insert a child at the beginning of the parent, before its text."""
    child = parent.makeelement(tag)
    child.text = allowed(text)
    child.tail, parent.text = parent.text, ""
    parent.insert(0, child)


def is_within(element: Element, *tags: str) -> bool:
    """Whether the element has an ancestor with one of these names."""
    return next(element.iterancestors(*tags), None) is not None


_CDATA = r"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
_REFERENCE = re.compile(r"&([A-Za-z]\w*);", re.ASCII)
_XML_NAMES = frozenset({"amp", "lt", "gt", "quot", "apos"})
# An & or < that does not begin a tag, reference, comment, or CDATA is meant literally.
_LOOSE = re.compile(
    rf"{_CDATA}|(?P<loose>&(?!#\d+;|#[xX][\dA-Fa-f]+;|[A-Za-z]\w*;)|<(?!/?[A-Za-z]|!--|\?))",
    re.DOTALL | re.ASCII,
)
_TAG_OR_CDATA = re.compile(rf"{_CDATA}|<[^<>]*>|(?P<text>[^<]+|<)", re.DOTALL)
_END = "footnote-end"


def parse(storage: str) -> Element | None:
    """Parse the elements under one root; None if they are nested too deeply for the parser.

    Named characters are those of HTML; unknown names stay as written. Entities that the text
    declares are not expanded, and external ones are not loaded.
    """
    from lxml import etree

    text = _LOOSE.sub(_as_character, allowed(storage))
    parser = etree.XMLParser(
        recover=True,
        resolve_entities="internal",  # only those that we declare: a page can't declare any
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,  # allows long text, and 2,048 levels instead of 256
    )
    root = etree.fromstring(_document(text), parser)
    end = None if root is None else root.find(f".//{_END}")
    if end is None:  # the parser gave up before the end
        return None
    end.tag = "span"
    return root


def plain_text(storage: str) -> str:
    """The text between the tags and in code, for pages that can't be parsed."""
    return "".join(map(_text_of, _TAG_OR_CDATA.finditer(storage)))


def _document(text: str) -> str:
    names = sorted(set(_REFERENCE.findall(text)) - _XML_NAMES)
    declared = "".join(f'<!ENTITY {name} "{_value(name)}">' for name in names)
    head = f"<!DOCTYPE {ROOT} [{declared}]>"
    return f'{head}<{ROOT} xmlns:ac="{AC}" xmlns:ri="{RI}">{text}<{_END}/></{ROOT}>'


def _value(name: str) -> str:
    characters = html5.get(f"{name};")
    if characters is None:
        return f"&#38;#38;{name};"
    return "".join(f"&#38;#{ord(character)};" for character in characters)


def _as_character(match: re.Match[str]) -> str:
    if match["loose"]:
        return "&amp;" if match["loose"] == "&" else "&lt;"
    return match[0] if match[0].endswith("]]>") else f"{match[0]}]]>"


def _text_of(match: re.Match[str]) -> str:
    if match["cdata"] is not None:
        return match["cdata"]
    return unescape(match["text"]) if match["text"] else "\n"
