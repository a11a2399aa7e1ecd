"""Reads Hangul documents in XML (.hwpx) as Markdown.

Element names are those of the Korean standard KS X 6101 (OWPML).
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import decode
from loaders.formats.archive import (
    attribute,
    child,
    children,
    local,
    number,
    open_zip,
    outermost,
    parse_part,
    part_elements,
    read_part,
    refuse_encrypted,
)
from loaders.formats.content import (
    Cell,
    Content,
    file_title,
    grid_table,
    heading_or_text,
    one_line,
    style_level,
)
from loaders.formats.superscript import join_superscripts, mark_superscript

_SECTION = re.compile(r"Contents/section(\d{1,6})\.xml$", re.IGNORECASE)
_PREVIEW = "Preview/PrvText.txt"
_ONLY_PREVIEW = _("its pages are damaged: only the preview of its beginning was read")
_MISSING = _("section {number} is damaged and was skipped")
_LETTERS = {
    "lineBreak": "\n", "tab": "\t", "nbSpace": " ", "fwSpace": " ", "hyphen": "-",
    "titleMark": "",
}  # fmt: skip
_SHAPES = frozenset({
    "rect", "ellipse", "arc", "polygon", "curve", "connectLine", "line", "container", "pic",
    "textart", "ole",
})  # fmt: skip


def read(data: bytes) -> Content:
    """Read a document: headings, tables, boxes; notes follow their paragraph as a quotation.

    Tracked deletions, page headers, and hidden comments are omitted.
    """
    archive = open_zip(data, ".hwpx")
    refuse_encrypted(archive)
    header = list(part_elements(archive, "Contents/header.xml"))
    levels, superscripts = _levels(header), _superscripts(header)
    texts, warnings = [], []
    for at, name in enumerate(_sections(archive), start=1):
        try:
            root = parse_part(read_part(archive, name))
        except (UnreadableError, SyntaxError):  # lxml's syntax error is a SyntaxError
            warnings.append(_MISSING.format(number=at))
            continue
        _mark_superscripts(root, superscripts)
        texts.append("\n\n".join(_blocks(root, levels)))
    text = "\n\n".join(filter(None, texts))
    if not text:
        return Content(_preview(archive), warnings=(_ONLY_PREVIEW,))
    return Content(text, _title(archive), warnings=tuple(warnings))


def _sections(archive: zipfile.ZipFile) -> list[str]:
    matches = [(match, name) for name in archive.namelist() if (match := _SECTION.match(name))]
    return [name for _, name in sorted((int(match[1]), name) for match, name in matches)]


def _preview(archive: zipfile.ZipFile) -> str:
    if _PREVIEW not in archive.namelist():
        raise UnreadableError(
            _("damaged (this .hwpx file has no readable section): get an intact copy")
        )
    return decode(read_part(archive, _PREVIEW)).text


def _title(archive: zipfile.ZipFile) -> str:
    package = part_elements(archive, "Contents/content.hpf")
    titles = (node.text for node in package if local(node) == "title")
    return next(filter(None, map(file_title, titles)), "")


def _levels(header: Sequence[Any]) -> dict[tuple[str, str], int]:
    """The heading levels of styles and paragraph shapes, by ("style" or "shape", id)."""
    levels: dict[tuple[str, str], int] = {}
    for node in header:
        if local(node) == "paraPr":
            heading_node = child(node, "heading")
            if heading_node is not None and attribute(heading_node, "type") == "OUTLINE":
                levels["shape", attribute(node, "id")] = number(heading_node, "level", 0) + 1
        elif local(node) == "style":
            names = attribute(node, "name"), attribute(node, "engName")
            if level := max(map(style_level, names)):
                levels["style", attribute(node, "id")] = level
    return levels


def _superscripts(header: Sequence[Any]) -> set[str]:
    """The ids of the properties of letters that are superscripts."""
    letters = (node for node in header if local(node) == "charPr")
    return {attribute(node, "id") for node in letters if child(node, "supscript") is not None}


def _mark_superscripts(root: Any, superscripts: set[str]) -> None:
    for run in root.iter("{*}run") if superscripts else ():
        if attribute(run, "charPrIDRef") in superscripts:
            for text in children(run, "t"):
                mark_superscript(text)


def _blocks(parent: Any, levels: dict[tuple[str, str], int]) -> Iterator[str]:
    for paragraph in children(parent, "p"):
        text = _text(paragraph)
        level = levels.get(("style", attribute(paragraph, "styleIDRef")), 0)
        level = level or levels.get(("shape", attribute(paragraph, "paraPrIDRef")), 0)
        if text:
            yield heading_or_text(level, text)
        for element in paragraph.iterfind("*/*"):
            yield from filter(None, _object(element, levels))


def _text(paragraph: Any) -> str:
    return join_superscripts("".join(map(_letters, paragraph.iterfind("{*}run/{*}t")))).strip()


def _letters(element: Any) -> str:
    parts, deleted = [element.text or ""], False
    for node in element:
        name = local(node)
        if name in ("deleteBegin", "deleteEnd"):
            deleted = name == "deleteBegin"
        elif not deleted:
            parts.append(_LETTERS.get(name, ""))
        parts.append("" if deleted else node.tail or "")
    return "".join(parts)


def _object(element: Any, levels: dict[tuple[str, str], int]) -> Iterator[str]:
    """Yield the objects in a run apart from its letters: tables, notes, boxes, formulas."""
    name = local(element)
    if name == "tbl":
        yield _table(element)
    elif name == "ctrl":
        for node in children(element, "footNote", "endNote"):
            yield f"> {one_line(_flat(node))}"
    elif name == "equation":
        yield one_line(element.findtext("{*}script", ""))
    elif name in _SHAPES:
        for drawn in outermost(element, ("drawText",)):
            for box in drawn:
                yield from _blocks(box, levels)
        caption = child(element, "caption")
        yield _flat(caption) if caption is not None else ""


def _flat(element: Any) -> str:
    """The texts of all paragraphs below, each on its own line."""
    return "\n".join(filter(None, map(_text, element.iter("{*}p"))))


def _table(table: Any) -> str:
    caption = child(table, "caption")
    above = f"{one_line(_flat(caption))}\n\n" if caption is not None else ""
    rows = [list(children(row, "tc")) for row in children(table, "tr")]
    if all(len(row) <= 1 for row in rows):  # a text frame, not a table
        return above + "\n\n".join(_flat(cell) for row in rows for cell in row)
    cells = (_cell(cell, i, j) for i, row in enumerate(rows) for j, cell in enumerate(row))
    return above + grid_table(cells)


def _cell(cell: Any, row: int, column: int) -> Cell:
    place, span = child(cell, "cellAddr"), child(cell, "cellSpan")
    if place is not None:
        row, column = number(place, "rowAddr", row), number(place, "colAddr", column)
    return Cell(row, column, _flat(cell), 1 if span is None else number(span, "rowSpan"))
