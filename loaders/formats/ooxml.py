"""What .docx, .pptx and .xlsx share: a zip archive that must be looked at before it is parsed."""

import io

from errors import UnreadableError
from loaders.formats.archive import ENCRYPTED, open_zip

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


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
    open_zip(data, suffix).close()
    return io.BytesIO(data)
