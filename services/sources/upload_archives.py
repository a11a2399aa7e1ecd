"""Files to upload; zip archives are replaced by the files in them."""

from collections.abc import Container, Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, cast

from domain.errors import UnreadableError
from domain.messages import _
from services.sources.file_names import safe_name, safe_path

if TYPE_CHECKING:
    from loaders.formats.embedded_files import Part

_ARCHIVE = ".zip"
MAX_BYTES = 512 * 2**20
"""The maximum unpacked size of all archives of an upload, which are in memory together."""


class Upload(NamedTuple):
    """A file that has not been checked yet; `has_path` if its folders belong to its name."""

    name: str
    data: bytes
    has_path: bool = False

    @property
    def key(self) -> str:
        """The name under which it is stored; "" if it has no usable characters."""
        return safe_path(self.name) if self.has_path else safe_name(self.name)


class Rejection(NamedTuple):
    """The name of a file that is not stored, and the reason."""

    name: str
    reason: str


class Extraction(NamedTuple):
    """The files to store, in order, without the archives that they come from.

    `archives` maps the keys of these archives to the keys of their files; `rejections` are archives
    and files that can't be read or stored.
    """

    files: list[Upload]
    archives: dict[str, list[str]]
    rejections: list[Rejection]


def extract_archives(
    uploads: Iterable[Upload | tuple[str, bytes]], box_keys: Iterable[str] = ()
) -> Extraction:
    """Replace each zip archive by the files in it; all files keep their paths.

    Archives in archives stay as they are. The paths of an archive's files begin with its name,
    which is changed if it is that of another file of the upload or of one in the box (`box_keys`).
    Archives that exceed `MAX_BYTES` together with earlier ones are rejected, and so are files with
    the same path as a file of an earlier archive.
    """
    files = [Upload(*one)._replace(has_path=True) for one in uploads]
    file_keys = {*box_keys, *(file.key for file in files if not _is_archive(file))}
    result, room = Extraction([], {}, []), MAX_BYTES
    for upload in files:
        if not _is_archive(upload):
            result.files.append(upload)
            continue
        try:
            parts = _parts(upload, room)
        except UnreadableError as error:
            result.rejections.append(Rejection(upload.name, str(error)))
            continue
        room -= _size(parts)
        _extract(upload, parts, file_keys, result)
    return result


def _is_archive(upload: Upload) -> bool:
    return PurePosixPath(upload.name).suffix.lower() == _ARCHIVE


def _parts(archive: Upload, room: int) -> "list[Part]":
    """The files of an archive; raises UnreadableError if it can't be read or exceeds `room`."""
    from loaders.formats.embedded_files import zip_parts  # slow, and needed only for archives

    parts = zip_parts(archive.data)
    if not parts:
        raise UnreadableError(_("the archive contains no files"))
    if _size(parts) > room:
        raise UnreadableError(
            _(
                "the archives of this upload unpack to more than {limit} MiB: upload this one"
                " separately"
            ).format(limit=MAX_BYTES // 2**20)
        )
    return parts


def _size(parts: "Iterable[Part]") -> int:
    return sum(part.size for part in parts)


def _extract(
    archive: Upload, parts: "Iterable[Part]", file_keys: Container[str], result: Extraction
) -> None:
    earlier_keys = {key for keys in result.archives.values() for key in keys}
    keys = result.archives.setdefault(archive.key, [])
    folder = _folder(archive, parts, file_keys)
    for part in parts:
        path = f"{folder}/{part.name}" if folder else part.name
        try:
            file = Upload(path, cast("bytes", part.data()), has_path=True)
            _require_new(file.key, earlier_keys)
        except UnreadableError as error:
            result.rejections.append(Rejection(path, str(error)))
            continue
        keys.append(file.key)
        result.files.append(file)


def _require_new(key: str, earlier_keys: Container[str]) -> None:
    if key in earlier_keys:
        raise UnreadableError(
            _(
                "another archive of this upload contains a file with the same path: rename this"
                " archive"
            )
        )


def _folder(archive: Upload, parts: "Iterable[Part]", file_keys: Container[str]) -> str:
    """The folder of the archive's files; "" if it is the box."""
    path = archive.name[: -len(_ARCHIVE)]
    parent, _slash, name = path.rpartition("/")
    if all(part.name.startswith(f"{name}/") for part in parts):
        return parent
    return f"{path}_zip" if safe_path(path) in file_keys else path
