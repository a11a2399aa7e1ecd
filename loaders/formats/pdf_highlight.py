"""Highlights quotes on the picture of a PDF page."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.language.script import CJK

if TYPE_CHECKING:
    from PIL.Image import Image

_COLOR = (255, 224, 110)
_MIN_LINE = 8
"""A line of a quote with fewer letters may occur elsewhere on the page by chance."""
_MAX_OCCURRENCES = 1000
"""Of a quote within words; more occur only in texts like "aaaa", where each costs time."""


# Where words may adjoin others: besides CJK, the scripts of Thai, Lao, Burmese, and Khmer.
_ADJOINING = CJK + "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"(?:[^\W_{_ADJOINING}]|[\u0300-\u036f]|(?<=\d)[.,](?=\d))+")


class _Letters(NamedTuple):
    """The letters and digits of a page in NFKC and case-folded, with the index of each on the page.

    `inner` are the indices of the characters that continue a word or a number.
    """

    text: str
    indices: list[int]
    inner: set[int]

    def find(self, text: str) -> list[int]:
        """The indices of this text where it first begins and ends with a whole word or number.

        Only the first `_MAX_OCCURRENCES` are considered; empty if none of them does.
        """
        at = -1
        for _ in range(_MAX_OCCURRENCES if text else 0):
            at = self.text.find(text, at + 1)
            if at < 0:
                break
            if self._is_whole(at, at + len(text)):
                return self.indices[at : at + len(text)]
        return []

    def _is_whole(self, start: int, end: int) -> bool:
        after = self.indices[end] if end < len(self.indices) else -1
        return self.indices[start] not in self.inner and after not in self.inner


Box = tuple[int, int, int, int]
"""Left, top, right, and bottom in pixels of the picture."""


def highlight(picture: "Image", boxes: Sequence[Box]) -> "Image":
    """The picture with the boxes colored; text in them stays dark."""
    from PIL import Image, ImageChops, ImageDraw

    color = Image.new("RGB", picture.size, "white")
    drawing = ImageDraw.Draw(color)
    for box in boxes:
        drawing.rectangle(box, fill=_COLOR)
    return ImageChops.multiply(picture.convert("RGB"), color)


def quote_boxes(page: Any, quotes: Sequence[str], size: tuple[int, int]) -> list[Box]:
    """Where the quotes are on a picture of this size of a PDFium page, line by line.

    A quote that is not found has no boxes.
    """
    text_page = page.get_textpage()
    try:
        found = quote_positions(quotes, _page_text(text_page))
        return _lines([_pixels(page, text_page.get_charbox(i, loose=True), size) for i in found])
    finally:
        text_page.close()


def quote_positions(quotes: Sequence[str], page: str) -> list[int]:
    """The indices of the quotes' characters in the text of a page.

    Only letters and digits are compared, because white space, punctuation, and Markdown differ. A
    quote does not begin or end within a word or a number, except in Korean, where particles follow
    words, and in scripts without spaces. Of a quote that is not on the page as a whole, the lines
    that are there count.
    """
    letters = _page_letters(page)
    return [index for quote in quotes for index in _find(quote, letters)]


def _page_text(text_page: Any) -> str:
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    codes = [pdfium.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]
    return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)


def _page_letters(page: str) -> _Letters:
    forms = [(index, letter) for index, one in enumerate(page) for letter in _letters(one)]
    inner = {at for word in _WORD.finditer(page) for at in range(word.start() + 1, word.end())}
    return _Letters("".join(letter for _, letter in forms), [index for index, _ in forms], inner)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _find(quote: str, page: _Letters) -> list[int]:
    """The indices of the quote's characters on the page."""
    lines = (_letters(line) for line in quote.splitlines())
    return page.find(_letters(quote)) or [
        index for line in lines if len(line) >= _MIN_LINE for index in page.find(line)
    ]


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
