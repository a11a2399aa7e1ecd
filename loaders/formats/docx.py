"""Reads Word documents as Markdown: paragraphs and tables in the order of the body."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loaders.formats.content import (
    Content,
    collapse_blank_lines,
    heading,
    join_blocks,
    one_line,
    pipe_table,
)
from loaders.formats.docx_numbering import Numbering, W, number_of, value_of
from loaders.formats.equations import join_equations
from loaders.formats.office_equations import M, office_equation
from loaders.formats.ooxml import open_archive
from loaders.formats.superscript import MIN_RISE_PT, join_superscripts, superscript

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BLOCKS = (W + "p", W + "tbl")
_WRAPPERS = frozenset({W + "sdt", W + "sdtContent", W + "customXml", W + "ins", W + "moveTo"})
# Hidden, displayed elsewhere, or duplicated: a drawing's fallback copy, readings above kanji.
_NOT_TEXT = frozenset(
    {_MC + "Fallback", W + "del", W + "moveFrom", W + "rt", W + "txbxContent", W + "pPr", W + "rPr"}
)
_EQUATIONS = (M + "oMathPara", M + "oMath")
_MARKS = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}


def content_blocks(parent: Any, *tags: str) -> Iterator[Any]:
    """Yield the children with one of the tags (by default paragraphs and tables), in order.

    The children of content controls and tracked insertions are included.
    """
    for child in parent.iterchildren():
        if child.tag in (tags or _BLOCKS):
            yield child
        elif child.tag in _WRAPPERS:
            yield from content_blocks(child, *tags)


def paragraph_text(paragraph: Any) -> str:
    """The paragraph's text, without that of text boxes anchored in it."""
    parts: list[str] = []
    run, is_raised = None, False
    for element in _text_elements(paragraph):
        if element.tag in _EQUATIONS:
            parts.append(office_equation(element))
        elif element.tag == W + "t":
            if element.getparent() is not run:
                run = element.getparent()
                is_raised = _is_raised(run)
            text = element.text or ""
            parts.append(superscript(text) if is_raised else text)
        elif element.tag == W + "br" and element.get(W + "type") in ("page", "column"):
            continue
        else:
            parts.append(_MARKS.get(element.tag, ""))
    return join_superscripts(join_equations("".join(parts)))


def _is_raised(run: Any) -> bool:
    """Whether the run is a superscript, or the mark that the author chose for a note."""
    references = (run.find(f"{W}{kind}Reference") for kind in ("footnote", "endnote"))
    is_mark = any(reference is not None for reference in references)
    is_superscript = value_of(run, f"{W}rPr/{W}vertAlign") == "superscript"
    half_points = number_of(value_of(run, f"{W}rPr/{W}position"))
    return is_mark or is_superscript or half_points >= 2 * MIN_RISE_PT


def _text_elements(parent: Any) -> Iterator[Any]:
    for child in parent.iterchildren("*"):
        if child.tag not in _NOT_TEXT:
            yield child
            if child.tag not in _EQUATIONS:
                yield from _text_elements(child)


def boxes(paragraph: Any) -> Iterator[Any]:
    """Yield the text boxes anchored in the paragraph, each once; files contain two copies."""
    for box in paragraph.iter(W + "txbxContent"):
        if next(box.iterancestors(_MC + "Fallback", W + "txbxContent"), None) is None:
            yield box


def note_ids(paragraph: Any) -> Iterator[tuple[str, str]]:
    """Yield the notes that the paragraph refers to, as ("footnote" or "endnote", id)."""
    for kind in ("footnote", "endnote"):
        for reference in paragraph.iter(f"{W}{kind}Reference"):
            yield kind, reference.get(W + "id")


# In files, style names are English regardless of Word's language, but ids are localized.
_HEADING = re.compile(r"heading ?([1-9])$", re.IGNORECASE)
_CODE = re.compile(
    r"\bcode|source ?code|preformatted|listing|html pre|코드|ソース|コード", re.IGNORECASE
)
_BODY_LEVEL = 9  # the outline level that means "not a heading"
_MAX_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Style:
    """The properties of a style, some inherited from its ancestors. `level` is 0 for body text."""

    level: int = 0
    is_code: bool = False
    list_id: str = ""
    list_depth: int = 0
    is_superscript: bool = False


