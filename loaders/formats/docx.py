"""Word documents as Markdown: paragraphs and tables in the order of the body."""

from collections.abc import Iterator
from typing import Any

from loaders.formats.content import (
    Content,
    fenced,
    heading,
    one_line,
    pipe_table,
    single_spaced,
)
from loaders.formats.docx_runs import W, boxes, content_blocks, note_ids, paragraph_text
from loaders.formats.docx_styles import Numbering, Styles
from loaders.formats.ooxml import open_archive

_MARKUP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def read(data: bytes) -> Content:
    """Read a document: headings, lists with their numbers, tables, code, boxes and notes.

    Footnotes follow their paragraph as a quotation, so that they share its passage. Deleted
    text of tracked changes is left out, inserted text is kept.
    """
    from docx import Document  # slow to import

    document = Document(open_archive(data, ".docx"))
    return Content(_Body(document).markdown(), document.core_properties.title or "")


class _Body:
    """One document's walk. It goes over lxml: python-docx resolves a style anew at each access."""

    def __init__(self, document: Any) -> None:
        parts = {rel.reltype.removeprefix(_MARKUP): rel for rel in document.part.rels.values()}
        self._root = document.element.body
        self._styles = Styles(_root_of(parts, "/styles"))
        self._numbering = Numbering(_root_of(parts, "/numbering"))
        notes = (_root_of(parts, "/footnotes"), _root_of(parts, "/endnotes"))
        self._notes = {
            (kind, note.get(W + "id")): note
            for kind, root in zip(("footnote", "endnote"), notes, strict=True)
            if root is not None
            for note in root.iterchildren(W + kind)
        }

    def markdown(self) -> str:
        blocks: list[str] = []
        code: list[str] = []
        for is_code, is_item, text in self._blocks(self._root):
            if code and not is_code:
                blocks.append("\n\n" + fenced("\n".join(code)))
                code.clear()
            if is_code:
                code.append(text)
            elif text.strip():
                blocks.append(("\n" if is_item else "\n\n") + text)
        if code:
            blocks.append("\n\n" + fenced("\n".join(code)))
        return "".join(blocks)

    def _blocks(self, parent: Any) -> Iterator[tuple[bool, bool, str]]:
        """Each block as (is a line of code, is a further list item, text)."""
        in_list = False
        for element in content_blocks(parent):
            if element.tag == W + "tbl":
                yield False, False, self._table(element)
                in_list = False
                continue
            is_code, is_item, text = self._paragraph(element)
            yield is_code, is_item and in_list, text
            in_list = is_item
            for extra in self._extras(element):
                yield False, False, extra
                in_list = False

    def _paragraph(self, paragraph: Any) -> tuple[bool, bool, str]:
        text = paragraph_text(paragraph)
        style = self._styles.of(paragraph)
        if style.is_code:
            return True, False, text
        label, depth = self._numbering.label(paragraph, style) if text.strip() else ("", 0)
        level = self._styles.level(paragraph, style)
        if level:
            return (
                False,
                False,
                heading(level, f"{label.strip('-')} {text}") if text.strip() else "",
            )
        if not label:
            return False, False, text.strip()
        return False, True, f"{'  ' * depth}{label} {one_line(text)}"

    def _extras(self, paragraph: Any) -> Iterator[str]:
        """Text boxes anchored in the paragraph, and the notes it refers to."""
        for box in boxes(paragraph):
            yield from (text for _, _, text in self._blocks(box) if text.strip())
        for key in note_ids(paragraph):
            if (note := self._notes.get(key)) is not None:
                yield f"> {one_line(self._flat(note))}"

    def _flat(self, parent: Any) -> str:
        """Everything in a cell or note, on lines."""
        lines: list[str] = []
        for element in content_blocks(parent):
            if element.tag == W + "tbl":
                rows = content_blocks(element, W + "tr")
                lines += (self._flat(cell) for row in rows for cell in _cells(row))
            else:
                lines.append(paragraph_text(element))
        return "\n".join(line for line in lines if line.strip())

    def _table(self, table: Any) -> str:
        rows = [self._row(row) for row in content_blocks(table, W + "tr")]
        if all(len(row) <= 1 for row in rows):  # a frame around text, not a table
            cells = [cell for row in content_blocks(table, W + "tr") for cell in _cells(row)]
            return single_spaced("\n\n".join(self._flat(cell) for cell in cells))
        return pipe_table(_filled_down(rows))

    def _row(self, row: Any) -> list[str | None]:
        """The row's texts by column; None where the cell above goes on."""
        texts: list[str | None] = []
        for cell in _cells(row):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and merged.get(W + "val", "continue") == "continue"
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            width = int(span.get(W + "val", 1)) if span is not None else 1
            texts.append(None if goes_on else self._flat(cell))
            texts += [""] * (min(width, 64) - 1)
        return texts


def _cells(row: Any) -> Iterator[Any]:
    return content_blocks(row, W + "tc")


def _filled_down(rows: list[list[str | None]]) -> Iterator[list[str]]:
    """Rows in which a cell merged downwards is repeated, so that each row says it all."""
    above: list[str] = []
    for row in rows:
        kept = [above[i] if i < len(above) else "" for i in range(len(row))]
        above = [kept[i] if text is None else text for i, text in enumerate(row)]
        yield above


def _root_of(parts: dict[str, Any], name: str) -> Any:
    """The root element of a related part; None where the document has none."""
    from docx.oxml import parse_xml  # resolves no entities

    rel = parts.get(name)
    if rel is None or rel.is_external:
        return None
    return parse_xml(rel.target_part.blob)
