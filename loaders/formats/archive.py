"""Unpacks zip archives within limits, and parses the XML in them without fetching anything."""

import io
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from domain.errors import UnreadableError
from domain.messages import _

_MAX_UNPACKED = 512 * 2**20  # bytes
_MAX_PART = 200 * 2**20  # bytes, per part with text; parsing takes about ten times as much
_MAX_PARTS = 20_000  # real .epub and .xlsx files have hundreds
_MAX_RATIO = 200
_RATIO_COUNTS_FROM = 32 * 2**20  # bytes; an empty sheet's styles compress well but are no bomb
_MAX_DEFLATE = 1032  # the maximum ratio of the deflate format
_BLOCK, _PACKED_BLOCK = 2**20, 2**16  # bytes
_MANIFEST = "META-INF/manifest.xml"
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

ENCRYPTED = _("password-protected: save a copy without a password and import it")


def open_zip(data: bytes, suffix: str) -> zipfile.ZipFile:
    """Open an archive after checking that it is complete and of limited size.

    Raises:
        UnreadableError: The file is truncated, not an archive, or a zip bomb, or its parts overlap.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        reason = _(
            "damaged, incomplete, or not a {suffix} file: get an intact copy and import it"
        ).format(suffix=suffix)
        raise UnreadableError(reason) from error
    parts = archive.infolist()
    _check_sizes(parts, len(data))
    _check_places(parts)
    _check_inflated(data, parts)
    return archive


def read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo | str) -> bytes:
    """Read a part's bytes, at most as many as the archive declares.

    Raises:
        UnreadableError: The part is missing, encrypted, damaged, or compressed in an unknown way.
    """
    name = part if isinstance(part, str) else part.filename
    try:
        info = archive.getinfo(part) if isinstance(part, str) else part
        if info.flag_bits & 1:
            raise UnreadableError(ENCRYPTED)
        with archive.open(info) as file:
            return b"".join(iter(lambda: file.read(_BLOCK), b""))
    except KeyError as error:
        raise UnreadableError(
            _("damaged (its part {name} is missing): get an intact copy").format(name=name)
        ) from error
    except _BROKEN as error:
        reason = _(
            "damaged (its part {name} can't be unpacked: {name2}): get an intact copy"
        ).format(name=name, name2=type(error).__name__)
        raise UnreadableError(reason) from error


def _check_sizes(parts: Sequence[zipfile.ZipInfo], packed: int) -> None:
    if len(parts) > _MAX_PARTS:
        raise UnreadableError(
            _("it contains {parts} files, more than {max_parts}: split it").format(
                parts=len(parts), max_parts=_MAX_PARTS
            )
        )
    largest = max((p.file_size for p in parts if p.filename.endswith(_TEXT_PARTS)), default=0)
    _check_total(sum(part.file_size for part in parts), largest, packed)


def _check_total(unpacked: int, largest: int, packed: int) -> None:
    bomb = unpacked > _RATIO_COUNTS_FROM and unpacked > _MAX_RATIO * packed
    if unpacked > _MAX_UNPACKED or largest > _MAX_PART or bomb:
        size = f"{unpacked / 2**20:.0f} MiB"
        raise UnreadableError(
            _("it unpacks to {size}, which is too much to read safely: split it").format(size=size)
        )


def _check_places(parts: Sequence[zipfile.ZipInfo]) -> None:
    """Reject parts that share bytes: a few bytes listed a thousand times are a bomb."""
    end = 0
    for part in sorted(parts, key=lambda part: part.header_offset):
        if part.header_offset < end:
            raise UnreadableError(_("damaged (parts of the archive overlap): get an intact copy"))
        end = part.header_offset + part.compress_size


def _check_inflated(data: bytes, parts: Sequence[zipfile.ZipInfo]) -> None:
    """Inflate parts that may become large, because the sizes in an archive may be false."""
    total = 0
    for part in parts:
        # LZMA and BZIP2 are read later, in blocks of limited size; encrypted parts are never read.
        if part.compress_type != zipfile.ZIP_DEFLATED or part.flag_bits & 1:
            continue
        if part.compress_size * _MAX_DEFLATE > _RATIO_COUNTS_FROM:
            total += _inflated_size(_part_bytes(data, part), _RATIO_COUNTS_FROM + part.file_size)
            _check_total(total, 0, len(data))


def _part_bytes(data: bytes, part: zipfile.ZipInfo) -> bytes:
    """The bytes after a part's header, which ends with the lengths of two more fields."""
    at = part.header_offset
    lengths = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (26, 28))
    start = at + 30 + sum(lengths)
    return data[start : start + part.compress_size]


def _inflated_size(packed: bytes, limit: int) -> int:
    """The number of bytes that these really inflate to; counting stops at the limit."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    try:
        for at in range(0, len(packed), _PACKED_BLOCK):
            rest = packed[at : at + _PACKED_BLOCK]
            while rest and size <= limit:
                size += len(inflater.decompress(rest, _BLOCK))
                rest = inflater.unconsumed_tail
    except zlib.error:  # reported when the part is read
        return size
    return size


def parse_part(data: bytes) -> Any:
    """The root element of an XML part; entities are not resolved, comments are omitted.

    Raises:
        etree.XMLSyntaxError: The XML is not well-formed, or is nested more than 256 levels deep.
    """
    return etree.fromstring(data, xml_parser())


def xml_parser(*, encoding: str | None = None, recover: bool = False) -> etree.XMLParser:
    """A parser that fetches nothing, does not resolve entities, and omits comments.

    `encoding` overrides the declared one; with `recover`, broken XML is read as far as possible.
    """
    return etree.XMLParser(
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def part_elements(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
    """Yield all elements of an XML part, in order; none if the archive has no such part."""
    if name in archive.namelist():
        yield from parse_part(read_part(archive, name)).iter("*")


def refuse_encrypted(archive: zipfile.ZipFile) -> None:
    """Check the package manifest that OpenDocument and OWPML share.

    Raises:
        UnreadableError: A part of the package is encrypted.
    """
    if any(local(node) == "encryption-data" for node in part_elements(archive, _MANIFEST)):
        raise UnreadableError(ENCRYPTED)


def local(element: Any) -> str:
    """The element's name without its namespace; empty for nodes that are not elements."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Any, *names: str) -> Iterator[Any]:
    """Yield the children with one of these local names, in order."""
    yield from element.iterchildren(*(f"{{*}}{name}" for name in names))


def child(element: Any, name: str) -> Any:
    """The first child with this local name; None if there is none."""
    return next(children(element, name), None)


def attribute(element: Any, name: str) -> str:
    """The value of the attribute with this local name in any namespace; "" if it is missing."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


def is_off(value: str) -> bool:
    """Whether the value of a switch in an Office document means off (ST_OnOff)."""
    return value in ("0", "false", "off")


def number(element: Any, name: str, default: int = 1) -> int:
    """The attribute as an integer from 0 to 99,999; otherwise the default."""
    value = attribute(element, name)
    return int(value) if value.isdecimal() and len(value) < 6 else default


def outermost(element: Any, names: Collection[str]) -> Iterator[Any]:
    """Yield descendants with these local names that are not inside one another, in order."""
    for node in element:
        if local(node) in names:
            yield node
        else:
            yield from outermost(node, names)
