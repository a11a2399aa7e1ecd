"""Zip archives: looked at before anything is unpacked, then unpacked within bounds."""

import io
import zipfile
import zlib
from collections.abc import Sequence

from errors import UnreadableError

_MAX_UNPACKED = 512 * 2**20  # bytes
_MAX_PART = 200 * 2**20  # bytes; of the parts with text: parsing takes some ten times as much
_MAX_PARTS = 20_000  # an .epub or .xlsx of any use has hundreds
_MAX_RATIO = 200
_RATIO_COUNTS_FROM = 32 * 2**20  # bytes; an empty sheet's styles pack well without being a bomb
_MAX_DEFLATE = 1032  # times; what deflate can save at most, by its format
_BLOCK, _PACKED_BLOCK = 2**20, 2**16  # bytes
_TEXT_PARTS = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf")
_BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    ValueError,
    OSError,
    EOFError,
    RuntimeError,
    zlib.error,
)

ENCRYPTED = "encrypted with a password: save a copy without it and import that"


def open_zip(data: bytes, suffix: str) -> zipfile.ZipFile:
    """The archive, once it is found whole and of bounded size.

    Raises:
        UnreadableError: It is cut off or no archive, its parts overlap, or it is a zip bomb.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        reason = f"damaged or cut off, or not a {suffix} file: get a whole copy and import that"
        raise UnreadableError(reason) from error
    parts = archive.infolist()
    _check_sizes(parts, len(data))
    _check_places(parts)
    _check_inflated(data, parts)
    return archive


def read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo | str) -> bytes:
    """A part's bytes, never more than its archive says it holds.

    Raises:
        UnreadableError: It is missing, encrypted, damaged, or packed in an unknown way.
    """
    name = part if isinstance(part, str) else part.filename
    try:
        info = archive.getinfo(part) if isinstance(part, str) else part
        if info.flag_bits & 1:
            raise UnreadableError(ENCRYPTED)
        with archive.open(info) as file:
            return b"".join(iter(lambda: file.read(_BLOCK), b""))
    except KeyError as error:
        raise UnreadableError(f"damaged: its part {name} is missing") from error
    except _BROKEN as error:
        reason = f"damaged: its part {name} can't be unpacked ({type(error).__name__})"
        raise UnreadableError(reason) from error


def _check_sizes(parts: Sequence[zipfile.ZipInfo], packed: int) -> None:
    if len(parts) > _MAX_PARTS:
        raise UnreadableError(f"it holds {len(parts)} files, more than {_MAX_PARTS}: split it")
    largest = max((p.file_size for p in parts if p.filename.endswith(_TEXT_PARTS)), default=0)
    _check_total(sum(part.file_size for part in parts), largest, packed)


def _check_total(unpacked: int, largest: int, packed: int) -> None:
    bomb = unpacked > _RATIO_COUNTS_FROM and unpacked > _MAX_RATIO * packed
    if unpacked > _MAX_UNPACKED or largest > _MAX_PART or bomb:
        size = f"{unpacked / 2**20:.0f} MiB"
        raise UnreadableError(f"it unpacks to {size}, too much to be read safely: split it")


def _check_places(parts: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse parts that share bytes: a few bytes named a thousand times are a bomb."""
    end = 0
    for part in sorted(parts, key=lambda part: part.header_offset):
        if part.header_offset < end:
            raise UnreadableError("damaged: parts of the archive overlap")
        end = part.header_offset + part.compress_size


def _check_inflated(data: bytes, parts: Sequence[zipfile.ZipInfo]) -> None:
    """Inflate what could become large, for the sizes an archive states can be lies."""
    total = 0
    for part in parts:
        # LZMA and BZIP2 inflate in bounded blocks when they are read; encrypted parts are not.
        if part.compress_type != zipfile.ZIP_DEFLATED or part.flag_bits & 1:
            continue
        if part.compress_size * _MAX_DEFLATE > _RATIO_COUNTS_FROM:
            total += _inflated(_packed(data, part), _RATIO_COUNTS_FROM + part.file_size)
            _check_total(total, 0, len(data))


def _packed(data: bytes, part: zipfile.ZipInfo) -> bytes:
    """The bytes behind a part's own header, whose last fields are the lengths of two more."""
    at = part.header_offset
    lengths = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (26, 28))
    start = at + 30 + sum(lengths)
    return data[start : start + part.compress_size]


def _inflated(packed: bytes, limit: int) -> int:
    """How many bytes these really inflate to, counted no further than to the limit."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    try:
        for at in range(0, len(packed), _PACKED_BLOCK):
            left = packed[at : at + _PACKED_BLOCK]
            while left and size <= limit:
                size += len(inflater.decompress(left, _BLOCK))
                left = inflater.unconsumed_tail
    except zlib.error:  # told when the part is read
        return size
    return size