class Styles:
    """The styles of one document by id, each resolved once."""

    def __init__(self, root: Any) -> None:
        self._elements = {one.get(W + "styleId"): one for one in root.iterchildren(W + "style")}
        self._resolved: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """The paragraph's style; the plain style if it names none."""
        return self._style(value_of(paragraph, f"{W}pPr/{W}pStyle"))

    def _style(self, style_id: str) -> Style:
        if style_id not in self._resolved:
            self._resolved[style_id] = self._resolve(style_id)
        return self._resolved[style_id]

    def mark_superscripts(self, root: Any) -> None:
        """Make the runs superscripts that are superscripts by their character style."""
        for reference in root.iter(W + "rStyle"):
            style, properties = self._style(reference.get(W + "val")), reference.getparent()
            if style.is_superscript and properties.find(W + "vertAlign") is None:
                align = properties.makeelement(W + "vertAlign", {W + "val": "superscript"})
                properties.append(align)

    def level(self, paragraph: Any, style: Style) -> int:
        """The heading level from 1; the paragraph's own outline level overrides its style's."""
        own = value_of(paragraph, f"{W}pPr/{W}outlineLvl")
        return _outline_level(own) if own else style.level

    def _chain(self, style_id: str) -> Iterator[Any]:
        for _ in range(_MAX_CHAIN):
            element = self._elements.get(style_id)
            if element is None:
                return
            yield element
            style_id = value_of(element, W + "basedOn")

    def _resolve(self, style_id: str) -> Style:
        chain = list(self._chain(style_id))
        names = [value_of(element, W + "name") for element in chain]
        numbers = (value_of(element, f"{W}pPr/{W}numPr/{W}numId") for element in chain)
        depths = (value_of(element, f"{W}pPr/{W}numPr/{W}ilvl") for element in chain)
        alignments = (value_of(element, f"{W}rPr/{W}vertAlign") for element in chain)
        return Style(
            level=next(filter(None, map(_heading_level, chain, names)), 0),
            is_code=any(map(_CODE.search, names)),
            list_id=next(filter(None, numbers), ""),
            list_depth=number_of(next(filter(None, depths), "0")),
            is_superscript=next(filter(None, alignments), "") == "superscript",
        )


def _heading_level(element: Any, name: str) -> int:
    if match := _HEADING.match(name):
        return int(match[1])
    if name.lower() == "title":
        return 1
    return _outline_level(value_of(element, f"{W}pPr/{W}outlineLvl"))


def _outline_level(value: str) -> int:
    level = number_of(value or str(_BODY_LEVEL))
    return level + 1 if level < _BODY_LEVEL else 0


_MARKUP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def read(data: bytes) -> Content:
    """Read a document: headings, numbered lists, tables, code, text boxes, and notes.

    Footnotes follow their paragraph as a quotation, to be in the same passage. Tracked deletions
    are omitted; insertions are kept.
    """
    from docx import Document  # slow to import

    document = Document(open_archive(data, ".docx"))
    return Content(_Body(document).markdown(), document.core_properties.title or "")


