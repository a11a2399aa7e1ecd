"""Writes and reads the file of a backup: a compressed tar archive that begins with its manifest."""

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from domain import Progress, Stage
from domain.errors import InputError, StorageError
from domain.messages import _
from storage.backups.manifest import FileEntry, Manifest, parse_manifest
from storage.safe_writes import require_free_space, sync_folder

OnProgress = Callable[[Progress], None]
"""Receives the progress in files; may raise an error to stop."""

_MANIFEST = "manifest.json"
_MAX_MANIFEST = 32 * 2**20
_BLOCK = 2**20
_LEVEL = 1  # higher levels of gzip take several times as long and save a few percent
_DAMAGE = (
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    OverflowError,
    RecursionError,
)


def entries_of(folder: Path) -> dict[str, FileEntry]:
    """The files in the folder by path, sorted, with their checksums.

    Raises:
        StorageError: A file can't be read.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: _readable_entry(name, path) for name, path in names.items()}


def _readable_entry(name: str, path: Path) -> FileEntry:
    try:
        return _entry_of(path)
    except OSError as error:
        raise StorageError(
            _(
                "{file} in the data folder can't be read ({reason}), so nothing was backed up: make"
                " it readable by the user who runs Footnote, and check the disk."
            ).format(file=name, reason=error.strerror or error)
        ) from error


def _entry_of(path: Path) -> FileEntry:
    with path.open("rb") as file:
        return _entry(file)


def _entry(content: IO[bytes]) -> FileEntry:
    digest, size = hashlib.sha256(), 0
    while block := content.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return FileEntry(size, digest.hexdigest())


def write_backup(folder: Path, manifest: Manifest, target: Path, on_progress: OnProgress) -> None:
    """Write the files of the manifest from the folder to `target`, which is complete or missing.

    Only this user may read it. It is read back and compared with the manifest before it gets its
    name.

    Raises:
        InputError: `target` exists already.
        StorageError: It can't be written, or can't be read back intact.
    """
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        _require_new(target)
        require_free_space(target.parent, manifest.size, growth=1)
        with _private_file(part) as file:
            _write_archive(file, folder, manifest, on_progress)
        _require_readable(part, manifest, on_progress)
        _require_new(target)  # another process may have written it meanwhile
        part.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise StorageError(
            _(
                "The backup {file} can't be written ({reason}): check that the folder exists, is"
                " writable, and has free space. Nothing was left there."
            ).format(file=target, reason=error.strerror or error)
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _require_new(target: Path) -> None:
    if target.exists():
        raise InputError(
            _("{file} exists already: choose another name, or a folder.").format(file=target)
        )


@contextmanager
def _private_file(path: Path) -> Iterator[IO[bytes]]:
    with open(path, "xb", opener=partial(os.open, mode=0o600)) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _write_archive(
    file: IO[bytes], folder: Path, manifest: Manifest, on_progress: OnProgress
) -> None:
    with (
        gzip.GzipFile("", "wb", _LEVEL, file) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        data = manifest.to_json()
        tar.addfile(_member(_MANIFEST, len(data)), io.BytesIO(data))
        for done, (name, entry) in enumerate(manifest.files.items()):
            on_progress(Progress(Stage.WRITING, done, len(manifest.files), name))
            with (folder / name).open("rb") as content:
                modified_at = os.fstat(content.fileno()).st_mtime
                tar.addfile(_member(name, entry.size, modified_at), content)


def _member(name: str, size: int, modified_at: float = 0) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, modified_at, 0o600
    return member


def _require_readable(part: Path, manifest: Manifest, on_progress: OnProgress) -> None:
    try:
        found = read_backup(part, on_progress=on_progress)
    except InputError as error:
        raise StorageError(
            _("The backup can't be read back after writing. {problem}").format(problem=error)
        ) from error
    if found != manifest:
        raise StorageError(
            _("{file} was replaced while it was written: back up again.").format(file=part)
        )


def read_manifest(file: Path) -> Manifest:
    """The manifest of a backup, without reading the rest.

    Raises:
        InputError: The file is not a backup, or a newer version of Footnote wrote it.
        StorageError: The file can't be read.
    """
    with _open_archive(file) as (tar, _compressed):
        return _manifest(tar)


def read_backup(file: Path, folder: Path | None = None, *, on_progress: OnProgress) -> Manifest:
    """Read a backup and compare all of it with its manifest.

    Args:
        file: The backup.
        folder: An empty folder in which to store the files; None stores nothing.
        on_progress: Follows the reading.

    Raises:
        InputError: The file is no backup or is damaged, or a newer version of Footnote wrote it.
        StorageError: The file can't be read, or the folder can't be written.
    """
    with _open_archive(file) as (tar, compressed):
        manifest = _manifest(tar)
        missing = dict(manifest.files)
        for done, member in enumerate(iter(tar.next, None)):
            on_progress(Progress(Stage.READING, done, len(manifest.files), member.name))
            expected = missing.pop(member.name, None)
            if expected is None or not member.isreg() or member.issparse():
                raise ValueError(f"it contains {member.name!r}, which is not in its manifest")
            if member.size != expected.size:
                raise ValueError(f"the size of {member.name!r} differs")
            if _read_member(tar, member, folder) != expected:
                raise ValueError(f"the checksum of {member.name!r} differs")
        if missing:
            raise ValueError(f"{next(iter(missing))!r} is missing")
        while compressed.read(_BLOCK):  # its checksum is at the end
            pass
    return manifest


@contextmanager
def _open_archive(file: Path) -> Iterator[tuple[tarfile.TarFile, gzip.GzipFile]]:
    try:
        with gzip.open(file) as compressed, tarfile.open(fileobj=compressed, mode="r|") as tar:
            yield tar, compressed
    except _DAMAGE as error:
        raise InputError(
            _(
                "{file} is damaged or is not a backup of Footnote ({reason}): use another backup."
            ).format(file=file, reason=error)
        ) from error
    except OSError as error:
        raise StorageError(
            _("{file} can't be used ({reason}). Nothing was restored.").format(
                file=error.filename or file, reason=error.strerror or error
            )
        ) from error


def _manifest(tar: tarfile.TarFile) -> Manifest:
    member = tar.next()
    if member is None or member.name != _MANIFEST or member.size > _MAX_MANIFEST:
        raise ValueError("it does not begin with a manifest")
    return parse_manifest(_content(tar, member).read())


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    if content is None:
        raise ValueError(f"{member.name!r} is not a file")
    return content


def _read_member(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path | None) -> FileEntry:
    """Read a file, and store it unless `folder` is None.

    The caller has checked that its name does not lead out of the folder, which contains no links.
    """
    content = _content(tar, member)
    if folder is None:
        return _entry(content)
    path = folder / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        shutil.copyfileobj(content, file)
    os.utime(path, (member.mtime, member.mtime))
    return _entry_of(path)
