"""Reads Hangul documents of version 5 (.hwp) as Markdown: text, headings, tables, boxes, notes.

Record headers, tag numbers, and control characters are those of Hancom's published "Hangul Document
File Formats 5.0", revision 1.3. This product was developed with reference to that document. unhwp
0.23.1 reads every word of two real files but rejected 143 of our 145 test files; many of these are
damaged, and this module reads their intact parts.
"""

import io
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.formats.archive import ENCRYPTED
from loaders.formats.content import (
    Cell,
    Content,
    clean,
    file_title,
    grid_table,
    heading_or_text,
    one_line,
    style_level,
)
from loaders.formats.superscript import END, START, join_superscripts

PARA_HEADER, PARA_TEXT, CTRL_HEADER, LIST_HEADER, TABLE, EQUATION = 66, 67, 71, 72, 77, 88
PARA_CHAR_SHAPE, CHAR_SHAPE, PARA_SHAPE, STYLE = 68, 21, 25, 26
_SUPERSCRIPT = 1 << 15  # among the properties of letters
_LONG = 0xFFF  # a larger size is in the next four bytes
_MAX_LEVEL = 200

_LINE, _PARAGRAPH, _TAB, _HYPHEN, _SPACES = 10, 13, 9, 24, (30, 31)
_SINGLE = frozenset({0, 10, 13, *range(24, 32)})  # all other control characters take eight units
_CONTROL_UNITS = 8


@dataclass(slots=True)
class Record:
    """A record with its bytes and the records of the next level below it.

    The text of a paragraph also has `superscripts`; see `letters`.
    """

    tag: int
    data: bytes
    children: list["Record"] = field(default_factory=list)
    superscripts: Mapping[int, bool] | None = None


def tree(data: bytes) -> tuple[list[Record], bool]:
    """The records of a stream, and whether the stream is complete."""
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
    """Yield each record as (tag, level, bytes, whether all its bytes are present)."""
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


def letters(data: bytes, superscripts: Mapping[int, bool] | None = None) -> str:
    """The visible text of a paragraph's units; control characters of eight units are omitted.

    `superscripts` has, by the place of a unit at which the shape of letters changes, whether
    superscripts begin there.
    """
    changes, is_raised = superscripts or {}, False
    units = struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2])
    units_out: list[int] = []
    at = 0
    while at < len(units):
        unit = units[at]
        if changes.get(at, is_raised) != is_raised:
            is_raised = not is_raised
            units_out.append(ord(START if is_raised else END))
        if unit >= 32:
            units_out.append(unit)
        elif unit in _SPACES:
            units_out.append(0x20)
        elif unit in (_LINE, _TAB, _HYPHEN):
            units_out.append({_LINE: 0x0A, _TAB: 0x09, _HYPHEN: 0x2D}[unit])
        at += 1 if unit >= 32 or unit in _SINGLE else _CONTROL_UNITS
    units_out += [ord(END)] * is_raised
    text = struct.pack(f"<{len(units_out)}H", *units_out).decode("utf-16-le", "replace")
    return join_superscripts(text)


def unsigned(data: bytes, at: int, size: int) -> int:
    """An unsigned integer of `size` bytes; 0 if the bytes are missing."""
    return int.from_bytes(data[at : at + size], "little")


_OLD = b"HWP Document File V"
_SIGNATURE = b"HWP Document File"
_COMPRESSED, _PASSWORD, _DISTRIBUTION, _DRM = 1, 2, 4, 16 | 256 | 1024
_MAX_STREAM = 200 * 2**20  # bytes, inflated
_BLOCK = 4096  # bytes
_SUMMARY, _SUMMARY_TITLE = "\x05HwpSummaryInformation", 2
_TABLE, _NOTES, _SHAPE = b" lbt", (b"  nf", b"  ne"), b" osg"
_OUTLINE = 1

