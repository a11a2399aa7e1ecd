"""CSV in any of its dialects, as one pipe table."""

import csv
import io
import sys
from collections import Counter

from loaders.encoding import decode
from loaders.formats.content import Content, pipe_table

_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 50
_SNIFFED_CHARS = 100_000


def read(data: bytes) -> Content:
    """Read rows, the first as the header; ragged rows keep their lengths."""
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff").replace("\0", "")
    # A cell may hold a whole text: the module's own limit (128 KiB) is for the process to lift.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
    return Content(pipe_table(rows), encoding=decoded.encoding, warnings=decoded.warnings)


def delimiter_of(text: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells most often."""
    sample = text[:_SNIFFED_CHARS]
    return max(_DELIMITERS, key=lambda delimiter: _consistency(sample, delimiter))


def _consistency(sample: str, delimiter: str) -> tuple[float, int]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    rows = [row for row, _ in zip(reader, range(_SNIFFED_ROWS), strict=False) if row]
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    if width == 1:
        return 0.0, 0
    # A quotation mark left inside a cell shows that cells were cut at the wrong places.
    torn = sum(any('"' in text for text in row) for row in rows)
    return (count - torn / 2) / len(rows), width
