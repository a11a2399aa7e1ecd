"""Files to upload; zip archives are replaced by the files in them."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, cast

from domain.messages import _
from errors import UnreadableError
from loaders.formats import unsupported
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

    `archives` are the keys of these archives; `refused` are archives and files that can't be read.
    """

    files: list[Upload]
    archives: list[str]
    refused: list[Rejection]


def extract_archives(uploads: Iterable[Upload | tuple[str, bytes]]) -> Extraction:
    """Replace each zip archive by the files in it; all files keep their paths.

    Archives in archives stay as they are. The paths of an archive's files begin with its name.
    Archives that exceed `MAX_BYTES` together with earlier ones are rejected.
    """
    result, room = Extraction([], [], []), MAX_BYTES
    for upload in (Upload(*one)._replace(has_path=True) for one in uploads):
        if PurePosixPath(upload.name).suffix.lower() != _ARCHIVE:
            result.files.append(upload)
            continue
        try:
            parts = _parts(upload, room)
        except UnreadableError as error:
            result.refused.append(Rejection(upload.name, str(error)))
            continue
        room -= _size(parts)
        result.archives.append(upload.key)
        _extract(upload, parts, result)
    return result


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


def _extract(archive: Upload, parts: "Iterable[Part]", result: Extraction) -> None:
    parent, _slash, name = archive.name[: -len(_ARCHIVE)].rpartition("/")
    is_nested = all(part.name.startswith(f"{name}/") for part in parts)
    folders = [parent] if is_nested else [parent, _folder_name(name)]
    for part in parts:
        path = "/".join(filter(None, [*folders, part.name]))
        try:
            data = part.data()
        except UnreadableError as error:
            result.refused.append(Rejection(path, str(error)))
            continue
        result.files.append(Upload(path, cast("bytes", data), has_path=True))


def _folder_name(name: str) -> str:
    """The name; that of a document is changed, which may be in the same box: report_pdf."""
    return name if unsupported(name) else name.replace(".", "_")
