"""The records of Hangul documents of version 5, as a tree, and the letters of their paragraphs.

Record headers, tag numbers and control letters are those of Hancom's published "Hangul Document
File Formats 5.0", revision 1.3. This product was developed with reference to that document.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

PARA_HEADER, PARA_TEXT, CTRL_HEADER, LIST_HEADER, TABLE, EQUATION = 66, 67, 71, 72, 77, 88
PARA_SHAPE, STYLE = 25, 26
_LONG = 0xFFF  # a size that does not fit stands in the next four bytes
_MAX_LEVEL = 200

_LINE, _PARAGRAPH, _TAB, _HYPHEN, _SPACES = 10, 13, 9, 24, (30, 31)
_SINGLE = frozenset({0, 10, 13, *range(24, 32)})  # all other controls take eight units
_CONTROL_UNITS = 8


@dataclass(slots=True)
class Record:
    """A record, its bytes, and the records of the next level that follow it."""

    tag: int
    data: bytes
    children: list["Record"] = field(default_factory=list)


def tree(data: bytes) -> tuple[list[Record], bool]:
    """The records of a stream, and whether it was whole."""
    root = Record(0, b"")
    path = [root]
    whole = True
    for tag, level, body, fits in _records(data):
        whole = whole and fits
        del path[min(level, len(path) - 1, _MAX_LEVEL) + 1 :]
        record = Record(tag, body)
        path[-1].children.append(record)
        path.append(record)
    return root.children, whole


def _records(data: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    """Yield each record as (tag, level, bytes, whether all its bytes are there)."""
    at = 0
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "little")
        tag, level, size = head & 0x3FF, head >> 10 & 0x3FF, head >> 20
        at += 4
        if size == _LONG:
            size = int.from_bytes(data[at : at + 4], "little")
            at += 4
        yield tag, level, data[at : at + size], at + size <= len(data)
        at += size


def letters(data: bytes) -> str:
    """What the units of a paragraph's text show; controls of eight units are left out."""
    units = struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2])
    shown: list[int] = []
    at = 0
    while at < len(units):
        unit = units[at]
        if unit >= 32:
            shown.append(unit)
        elif unit in _SPACES:
            shown.append(0x20)
        elif unit in (_LINE, _TAB, _HYPHEN):
            shown.append({_LINE: 0x0A, _TAB: 0x09, _HYPHEN: 0x2D}[unit])
        at += 1 if unit >= 32 or unit in _SINGLE else _CONTROL_UNITS
    return struct.pack(f"<{len(shown)}H", *shown).decode("utf-16-le", "replace")


def unsigned(data: bytes, at: int, size: int) -> int:
    """A whole number of `size` bytes; 0 where the bytes are not there."""
    return int.from_bytes(data[at : at + size], "little")
