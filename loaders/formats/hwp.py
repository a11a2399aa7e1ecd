"""Hangul documents of version 5 (.hwp) as Markdown: text, headings, tables, boxes and notes."""

import io
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from errors import UnreadableError
from loaders.formats.archive import ENCRYPTED
from loaders.formats.content import Content, clean, heading, one_line, style_level, told_title
from loaders.formats.grid import Cell, grid_table
from loaders.formats.hwp_records import (
    CTRL_HEADER,
    EQUATION,
    LIST_HEADER,
    PARA_HEADER,
    PARA_SHAPE,
    PARA_TEXT,
    STYLE,
    Record,
    letters,
    tree,
    unsigned,
)

_OLD = b"HWP Document File V"
_SIGNATURE = b"HWP Document File"
_COMPRESSED, _PASSWORD, _DISTRIBUTION, _DRM = 1, 2, 4, 16 | 256 | 1024
_MAX_STREAM = 200 * 2**20  # bytes, inflated
_BLOCK = 4096  # bytes
_MAX_HEADING = 200  # characters; longer ones are paragraphs, whatever their style
_SUMMARY, _SUMMARY_TITLE = "\x05HwpSummaryInformation", 2
_TABLE, _NOTES, _SHAPE = b" lbt", (b"  nf", b"  ne"), b" osg"
_OUTLINE = 1

_IS_OLD = (
    "it was written by Hangul 97 or older: open it in Hangul, save it as .hwpx and import that"
)
_IS_DISTRIBUTED = (
    "it is a distribution document (배포용 문서), whose text is locked: import the original"
)
_IS_DRM = "protected by a certificate or DRM: save a copy without it and import that"
_TOO_LARGE = f"a section unpacks to more than {_MAX_STREAM // 2**20} MiB: split it"
_ONLY_PREVIEW = "its pages are damaged: only the preview of its beginning was read"
_PARTLY = "section {number} is damaged: some of its text may be missing"


def read(data: bytes) -> Content:
    """Read a document; notes follow their paragraph as a quotation.

    Raises:
        UnreadableError: It is encrypted, locked, of an older version, or damaged.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]  # it has no types

    if data.startswith(_OLD):
        raise UnreadableError(_IS_OLD)
    with OleFileIO(io.BytesIO(data)) as file:
        compressed = _checked(file)
        levels = _Levels(_inflated(file, "DocInfo", compressed)[0])
        texts, warnings = _sections(file, compressed, levels)
        if not texts:
            return Content(_preview(file), warnings=(_ONLY_PREVIEW,))
        return Content("\n\n".join(texts), _told(file), warnings=tuple(warnings))


def _checked(file: Any) -> bool:
    """Whether the streams are compressed, once the document is found readable."""
    header = _stream(file, "FileHeader")
    if not header.startswith(_SIGNATURE):
        raise UnreadableError("it is no Hangul document: save it again as .hwp or .hwpx")
    flags = unsigned(header, 36, 4)
    for bit, reason in ((_PASSWORD, ENCRYPTED), (_DRM, _IS_DRM), (_DISTRIBUTION, _IS_DISTRIBUTED)):
        if flags & bit:
            raise UnreadableError(reason)
    return bool(flags & _COMPRESSED)


def _stream(file: Any, name: str) -> bytes:
    return bytes(file.openstream(name).read()) if file.exists(name) else b""


def _inflated(file: Any, name: str, compressed: bool) -> tuple[bytes, bool]:
    """A stream's bytes, and whether it was whole."""
    data = _stream(file, name)
    if not compressed:
        return data, bool(data)
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    found = bytearray()
    try:
        for at in range(0, len(data), _BLOCK):  # in blocks, to keep what stands before the damage
            found += inflater.decompress(data[at : at + _BLOCK])
            if len(found) > _MAX_STREAM:
                raise UnreadableError(_TOO_LARGE)
    except zlib.error:
        return bytes(found), False
    return bytes(found), inflater.eof


def _sections(file: Any, compressed: bool, levels: "_Levels") -> tuple[list[str], list[str]]:
    names = [path[1] for path in file.listdir() if path[0] == "BodyText" and len(path) == 2]
    names = [name for name in names if name[7:].isdecimal()]
    texts, warnings = [], []
    for at, name in enumerate(sorted(names, key=lambda name: int(name[7:])), start=1):
        data, inflated = _inflated(file, f"BodyText/{name}", compressed)
        records, whole = tree(data)
        text = "\n\n".join(_blocks(records, levels))
        if text.strip():
            texts.append(text)
        if not (inflated and whole):
            warnings.append(_PARTLY.format(number=at))
    return texts, warnings


