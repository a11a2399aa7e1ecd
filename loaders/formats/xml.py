"""Reads XML as text in reading order: titles as headings, prose as paragraphs, data as lines."""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import declared_encoding, decode
from loaders.formats.archive import child, local, xml_parser
from loaders.formats.content import (
    Content,
    clean,
    fenced,
    heading,
    join_blocks,
    one_line,
    pipe_table,
)
from loaders.formats.html import to_markdown

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_MARKUP = re.compile(r"</[a-zA-Z]{1,12}>|<(?:br|p|img)\b")
_XHTML = "{http://www.w3.org/1999/xhtml}"
_TITLES = frozenset({"title", "heading", "headline"})
_PROSE = frozenset({
    "p", "para", "simpara", "paragraph", "text", "content", "body", "summary", "description",
    "shortdesc", "abstract", "note", "encoded", "value", "section", "entry", "li", "cmd", "info",
})  # fmt: skip
_CODE = frozenset({"programlisting", "codeblock", "screen", "pre", "literallayout", "code"})
_ITEMS = frozenset({"li", "listitem", "step"})
_TABLES = frozenset({"table", "informaltable", "simpletable"})
_ROWS = frozenset({"tr", "row", "strow", "sthead"})
_TECHNICAL = frozenset({
    "id", "class", "style", "lang", "type", "version", "rel", "space", "base", "schemaLocation",
    "encoding", "format", "isPermaLink", "domain", "resource", "about", "mode",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"\w+:|#|[\w./-]*[/\\]|.*@|[0-9a-fA-F-]{16,}\Z")


def read(data: bytes) -> Content:
    """Read the texts of all elements, and attributes that are words.

    The encoding is that of the byte order mark, the declared one, or the most likely one. External
    references are not fetched, and entities are not resolved.
    """
    decoded = decode(data, declared=declared_encoding(data))
    root, warnings = _parse(_DECLARATION.sub("", clean(decoded.text)))
    warnings = (*decoded.warnings, *warnings)
    if local(root) == "html":
        text, title, page_warnings = to_markdown(decoded.text)
        return Content(text, title, decoded.encoding, warnings=(*warnings, *page_warnings))
    text = join_blocks(_blocks(root, 1))
    return Content(text, _xml_title(root), decoded.encoding, warnings=warnings)


def _parse(text: str) -> tuple[Any, tuple[str, ...]]:
    data = text.encode("utf-8", "replace")
    try:
        return etree.fromstring(data, xml_parser(encoding="utf-8")), ()
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
    root = etree.fromstring(data, xml_parser(encoding="utf-8", recover=True))
    if root is None:
        raise UnreadableError(
            _("the XML is invalid at line {line}, and none of it can be read").format(line=line)
        )
    return root, (
        _("the XML is invalid at line {line}: some of its text may be missing").format(line=line),
    )


def _xml_title(root: Any) -> str:
    """The first title at the root, or in its first element (a feed's channel, a book's info)."""
    for element in (root, *list(root)[:3]):
        for node in element:
            if local(node) in _TITLES and len(node) < 5:
                return one_line("".join(node.itertext()))
    return ""


def _blocks(element: Any, level: int) -> Iterator[tuple[str, str]]:
    """Yield the blocks of an element as (kind, text) in reading order; see `join_blocks`.

    Lines of data are items, and a "break" separates records without a title.
    """
    name = local(element)
    if not name:
        return
    if name in _TABLES and (table := _xml_table(element)):
        yield "", table
    elif name == "image" and child(element, "url") is not None:
        return  # a feed's logo, which repeats the feed's title and link
    elif name in _CODE:
        code = "".join(element.itertext())
        yield "", fenced(code, element.get("language", "")) if code.strip() else ""
    elif name in _ITEMS:
        yield "item", f"- {_flat(element)}" if _flat(element) else ""
    elif len(element) == 0:
        yield _leaf(element, name, level)
    elif element.tag.startswith(_XHTML):
        yield "", to_markdown(etree.tostring(element, encoding="unicode", with_tail=False))[0]
    elif _is_prose(element):
        text = one_line("".join(element.itertext()))
        yield "", heading(level, text) if name in _TITLES else text
    else:
        yield from _container(element, name, level)


def _container(element: Any, name: str, level: int) -> Iterator[tuple[str, str]]:
    words = _words(element)
    if words:
        yield "", f"{name}: {words}"
    title = next((node for node in element if local(node) in _TITLES), None)
    below = level + 1 if title is not None else level
    if title is not None:
        yield "", heading(level, "".join(title.itertext()))
    else:
        yield "break", ""
    for node in element:
        if node is not title:
            yield from _blocks(node, below)
            if node.tail and node.tail.strip():
                yield "", one_line(node.tail)


def _leaf(element: Any, name: str, level: int) -> tuple[str, str]:
    text, words = (element.text or "").strip(), _words(element)
    if _MARKUP.search(text):
        text = to_markdown(text)[0]
    if name in _TITLES:
        return "", heading(level, text) if text else ""
    if not text:
        return "item", f"{name}: {words}" if words else ""
    if "\n\n" in text or name in _PROSE:
        return "", f"{words}: {text}" if words else text
    return "item", f"{name} {words}: {one_line(text)}" if words else f"{name}: {one_line(text)}"


def _words(element: Any) -> str:
    """The attribute values that users may search for: no ids, links, or settings."""
    values = (
        one_line(value)
        for key, value in element.attrib.items()
        if key.rpartition("}")[2] not in _TECHNICAL and not _TOKEN.match(value)
    )
    return ", ".join(value for value in values if _WORD.search(value))


def _is_prose(element: Any) -> bool:
    """Whether there are words between its elements, as in a sentence with emphasis."""
    if local(element) in _TITLES:
        return True
    between = (element.text, *(node.tail for node in element))
    return any(text and _WORD.search(text) for text in between) and not any(
        local(node) in _TABLES | _CODE | _PROSE | _ITEMS or len(node) > 2 for node in element
    )


def _flat(element: Any) -> str:
    return one_line("".join(element.itertext()))


def _xml_table(table: Any) -> str:
    rows = [row for row in table.iter() if local(row) in _ROWS]
    title = child(table, "title")
    text = pipe_table([_flat(cell) for cell in row if local(cell)] for row in rows)
    return f"{_flat(title)}\n\n{text}" if title is not None and text else text