_IS_OLD = _(
    "it was written by Hangul 97 or earlier: open it in Hangul, save it as .hwpx, and import"
    " that file"
)
_IS_DISTRIBUTED = _(
    "it is a distribution document (배포용 문서), whose text is locked: import the original"
)
_IS_DRM = _("protected by a certificate or DRM: save an unprotected copy and import it")
_TOO_LARGE = _("a section unpacks to more than {max_stream} MiB: split the document").format(
    max_stream=_MAX_STREAM // 2**20
)
_ONLY_PREVIEW = _("its pages are damaged: only the preview of its beginning was read")
_PARTLY = _("section {number} is damaged: some of its text may be missing")


def read(data: bytes) -> Content:
    """Read a document; notes follow their paragraph as a quotation.

    Raises:
        UnreadableError: The document is encrypted, locked, in an older version, or damaged.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]

    if data.startswith(_OLD):
        raise UnreadableError(_IS_OLD)
    with OleFileIO(io.BytesIO(data)) as file:
        compressed = _check(file)
        styles = _Styles(_inflate(file, "DocInfo", compressed)[0])
        texts, warnings = _sections(file, compressed, styles)
        if not texts:
            return Content(_preview(file), warnings=(_ONLY_PREVIEW,))
        return Content("\n\n".join(texts), _title(file), warnings=tuple(warnings))


def _check(file: Any) -> bool:
    """Check that the document is readable; return whether its streams are compressed."""
    header = _stream(file, "FileHeader")
    if not header.startswith(_SIGNATURE):
        raise UnreadableError(_("it is not a Hangul document: save it again as .hwp or .hwpx"))
    flags = unsigned(header, 36, 4)
    for bit, reason in ((_PASSWORD, ENCRYPTED), (_DRM, _IS_DRM), (_DISTRIBUTION, _IS_DISTRIBUTED)):
        if flags & bit:
            raise UnreadableError(reason)
    return bool(flags & _COMPRESSED)


def _stream(file: Any, name: str) -> bytes:
    return bytes(file.openstream(name).read()) if file.exists(name) else b""


def _inflate(file: Any, name: str, compressed: bool) -> tuple[bytes, bool]:
    """A stream's bytes, and whether it is complete."""
    data = _stream(file, name)
    if not compressed:
        return data, bool(data)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    output = bytearray()
    try:
        for at in range(0, len(data), _BLOCK):  # in blocks, to keep everything before damage
            output += inflater.decompress(data[at : at + _BLOCK])
            if len(output) > _MAX_STREAM:
                raise UnreadableError(_TOO_LARGE)
    except zlib.error:
        return bytes(output), False
    return bytes(output), inflater.eof


def _sections(file: Any, compressed: bool, styles: "_Styles") -> tuple[list[str], list[str]]:
    names = [path[1] for path in file.listdir() if path[0] == "BodyText" and len(path) == 2]
    names = [name for name in names if name[7:].isdecimal()]
    texts: list[str] = []
    warnings: list[str] = []
    for at, name in enumerate(sorted(names, key=lambda name: int(name[7:])), start=1):
        data, inflated = _inflate(file, f"BodyText/{name}", compressed)
        records, whole = tree(data)
        for record in records:
            styles.mark_superscripts(record)
        text = "\n\n".join(_blocks(records, styles))
        if text.strip():
            texts.append(text)
        if not (inflated and whole):
            warnings.append(_PARTLY.format(number=at))
    return texts, warnings


def _preview(file: Any) -> str:
    text = _stream(file, "PrvText").decode("utf-16-le", "replace")
    if not clean(text).strip():
        raise UnreadableError(
            _("damaged, or contains no text: open it in Hangul and save it again")
        )
    return text


def _title(file: Any) -> str:
    if not file.exists(_SUMMARY):
        return ""
    title = file.getproperties(_SUMMARY).get(_SUMMARY_TITLE)
    return file_title(title.partition("\0")[0]) if isinstance(title, str) else ""


