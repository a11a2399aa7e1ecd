"""Reads OpenDocument texts, spreadsheets, and presentations (.odt, .ods, .odp) as Markdown.

Element and attribute names are those of the OASIS standard "OpenDocument 1.3".
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
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
    heading,
    join_blocks,
    join_pages,
    one_line,
)
from loaders.formats.superscript import MIN_RISE_SHARE, join_superscripts, mark_superscript

_LEFT_OUT = frozenset({
    "annotation", "annotation-end", "tracked-changes", "hidden-text", "ruby-text", "notes",
    "table-of-content", "alphabetical-index", "illustration-index", "table-index", "note",
    "event-listeners", "forms", "settings", "frame", "custom-shape", "text-box", "image",
})  # fmt: skip
_LETTERS = {"tab": "\t", "line-break": "\n", "soft-page-break": ""}
_RISE = re.compile(r"\+?(\d{1,4})(?:\.\d*)?%")
_MAX_REPEATED = 1000
_MAX_CELLS = 2_000_000


class Package:
    """The parts of an OpenDocument file: its body, styles by name, and declared title."""

    def __init__(self, data: bytes, suffix: str) -> None:
        """Open a package; raise UnreadableError if it is encrypted or damaged."""
        archive = open_zip(data, suffix)
        refuse_encrypted(archive)
        content = parse_part(read_part(archive, "content.xml"))
        self.body = content.find("{*}body/*")
        if self.body is None:
            raise UnreadableError(
                _(
                    "damaged (there is no document in this {suffix} file): get an intact copy"
                ).format(suffix=suffix)
            )
        self._styles: dict[tuple[str, str], Any] = {}
        self._lists: dict[str, Any] = {}
        for node in chain(content.iter("*"), part_elements(archive, "styles.xml")):
            if local(node) == "style":
                # Both parts may have automatic styles with the same name; the content is first.
                self._styles.setdefault((attribute(node, "family"), attribute(node, "name")), node)
            elif local(node) == "list-style":
                self._lists.setdefault(attribute(node, "name"), node)
        for span in self.body.iter("{*}span"):
            if self._is_raised(attribute(span, "style-name")):
                mark_superscript(span)
        titles = (node for node in part_elements(archive, "meta.xml") if local(node) == "title")
        self.title = next((file_title("".join(node.itertext())) for node in titles), "")

    def style_names(self, paragraph: Any) -> Iterator[str]:
        """Yield the names of a paragraph's style and its ancestors, nearest first."""
        for name, _style in self._ancestry("paragraph", attribute(paragraph, "style-name")):
            yield name.replace("_20_", " ")

    def _ancestry(self, family: str, name: str) -> Iterator[tuple[str, Any]]:
        """Yield a style and its ancestors, nearest first, by name; None if one is not defined."""
        for _n in range(20):
            if not name:
                return
            style = self._styles.get((family, name))
            yield name, style
            name = "" if style is None else attribute(style, "parent-style-name")

    def _is_raised(self, name: str) -> bool:
        """Whether text in this style is a superscript: "super 58%" or "33% 58%"."""
        for _name, style in self._ancestry("text", name):
            properties = None if style is None else child(style, "text-properties")
            position = "" if properties is None else attribute(properties, "text-position")
            if position:
                rise = _RISE.match(position)
                is_high = rise is not None and int(rise[1]) >= 100 * MIN_RISE_SHARE
                return is_high or position.startswith("super")
        return False

    def is_numbered(self, name: str, depth: int) -> bool:
        """Whether the list style with this name numbers the items at a depth (from 0)."""
        style = self._lists.get(name)
        if style is None:
            return False
        kinds = {number(node, "level"): local(node) for node in style}
        return kinds.get(depth + 1, "") == "list-level-style-number"


def paragraph_text(paragraph: Any) -> str:
    """A paragraph's own text, without notes, comments, frames, and deleted text."""
    return join_superscripts(_letters(paragraph))


def _letters(paragraph: Any) -> str:
    parts = [paragraph.text or ""]
    for node in paragraph:
        name = local(node)
        if name == "s":
            parts.append(" " * min(number(node, "c"), 200))
        elif name in _LETTERS:
            parts.append(_LETTERS[name])
        elif name and name not in _LEFT_OUT:
            parts.append(_letters(node))
        parts.append(node.tail or "")
    return "".join(parts)


def paragraphs(element: Any) -> Iterator[Any]:
    """Yield every paragraph and heading below an element, in order, except omitted ones."""
    for node in element:
        if local(node) in ("p", "h"):
            yield node
        elif local(node) and (local(node) not in _LEFT_OUT or local(node) in ("frame", "text-box")):
            yield from paragraphs(node)


def flat(element: Any) -> str:
    """The texts of all paragraphs below an element, each on its own line."""
    texts = (one_line(paragraph_text(node)) for node in paragraphs(element))
    return "\n".join(filter(None, texts))


def table(element: Any) -> str:
    """Format a table as a pipe table; a single column is a text frame, not a table."""
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
        for _n in range(times):
            count += len(texts)
            if count > _MAX_CELLS:
                raise UnreadableError(
                    _("more than {max_cells} million cells: split it").format(
                        max_cells=_MAX_CELLS // 10**6
                    )
                )
            for column, text, rows in texts:
                yield Cell(at, column, text, rows)
            at += 1


