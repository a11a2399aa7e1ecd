"""Highlights quotes on the picture of a PDF page."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOR = (255, 224, 110)
_MIN_LINE = 8
"""A line of a quote with fewer letters may occur elsewhere on the page by chance."""


class _Letters(NamedTuple):
    """The letters and digits of a page in NFKC and case-folded, with the index of each."""

    text: str
    indices: list[int]


Box = tuple[int, int, int, int]
"""Left, top, right, and bottom in pixels of the picture."""


def highlighted(picture: "Image", boxes: Sequence[Box]) -> "Image":
    """The picture with the boxes colored; text in them stays dark."""
    from PIL import Image, ImageChops, ImageDraw

    color = Image.new("RGB", picture.size, "white")
    drawing = ImageDraw.Draw(color)
    for box in boxes:
        drawing.rectangle(box, fill=_COLOR)
    return ImageChops.multiply(picture.convert("RGB"), color)


def quote_boxes(page: Any, quotes: Sequence[str], size: tuple[int, int]) -> list[Box]:
    """Where the quotes are on a picture of this size of a PDFium page, line by line.

    Only letters and digits are compared, because white space, punctuation, and Markdown differ. Of
    a quote that is not on the page as a whole, the lines that are there count. A quote that is not
    found has no boxes.
    """
    text_page = page.get_textpage()
    try:
        letters = _page_letters(text_page)
        found = [index for quote in quotes for index in _found(quote, letters)]
        return _lines([_pixels(page, text_page.get_charbox(i, loose=True), size) for i in found])
    finally:
        text_page.close()


def _page_letters(text_page: Any) -> _Letters:
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    letters, indices = [], []
    for index in range(text_page.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        form = _letters(chr(code)) if code < 0x110000 else ""
        letters.append(form)
        indices += [index] * len(form)
    return _Letters("".join(letters), indices)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _found(quote: str, page: _Letters) -> Iterator[int]:
    """The indices of the quote's characters on the page."""
    parts = [_letters(quote)]
    if parts[0] not in page.text:
        parts = [part for line in quote.splitlines() if len(part := _letters(line)) >= _MIN_LINE]
    for part in filter(None, parts):
        at = page.text.find(part)
        if at >= 0:
            yield from page.indices[at : at + len(part)]


def _pixels(page: Any, box: tuple[float, float, float, float], size: tuple[int, int]) -> Box:
    import pypdfium2.raw as pdfium

    left, bottom, right, top = box
    corners = []
    for x, y in ((left, top), (right, bottom)):
        across, down = pdfium.c_int(), pdfium.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
        corners.append((across.value, down.value))
    (x0, y0), (x1, y1) = corners
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _lines(boxes: Sequence[Box]) -> list[Box]:
    """The boxes, with neighbors on a line joined."""
    lines: list[Box] = []
    for box in boxes:
        last = lines[-1] if lines else None
        if last and _is_same_line(last, box):
            lines[-1] = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            lines.append(box)
    return lines


def _is_same_line(one: Box, other: Box) -> bool:
    height = max(one[3] - one[1], other[3] - other[1], 1)
    overlap = min(one[3], other[3]) - max(one[1], other[1])
    return 2 * overlap > height and -height < other[0] - one[2] < 2 * height
