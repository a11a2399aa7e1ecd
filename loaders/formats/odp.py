"""OpenDocument presentations as Markdown, slide by slide."""

import re
from collections.abc import Iterator
from typing import Any

from loaders.formats.content import Content, heading, join_pages, one_line
from loaders.formats.markup import attribute, child, local
from loaders.formats.odf import Package, flat, table

_LENGTH = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")  # LibreOffice writes all of a file in one unit


def read(data: bytes) -> Content:
    """Read slides: title, text, tables, and the speaker's notes as quotations; pages are slides."""
    package = Package(data, ".odp")
    slides = [node for node in package.body if local(node) == "page"]
    text, pages = join_pages(["\n\n".join(_slide(slide)) for slide in slides])
    return Content(text, package.title, pages=pages)


def _slide(slide: Any) -> Iterator[str]:
    shapes = [node for node in slide if local(node) not in ("", "notes", "forms")]
    for shape in sorted(shapes, key=_place):
        yield from filter(None, _shape(shape))
    notes = child(slide, "notes")
    if notes is not None:
        yield from (f"> {line}" for line in flat(notes).splitlines())


def _place(shape: Any) -> tuple[bool, float, float]:
    """Where a shape stands in reading order: titles first, then from the top and the left."""
    top, left = (_LENGTH.match(attribute(shape, name)) for name in ("y", "x"))
    first = attribute(shape, "class") != "title"
    return first, float(top[0]) if top else 0.0, float(left[0]) if left else 0.0


def _shape(shape: Any) -> Iterator[str]:
    if local(shape) == "g":
        for node in shape:
            yield from _shape(node)
        return
    found = child(shape, "table")
    text = flat(shape)
    if found is not None:
        yield table(found)
    elif attribute(shape, "class") == "title" and text:
        yield heading(1, text)
    elif any(local(node) == "list" for node in shape.iter()):
        yield "\n".join(f"- {one_line(line)}" for line in text.splitlines())
    else:
        yield text.replace("\n", "\n\n")
