import io

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from domain.errors import UnreadableError
from loaders.formats.pdf import PREVIEW_PIXELS, page_png


def pdf(*sizes):
    """A PDF with a page of each size and a black square in the lower left corner of each page."""
    out = io.BytesIO()
    canvas = Canvas(out)
    for size in sizes:
        canvas.setPageSize(size)
        canvas.rect(0, 0, 50, 50, fill=1)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def picture(data):
    return Image.open(io.BytesIO(data))


def test_a_page_is_rendered_in_its_own_proportions():
    rendered = picture(page_png(pdf((100, 100), (200, 400)), 2))
    assert rendered.size == (300, 600)
    assert rendered.convert("L").getpixel((10, 590)) < 20
    assert rendered.convert("L").getpixel((290, 10)) > 235


def test_huge_pages_are_rendered_at_a_lower_resolution():
    width, height = picture(page_png(pdf((9000, 9000)), 1)).size
    assert PREVIEW_PIXELS * 0.95 < width * height <= PREVIEW_PIXELS * 1.01


@pytest.mark.parametrize("page", [0, -1, 3])
def test_missing_page_numbers_are_reported(page):
    with pytest.raises(UnreadableError, match=f"2 pages, but no page {page}"):
        page_png(pdf((100, 100), (100, 100)), page)


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 and no more", b"plain text"])
def test_data_that_is_not_a_pdf_is_rejected(data):
    with pytest.raises(UnreadableError, match="can't be rendered"):
        page_png(data, 1)
