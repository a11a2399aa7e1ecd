"""OpenDocument presentations as Markdown, slide by slide."""

from collections.abc import Iterator
from typing import Any

from loaders.formats.content import Content, heading, join_pages, one_line
from loaders.formats.markup import attribute, child, local
from loaders.formats.odf import Package, flat, table


def read(data: bytes) -> Content:
    """Read slides: title, text, tables, and the speaker's notes as quotations; pages are slides."""
    package = Package(data, ".odp")
    slides = [node for node in package.body if local(node) == "page"]
    text, pages = join_pages(["\n\n".join(_slide(slide)) for slide in slides])
    first = text.partition("\n")[0]
    title = package.title or (first.removeprefix("# ") if first.startswith("# ") else "")
    return Content(text, title, pages=pages)


def _slide(slide: Any) -> Iterator[str]:
    shapes = [node for node in slide if local(node) not in ("", "notes", "forms")]
    for shape in sorted(shapes, key=lambda node: attribute(node, "class") != "title"):
        yield from filter(None, _shape(shape))
    notes = child(slide, "notes")
    if notes is not None:
        yield from (f"> {line}" for line in flat(notes).splitlines())


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
