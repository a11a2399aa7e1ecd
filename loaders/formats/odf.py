"""What .odt, .ods and .odp share: OpenDocument packages, their styles and their text.

Element and attribute names are those of the OASIS standard "OpenDocument 1.3".
"""

import zipfile
from collections.abc import Iterator
from typing import Any

from errors import UnreadableError
from loaders.formats.archive import ENCRYPTED, open_zip, read_part
from loaders.formats.content import one_line, told_title
from loaders.formats.grid import Cell, grid_table
from loaders.formats.markup import attribute, child, local, number, parse_part

_MANIFEST = "META-INF/manifest.xml"
_LEFT_OUT = frozenset({
    "annotation", "annotation-end", "tracked-changes", "hidden-text", "ruby-text", "notes",
    "table-of-content", "alphabetical-index", "illustration-index", "table-index", "note",
    "event-listeners", "forms", "settings", "frame", "custom-shape", "text-box", "image",
})  # fmt: skip
_LETTERS = {"tab": "\t", "line-break": "\n", "soft-page-break": ""}
_MAX_REPEATED = 1000
_MAX_CELLS = 2_000_000


class Package:
    """The parts of an OpenDocument file: its body, styles by name, and told title."""

    def __init__(self, data: bytes, suffix: str) -> None:
        """Open a package; UnreadableError where it is encrypted or damaged."""
        archive = open_zip(data, suffix)
        _check_encryption(archive)
        content = parse_part(read_part(archive, "content.xml"))
        body = child(content, "body")
        found = [] if body is None else [node for node in body if local(node)]
        if not found:
            raise UnreadableError(f"damaged: there is no document in this {suffix} file")
        self.body = found[0]
        roots = [content, *self._part(archive, "styles.xml")]
        self._styles = {
            (attribute(node, "family"), attribute(node, "name")): node
            for root in roots
            for node in root.iter()
            if local(node) == "style"
        }
        self._lists = {
            attribute(node, "name"): node
            for root in roots
            for node in root.iter()
            if local(node) == "list-style"
        }
        self.title = next(
            (
                told_title("".join(node.itertext()))
                for meta in self._part(archive, "meta.xml")
                for node in meta.iter()
                if local(node) == "title"
            ),
            "",
        )

    @staticmethod
    def _part(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
        if name in archive.namelist():
            yield parse_part(read_part(archive, name))

    def style_names(self, paragraph: Any) -> Iterator[str]:
        """The names of a paragraph's style and of those it comes from, nearest first."""
        name = attribute(paragraph, "style-name")
        for _ in range(20):
            if not name:
                return
            yield name.replace("_20_", " ")
            style = self._styles.get(("paragraph", name))
            name = "" if style is None else attribute(style, "parent-style-name")

    def is_numbered(self, name: str, depth: int) -> bool:
        """Whether the list style of that name numbers the items of a depth from 0."""
        style = self._lists.get(name)
        if style is None:
            return False
        kinds = {number(node, "level"): local(node) for node in style}
        return kinds.get(depth + 1, "") == "list-level-style-number"


def _check_encryption(archive: zipfile.ZipFile) -> None:
    if _MANIFEST in archive.namelist():
        manifest = parse_part(read_part(archive, _MANIFEST))
        if any(local(node) == "encryption-data" for node in manifest.iter()):
            raise UnreadableError(ENCRYPTED)


def paragraph_text(paragraph: Any) -> str:
    """A paragraph's own words: no notes, comments, frames or deleted text."""
    parts = [paragraph.text or ""]
    for node in paragraph:
        name = local(node)
        if name == "s":
            parts.append(" " * min(number(node, "c"), 200))
        elif name in _LETTERS:
            parts.append(_LETTERS[name])
        elif name and name not in _LEFT_OUT:
            parts.append(paragraph_text(node))
        parts.append(node.tail or "")
    return "".join(parts)


def paragraphs(element: Any) -> Iterator[Any]:
    """Every paragraph and heading below an element, in order, but for those left out."""
    for node in element:
        if local(node) in ("p", "h"):
            yield node
        elif local(node) and (local(node) not in _LEFT_OUT or local(node) in ("frame", "text-box")):
            yield from paragraphs(node)


def flat(element: Any) -> str:
    """All its paragraphs, each on a line."""
    texts = (one_line(paragraph_text(node)) for node in paragraphs(element))
    return "\n".join(filter(None, texts))


def table(element: Any) -> str:
    """A table as a pipe table; one of a single column is a frame around text, not a table."""
    cells = list(_cells(element))
    if all(cell.column == 0 for cell in cells):
        return "\n\n".join(cell.text for cell in cells if cell.text)
    return grid_table(cells)


def _rows(element: Any) -> Iterator[Any]:
    for node in element:
        if local(node) == "table-row":
            yield node
        elif local(node) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(node)


def _cells(element: Any) -> Iterator[Cell]:
    at = count = 0
    for row in _rows(element):
        texts = list(_row(row))
        times = min(number(row, "number-rows-repeated"), _MAX_REPEATED) if texts else 1
        for _ in range(times):
            count += len(texts)
            if count > _MAX_CELLS:
                raise UnreadableError(f"more than {_MAX_CELLS // 10**6} million cells: split it")
            for column, text, rows, columns in texts:
                yield Cell(at, column, text, rows, columns)
            at += 1


def _row(row: Any) -> Iterator[tuple[int, str, int, int]]:
    """The row's cells with text as (column, text, rows, columns covered)."""
    column = 0
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        repeated = number(cell, "number-columns-repeated")
        text = flat(cell) if local(cell) == "table-cell" else ""
        if text:
            rows, columns = (
                number(cell, "number-rows-spanned"),
                number(cell, "number-columns-spanned"),
            )
            for i in range(min(repeated, _MAX_REPEATED)):
                yield column + i, text, rows, columns
        column += repeated