def _row(row: Any) -> Iterator[tuple[int, str, int]]:
    """Yield the row's cells with text as (column, text, rows spanned)."""
    column = 0
    for cell in children(row, "table-cell", "covered-table-cell"):
        repeated = number(cell, "number-columns-repeated")
        text = flat(cell) if local(cell) == "table-cell" else ""
        if text:
            rows = number(cell, "number-rows-spanned")
            for i in range(min(repeated, _MAX_REPEATED)):
                yield column + i, text, rows
        column += repeated


_SECTIONS = frozenset({"section", "index-body", "numbered-paragraph", "page-sequence", "page"})
_CODE = "Preformatted Text"


def read_odt(data: bytes) -> Content:
    """Read a document; notes follow their paragraph as a quotation, to be in the same passage.

    Tracked deletions, comments, and tables of contents are omitted.
    """
    package = Package(data, ".odt")
    return Content(_Body(package).markdown(), package.title)


class _Body:
    """Walks through a document."""

    def __init__(self, package: Package) -> None:
        self._package = package

    def markdown(self) -> str:
        return join_blocks(self._blocks(self._package.body))

    def _blocks(self, parent: Any) -> Iterator[tuple[str, str]]:
        """Yield each block as (kind, text); the kind is "code", "item", or empty."""
        for element in parent:
            name = local(element)
            if name in ("p", "h"):
                yield self._paragraph(element)
                yield from self._extras(element)
            elif name == "list":
                yield from self._list(element, 0, attribute(element, "style-name"))
            elif name == "table":
                yield "", table(element)
            elif name in _SECTIONS:
                yield from self._blocks(element)
            elif name in ("frame", "text-box"):
                yield from self._frame(element)

    def _paragraph(self, element: Any) -> tuple[str, str]:
        text = paragraph_text(element)
        styles = list(self._package.style_names(element))
        if local(element) == "h" or "Title" in styles:
            level = number(element, "outline-level") if local(element) == "h" else 1
            return "", heading(level, text) if text.strip() else ""
        return ("code", text) if _CODE in styles else ("", text.strip())

    def _extras(self, paragraph: Any) -> Iterator[tuple[str, str]]:
        """Yield the notes of a paragraph, and the text boxes and pictures anchored in it."""
        for node in outermost(paragraph, ("note", "frame")):
            if local(node) == "frame":
                yield from self._frame(node)
            elif (body := child(node, "note-body")) is not None:
                yield "", f"> {one_line(flat(body))}"

    def _frame(self, frame: Any) -> Iterator[tuple[str, str]]:
        for node in frame:
            if local(node) == "text-box":
                yield from self._blocks(node)
            elif local(node) in ("title", "desc"):  # alternative text of a picture
                yield "", one_line("".join(node.itertext()))

    def _list(self, element: Any, depth: int, style: str) -> Iterator[tuple[str, str]]:
        count = 0
        for item in children(element, "list-item", "list-header"):
            first = True
            for node in item:
                if local(node) == "list":
                    own = attribute(node, "style-name") or style
                    yield from self._list(node, depth + 1, own)
                elif local(node) == "h":
                    yield self._paragraph(node)
                elif local(node) == "p" and (text := one_line(paragraph_text(node))):
                    count += first and local(item) == "list-item"
                    yield "item", self._item(text, depth, style, count if first else 0)
                    yield from self._extras(node)
                    first = False

    def _item(self, text: str, depth: int, style: str, count: int) -> str:
        """The line of an item; further paragraphs of it (count 0) are indented below its first."""
        mark = f"{count}." if self._package.is_numbered(style, depth) else "-"
        return f"{'  ' * depth}{mark if count else '  '} {text}"


def read_ods(data: bytes) -> Content:
    """Read the displayed cell values, sheet by sheet, without empty rows and columns."""
    package = Package(data, ".ods")
    texts = ((attribute(one, "name"), table(one)) for one in children(package.body, "table"))
    text = "\n\n".join(f"{heading(1, name)}\n\n{rows}" for name, rows in texts if rows)
    return Content(text, package.title)


_LENGTH = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")  # LibreOffice uses one unit per file


def read_odp(data: bytes) -> Content:
    """Read slides: title, text, tables, and speaker notes as quotations; pages are slides."""
    package = Package(data, ".odp")
    slides = ["\n\n".join(_slide(slide)) for slide in children(package.body, "page")]
    text, pages = join_pages(slides)
    return Content(text, package.title, pages=pages)


def _slide(slide: Any) -> Iterator[str]:
    shapes = [node for node in slide if local(node) not in ("", "notes", "forms")]
    for shape in sorted(shapes, key=_reading_order):
        yield from filter(None, _shape(shape))
    notes = child(slide, "notes")
    if notes is not None:
        yield from (f"> {line}" for line in flat(notes).splitlines())


def _reading_order(shape: Any) -> tuple[bool, float, float]:
    """Sort key for the reading order of shapes: titles first, then from the top and the left."""
    top, left = (_LENGTH.match(attribute(shape, name)) for name in ("y", "x"))
    first = attribute(shape, "class") != "title"
    return first, float(top[0]) if top else 0.0, float(left[0]) if left else 0.0


def _shape(shape: Any) -> Iterator[str]:
    if local(shape) == "g":
        for node in shape:
            yield from _shape(node)
        return
    table_node = child(shape, "table")
    text = flat(shape)
    if table_node is not None:
        yield table(table_node)
    elif attribute(shape, "class") == "title" and text:
        yield heading(1, text)
    elif next(shape.iter("{*}list"), None) is not None:
        yield "\n".join(f"- {one_line(line)}" for line in text.splitlines())
    else:
        yield text.replace("\n", "\n\n")
