"""Small files of each format."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any


def pdf_file(
    pages: Sequence[str], *, title: str = "", password: str | None = None, owner: str = ""
) -> bytes:
    """A PDF with one page per text; lines that begin with "# " are in a larger font."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    for font in ("HYSMyeongJo-Medium", "HeiseiMin-W3"):
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    encryption = None
    if password is not None or owner:
        encryption = StandardEncryption(password or "", ownerPassword=owner or None, strength=128)
    out = io.BytesIO()
    canvas = Canvas(out, encrypt=encryption)
    canvas.setTitle(title)
    for page in pages:
        y = 780.0
        for line in page.split("\n"):
            size = 18 if line.startswith("# ") else 11
            canvas.setFont(_font(line), size)
            canvas.drawString(60, y, line.removeprefix("# "))
            y -= 14 if line else 10
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _font(line: str) -> str:
    if any("가" <= letter <= "힣" for letter in line):
        return "HYSMyeongJo-Medium"
    return "Helvetica" if line.isascii() else "HeiseiMin-W3"


def docx_file(build: Any = None) -> bytes:
    """A document filled by `build(document)`, or else a small one."""
    from docx import Document

    document = Document()
    if build is None:
        document.add_heading("Leave", 1)
        document.add_paragraph("Employees get 15 days.")
    else:
        build(document)
    return _saved(document)


def pptx_file(build: Any = None) -> bytes:
    """A presentation filled by `build(presentation)`, or else a small one."""
    from pptx import Presentation

    presentation = Presentation()
    if build is None:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = "Plan"
        slide.placeholders[1].text = "One point"
    else:
        build(presentation)
    return _saved(presentation)


def xlsx_file(sheets: dict[str, Sequence[Sequence[Any]]] | None = None) -> bytes:
    """A workbook; the keys are the names of the sheets."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in (sheets or {"Sheet1": [["a", "b"], [1, 2]]}).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return _saved(book)


def html_page(body: str, *, head: str = "", encoding: str = "utf-8") -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode(encoding)


def zipped(parts: dict[str, bytes]) -> bytes:
    """A zip archive of parts, given by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    """The parts of a zip archive by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _saved(file: Any) -> bytes:
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()