class _Styles:
    """The heading levels of the document's styles and paragraph shapes, and its superscripts."""

    def __init__(self, document_info: bytes) -> None:
        records = [one for record in tree(document_info)[0] for one in _flatten(record)]
        self._shapes = [_shape_level(one.data) for one in records if one.tag == PARA_SHAPE]
        self._styles = [_style_level(one.data) for one in records if one.tag == STYLE]
        shapes = [unsigned(one.data, 46, 4) for one in records if one.tag == CHAR_SHAPE]
        self._superscripts = {
            at for at, properties in enumerate(shapes) if properties & _SUPERSCRIPT
        }

    def mark_superscripts(self, record: Record) -> None:
        """Tell the texts of all paragraphs in a record where superscripts begin and end."""
        for paragraph in _flatten(record) if self._superscripts else ():
            changes = {
                unsigned(one.data, at, 4): unsigned(one.data, at + 4, 4) in self._superscripts
                for one in paragraph.children
                if one.tag == PARA_CHAR_SHAPE
                for at in range(0, len(one.data), 8)
            }
            for one in paragraph.children:
                if one.tag == PARA_TEXT:
                    one.superscripts = changes

    def level(self, header: bytes) -> int:
        """The level of the paragraph with this header; 0 if it is not a heading."""
        shape, style = unsigned(header, 8, 2), unsigned(header, 10, 1)
        level = self._styles[style] if style < len(self._styles) else 0
        return level or (self._shapes[shape] if shape < len(self._shapes) else 0)


def _flatten(record: Record) -> Iterator[Record]:
    yield record
    for below in record.children:
        yield from _flatten(below)


def _shape_level(data: bytes) -> int:
    properties = unsigned(data, 0, 4)
    return (properties >> 25 & 7) + 1 if properties >> 23 & 3 == _OUTLINE else 0


def _style_level(data: bytes) -> int:
    """The level from the style's two names, each after its length in units of two bytes."""
    length = unsigned(data, 0, 2)
    end = 2 + 2 * length
    other = data[end + 2 : end + 2 + 2 * unsigned(data, end, 2)]
    names = (data[2:end], other)
    return max(style_level(name.decode("utf-16-le", "replace")) for name in names)


def _blocks(records: Sequence[Record], styles: _Styles) -> Iterator[str]:
    for record in records:
        if record.tag != PARA_HEADER:
            continue
        text = _text(record)
        level = styles.level(record.data)
        if text:
            yield heading_or_text(level, text)
        for control in record.children:
            if control.tag == CTRL_HEADER:
                yield from filter(None, _control(control, styles))


def _text(paragraph: Record) -> str:
    texts = (one for one in paragraph.children if one.tag == PARA_TEXT)
    return "".join(letters(one.data, one.superscripts) for one in texts).strip()


def _control(control: Record, styles: _Styles) -> Iterator[str]:
    kind = control.data[:4]
    if kind == _TABLE:
        yield _table(control)
    elif kind in _NOTES:
        yield f"> {one_line(_flat(control.children))}"
    elif kind == _SHAPE:
        yield from _box(control, styles)
    else:
        for record in control.children:
            if record.tag == EQUATION:
                script = record.data[6 : 6 + 2 * unsigned(record.data, 4, 2)]
                yield one_line(script.decode("utf-16-le", "replace"))


def _box(record: Record, styles: _Styles) -> Iterator[str]:
    """Yield the paragraphs in a drawn shape at any depth."""
    yield from _blocks(record.children, styles)
    for below in record.children:
        if below.tag != PARA_HEADER:
            yield from _box(below, styles)


def _flat(records: Sequence[Record]) -> str:
    """The texts of the paragraphs and everything in them, each on its own line."""
    texts = (_text(one) for record in records for one in _flatten(record))
    return "\n".join(filter(None, texts))


def _table(control: Record) -> str:
    """Read a table: a list header starts a cell with the paragraphs up to the next header."""
    cells: list[Cell] = []
    for record, content in _lists(control.children):
        column, row, rows = (unsigned(record.data, at, 2) for at in (8, 10, 14))
        cells.append(Cell(row, column, _flat([*record.children, *content]), rows))
    if all(cell.column == 0 for cell in cells):  # a text frame, not a table
        return "\n\n".join(cell.text for cell in cells if cell.text)
    return grid_table(cells)


def _lists(records: Sequence[Record]) -> list[tuple[Record, list[Record]]]:
    lists: list[tuple[Record, list[Record]]] = []
    for record in records:
        if record.tag == LIST_HEADER:
            lists.append((record, []))
        elif lists and record.tag == PARA_HEADER:
            lists[-1][1].append(record)
    return lists