class _Body:
    """Walks through a document with lxml: python-docx resolves styles again on each access."""

    def __init__(self, document: Any) -> None:
        parts = {rel.reltype.removeprefix(_MARKUP): rel for rel in document.part.rels.values()}
        self._root = document.element.body
        self._styles = Styles(_root_of(parts, "/styles"))
        self._numbering = Numbering(_root_of(parts, "/numbering"))
        self._notes = {
            (kind, note.get(W + "id")): note
            for kind in ("footnote", "endnote")
            for note in _root_of(parts, f"/{kind}s").iterchildren(W + kind)
        }
        for root in (self._root, *self._notes.values()):
            self._styles.mark_superscripts(root)

    def markdown(self) -> str:
        return join_blocks(self._blocks(self._root))

    def _blocks(self, parent: Any) -> Iterator[tuple[str, str]]:
        """Yield each block as (kind, text); see `join_blocks`."""
        before = ""
        for element in content_blocks(parent):
            if element.tag == W + "tbl":
                yield "", self._table(element)
                before = ""
                continue
            kind, text = self._paragraph(element)
            if kind == "item" != before:
                yield "break", ""
            yield kind, text
            before = kind
            for extra in self._extras(element):
                yield "", extra
                before = ""

    def _paragraph(self, paragraph: Any) -> tuple[str, str]:
        text = paragraph_text(paragraph)
        style = self._styles.of(paragraph)
        label, depth = self._label(paragraph, style, text)
        if style.is_code:
            return "code", text
        if not text.strip():
            return "", ""
        if level := self._styles.level(paragraph, style):
            return "", heading(level, f"{_number(label)} {text}")
        if not label:
            return "", text.strip()
        return "item", f"{'  ' * depth}{label} {one_line(text)}"

    def _label(self, paragraph: Any, style: Style, text: str) -> tuple[str, int]:
        """See `Numbering.next_label`; a paragraph that a tracked change removes has no number."""
        removals = (paragraph.find(f"{W}pPr/{W}rPr/{W}{name}") for name in ("del", "moveFrom"))
        if not text.strip() and any(removal is not None for removal in removals):
            return "", 0
        return self._numbering.next_label(paragraph, style.list_id, style.list_depth)

    def _line(self, paragraph: Any) -> str:
        """The text in a cell or note, with its number, but without the bullet of a list."""
        text = paragraph_text(paragraph)
        label, _depth = self._label(paragraph, self._styles.of(paragraph), text)
        return f"{_number(label)} {text}".lstrip(" ") if text.strip() else ""

    def _extras(self, paragraph: Any) -> Iterator[str]:
        """Yield the text boxes anchored in the paragraph, and the notes that it refers to."""
        for box in boxes(paragraph):
            yield from (text for _, text in self._blocks(box) if text.strip())
        for key in note_ids(paragraph):
            if (note := self._notes.get(key)) is not None:
                yield f"> {one_line(self._flat(note))}"

    def _flat(self, parent: Any) -> str:
        """The text of everything in a cell or note, on separate lines."""
        lines: list[str] = []
        for element in content_blocks(parent):
            if element.tag == W + "tbl":
                rows = content_blocks(element, W + "tr")
                lines += (self._flat(cell) for row in rows for cell in _cells(row))
            else:
                lines.append(self._line(element))
        return "\n".join(line for line in lines if line.strip())

    def _table(self, table: Any) -> str:
        rows = [self._row(row) for row in content_blocks(table, W + "tr")]
        if all(len(row) <= 1 for row in rows):  # a text frame, not a table
            return collapse_blank_lines("\n\n".join(text or "" for row in rows for text in row))
        return pipe_table(_filled_down(rows))

    def _row(self, row: Any) -> list[str | None]:
        """The row's texts by column; None if the cell above continues."""
        texts: list[str | None] = []
        for cell in _cells(row):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            is_continued = merged is not None and merged.get(W + "val", "continue") == "continue"
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            width = int(span.get(W + "val", 1)) if span is not None else 1
            texts.append(None if is_continued else self._flat(cell))
            texts += [""] * (min(width, 64) - 1)
        return texts


def _number(label: str) -> str:
    """The label without a bullet."""
    return "" if label == "-" else label


def _cells(row: Any) -> Iterator[Any]:
    return content_blocks(row, W + "tc")


def _filled_down(rows: list[list[str | None]]) -> Iterator[list[str]]:
    """Yield rows with vertically merged cells repeated to keep each row complete."""
    above: list[str] = []
    for row in rows:
        inherited = [above[i] if i < len(above) else "" for i in range(len(row))]
        above = [inherited[i] if text is None else text for i, text in enumerate(row)]
        yield above


def _root_of(parts: dict[str, Any], name: str) -> Any:
    """The root element of a related part; an empty one if the document has no such part."""
    from docx.oxml import parse_xml  # does not resolve entities

    rel = parts.get(name)
    return parse_xml(b"<none/>" if rel is None or rel.is_external else rel.target_part.blob)