def _preview(file: Any) -> str:
    text = _stream(file, "PrvText").decode("utf-16-le", "replace")
    if not clean(text).strip():
        raise UnreadableError("damaged, or without any text")
    return text


def _told(file: Any) -> str:
    if not file.exists(_SUMMARY):
        return ""
    title = file.getproperties(_SUMMARY).get(_SUMMARY_TITLE)
    return told_title(title.partition("\0")[0]) if isinstance(title, str) else ""


class _Levels:
    """The heading levels that the document's styles and paragraph shapes stand for."""

    def __init__(self, document_info: bytes) -> None:
        records = [one for record in tree(document_info)[0] for one in _flattened(record)]
        self._shapes = [_shape_level(one.data) for one in records if one.tag == PARA_SHAPE]
        self._styles = [_style_level(one.data) for one in records if one.tag == STYLE]

    def of(self, header: bytes) -> int:
        """The level of the paragraph with that header, 0 for one that is no heading."""
        shape, style = unsigned(header, 8, 2), unsigned(header, 10, 1)
        level = self._styles[style] if style < len(self._styles) else 0
        return level or (self._shapes[shape] if shape < len(self._shapes) else 0)


def _flattened(record: Record) -> Iterator[Record]:
    yield record
    for below in record.children:
        yield from _flattened(below)


def _shape_level(data: bytes) -> int:
    properties = unsigned(data, 0, 4)
    return (properties >> 25 & 7) + 1 if properties >> 23 & 3 == _OUTLINE else 0


def _style_level(data: bytes) -> int:
    """The level by the style's two names, each behind its length in units of two bytes."""
    length = unsigned(data, 0, 2)
    end = 2 + 2 * length
    other = data[end + 2 : end + 2 + 2 * unsigned(data, end, 2)]
    names = (data[2:end], other)
    return max(style_level(name.decode("utf-16-le", "replace")) for name in names)


def _blocks(records: Sequence[Record], levels: _Levels) -> Iterator[str]:
    for record in records:
        if record.tag != PARA_HEADER:
            continue
        text = _text(record)
        level = levels.of(record.data)
        if text and level and len(text) <= _MAX_HEADING:
            yield heading(level, text)
        elif text:
            yield text
        for control in record.children:
            if control.tag == CTRL_HEADER:
                yield from filter(None, _control(control, levels))


def _text(paragraph: Record) -> str:
    return "".join(letters(one.data) for one in paragraph.children if one.tag == PARA_TEXT).strip()


def _control(control: Record, levels: _Levels) -> Iterator[str]:
    kind = control.data[:4]
    if kind == _TABLE:
        yield _table(control)
    elif kind in _NOTES:
        yield f"> {one_line(_flat(control.children))}"
    elif kind == _SHAPE:
        yield from _box(control, levels)
    else:
        for record in control.children:
            if record.tag == EQUATION:
                script = record.data[6 : 6 + 2 * unsigned(record.data, 4, 2)]
                yield one_line(script.decode("utf-16-le", "replace"))


def _box(record: Record, levels: _Levels) -> Iterator[str]:
    """The paragraphs in a drawn shape, wherever they lie within it."""
    yield from _blocks(record.children, levels)
    for below in record.children:
        if below.tag != PARA_HEADER:
            yield from _box(below, levels)


def _flat(records: Sequence[Record]) -> str:
    """The texts of the paragraphs and of all that lies within them, each on a line."""
    texts = (_text(one) for record in records for one in _flattened(record))
    return "\n".join(filter(None, texts))


def _table(control: Record) -> str:
    """A table: each list header is a cell, and the paragraphs up to the next one are in it."""
    cells: list[Cell] = []
    for record, content in _lists(control.children):
        column, row, columns, rows = (unsigned(record.data, at, 2) for at in (8, 10, 12, 14))
        text = _flat([*record.children, *content])
        cells.append(Cell(row, column, text, rows, columns))
    if all(cell.column == 0 for cell in cells):  # a frame around text, not a table
        return "\n\n".join(cell.text for cell in cells if cell.text)
    return grid_table(cells)


def _lists(records: Sequence[Record]) -> list[tuple[Record, list[Record]]]:
    found: list[tuple[Record, list[Record]]] = []
    for record in records:
        if record.tag == LIST_HEADER:
            found.append((record, []))
        elif found and record.tag == PARA_HEADER:
            found[-1][1].append(record)
    return found
