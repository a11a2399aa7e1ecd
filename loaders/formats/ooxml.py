"""What .docx, .pptx and .xlsx share: a zip archive that must be looked at before it is parsed."""

import io
import zipfile

from errors import UnreadableError

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MAX_UNPACKED = 512 * 2**20  # bytes
_MAX_PART = 200 * 2**20  # bytes; of the parts with text: parsing takes some ten times as much
_MAX_RATIO = 200
_RATIO_COUNTS_FROM = 32 * 2**20  # bytes; an empty sheet's styles pack well without being a bomb

ENCRYPTED = "encrypted with a password: save a copy without it and import that"


def open_archive(data: bytes, suffix: str) -> io.BytesIO:
    """The file as a stream, once its archive is found whole and of bounded size.

    Raises:
        UnreadableError: It is encrypted, of the old binary format, cut off, or a zip bomb.
    """
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise UnreadableError(ENCRYPTED)
        old = suffix.removesuffix("x")
        raise UnreadableError(f"it is an old {old} file or is encrypted: save it as {suffix}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(archive.infolist(), len(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        reason = f"damaged or cut off, or not a {suffix} file: get a whole copy and import that"
        raise UnreadableError(reason) from error
    return io.BytesIO(data)


def _check_sizes(parts: list[zipfile.ZipInfo], packed: int) -> None:
    unpacked = sum(part.file_size for part in parts)
    largest = max((p.file_size for p in parts if p.filename.endswith((".xml", ".rels"))), default=0)
    bomb = unpacked > _RATIO_COUNTS_FROM and unpacked > _MAX_RATIO * packed
    if unpacked > _MAX_UNPACKED or largest > _MAX_PART or bomb:
        size = f"{unpacked / 2**20:.0f} MiB"
        raise UnreadableError(f"it unpacks to {size}, too much to be read safely: split it")
