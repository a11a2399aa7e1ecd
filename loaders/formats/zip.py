"""Zip archives: each file in them that can be read is a section under its path."""

import zipfile
from collections.abc import Iterator, Sequence
from functools import partial

from errors import UnreadableError, UnreadableNowError
from loaders.encoding import decode
from loaders.formats import unsupported
from loaders.formats.archive import ENCRYPTED, open_zip, read_part
from loaders.formats.content import Content, clean, one_line
from loaders.formats.parts import MAX_PARTS, Part, sections

_UTF8_FLAG = 0x800
_LEFT_BEHIND = ("__MACOSX/",)
_HIDDEN = (".", "~$", "Thumbs.db", "desktop.ini")
_UPWARDS = (".", "..")
_MAX_NAMED = 5


def read(data: bytes) -> Content:
    """Read the files of an archive in its order; those that can't be read are warnings.

    Nothing is written to disk, so that a path in it leads nowhere.

    Raises:
        UnreadableError: It is encrypted, damaged or too large, or nothing in it can be read;
            UnreadableNowError where something can be once a program is installed.
    """
    archive = open_zip(data, ".zip")
    files = [part for part in archive.infolist() if not part.is_dir()]
    if len(files) > MAX_PARTS:
        raise UnreadableError(f"it holds {len(files)} files, more than {MAX_PARTS}: split it")
    if files and all(file.flag_bits & 1 for file in files):
        raise UnreadableError(ENCRYPTED)
    found = sections(list(_parts(archive, files)))
    if not found.text:
        reason = _nothing(found.warnings)
        raise UnreadableNowError(reason) if found.again else UnreadableError(reason)
    return Content(found.text, warnings=found.warnings)


def _parts(archive: zipfile.ZipFile, files: Sequence[zipfile.ZipInfo]) -> Iterator[Part]:
    for file, name in zip(files, _names(files), strict=True):
        steps = name.split("/")
        hidden = any(step.startswith(_HIDDEN) and step not in _UPWARDS for step in steps)
        if not hidden and not name.startswith(_LEFT_BEHIND):
            # A file of a format that is not read need not be unpacked to say so.
            foreign = unsupported(name) is not None
            yield Part(name, bytes if foreign else partial(read_part, archive, file))


def _names(files: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The paths; where their encoding is not told, it is that of all such names together."""
    raw = [b"" if file.flag_bits & _UTF8_FLAG else _raw(file) for file in files]
    encoding = _encoding(b"\n".join(raw))
    names = [
        known.decode(encoding, "replace") if known else file.filename
        for file, known in zip(files, raw, strict=True)
    ]
    return [one_line(clean(name).replace("\\", "/")) or "untitled" for name in names]


def _raw(file: zipfile.ZipInfo) -> bytes:
    # Python reads names of no told encoding as code page 437, which loses nothing.
    return file.orig_filename.partition("\0")[0].encode("cp437", "replace")


def _encoding(names: bytes) -> str:
    try:
        return decode(names).encoding
    except UnreadableError:
        return "cp437"


def _nothing(warnings: Sequence[str]) -> str:
    if not warnings:
        return "there is no file in the archive"
    more = [f"and {left} more"] if (left := len(warnings) - _MAX_NAMED) > 0 else []
    named = "; ".join([*warnings[:_MAX_NAMED], *more])
    return f"nothing in the archive can be read: {named}"
