"""Google documents as files: the results of files.export of the fake Drive."""

import csv
import html
import io
import re
from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_items import (
    DOCUMENT,
    PRESENTATION,
    SPREADSHEET,
    Doc,
    Item,
    Sheet,
    Slides,
)

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
XLSX = OFFICE + "spreadsheetml.sheet"
PPTX = OFFICE + "presentationml.presentation"
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_BOM = "\ufeff"


def export(item: Item, mime: str) -> bytes | None:
    """The document in that format; None if Drive does not support the conversion."""
    convert = _EXPORTS.get(item.mime, {}).get(mime)
    return None if convert is None else convert(item.content)


def _doc_markdown(doc: Doc) -> bytes:
    return doc.markdown.encode()


def _doc_plain(doc: Doc) -> bytes:
    """Like Drive's export: a byte order mark, CR LF, and no headings."""
    lines = [heading.group(2) if heading else line for heading, line in _lines(doc)]
    return (_BOM + "\r\n".join(lines)).encode()


def _doc_html(doc: Doc) -> bytes:
    parts = []
    for heading, line in _lines(doc):
        tag = f"h{len(heading.group(1))}" if heading else "p"
        text = heading.group(2) if heading else line
        parts.append(f"<{tag}><span>{html.escape(text)}</span></{tag}>" if text else "")
    body = "".join(parts)
    head = '<head><meta content="text/html; charset=UTF-8" http-equiv="content-type"></head>'
    return f"<html>{head}<body>{body}</body></html>".encode()


def _doc_docx(doc: Doc) -> bytes:
    from docx import Document

    document = Document()
    for heading, line in _lines(doc):
        if heading:
            document.add_heading(heading.group(2), len(heading.group(1)))
        elif line:
            document.add_paragraph(line)
    return _bytes_of(document.save)


def _lines(doc: Doc) -> list[tuple[re.Match[str] | None, str]]:
    return [(_HEADING.fullmatch(line), line) for line in doc.markdown.splitlines()]


def _sheet_xlsx(sheet: Sheet) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheet.sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    return _bytes_of(book.save)


def _delimited(delimiter: str) -> Callable[[Sheet], bytes]:
    def convert(sheet: Sheet) -> bytes:
        text = io.StringIO()
        first = next(iter(sheet.sheets.values()), [])
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(first)
        return text.getvalue().encode()

    return convert


def _slides_pptx(slides: Slides) -> bytes:
    from pptx import Presentation

    show = Presentation()
    for text in slides.texts:
        title, _, rest = text.partition("\n")
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = rest
    return _bytes_of(show.save)


def _slides_plain(slides: Slides) -> bytes:
    return (_BOM + "\r\n\r\n".join(slides.texts)).encode()


def _slides_pdf(slides: Slides) -> bytes:
    return _pdf(slides.texts)


def _doc_pdf(doc: Doc) -> bytes:
    return _pdf([doc.markdown])


def _pdf(pages: list[str]) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    data = io.BytesIO()
    canvas = Canvas(data)
    for text in pages:
        for row, line in enumerate(text.splitlines()):
            canvas.drawString(72, 760 - 16 * row, line)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def _bytes_of(save: Callable[[Any], object]) -> bytes:
    data = io.BytesIO()
    save(data)
    return data.getvalue()


_EXPORTS: dict[str, dict[str, Callable[[Any], bytes]]] = {
    DOCUMENT: {
        "text/markdown": _doc_markdown,
        "text/plain": _doc_plain,
        "text/html": _doc_html,
        DOCX: _doc_docx,
        "application/pdf": _doc_pdf,
    },
    SPREADSHEET: {
        XLSX: _sheet_xlsx,
        "text/csv": _delimited(","),
        "text/tab-separated-values": _delimited("\t"),
    },
    PRESENTATION: {
        PPTX: _slides_pptx,
        "text/plain": _slides_plain,
        "application/pdf": _slides_pdf,
    },
}
