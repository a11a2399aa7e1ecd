"""Copies a library as it is at one moment, while other processes read and change it.

The copy is what processes killed at that moment would leave, and each start recovers from that
("One batch of an import" in docs/architecture.md): the index can't change while its writer locks
are held, and a read transaction of the ledger begins in between. Files that are never changed are
linked instead of copied, so the locks are held only briefly.
"""

import os
import shutil
import sqlite3
import uuid
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from domain import Progress, Stage
from domain.errors import BusyError, StorageError
from domain.messages import _
from storage.backups.backup_file import OnProgress
from storage.backups.library_id import WORKING_FOLDER
from storage.index_files import read_list
from storage.index_reader import READABLE
from storage.ledger.ledger_location import FILE, INDEXES, UPLOADS, files_below
from storage.safe_writes import HOLDER_FILE, LOCK_FILE, require_free_space, writer_lock
from storage.settings_file import SETTINGS_FILE

_STORES = ("passages", "keywords")
_ATTEMPTS = 5
_PAGES = 2048
_UNUSED = (LOCK_FILE, HOLDER_FILE, READABLE, ".lock", ".new")
"""Endings of the files in an index that are not part of its contents."""


@contextmanager
def library_copy(data_dir: Path, ledger: Path, on_progress: OnProgress) -> Iterator[Path]:
    """A folder with a consistent copy of the library, which is deleted afterwards.

    It contains the ledger, the stored settings, all uploaded files, and the active index if that
    is in the data folder, but no encryption key. `on_progress` follows the copying of the ledger.

    Raises:
        BusyError: Another backup is running, or the index is being replaced or written to.
        StorageError: The ledger or a file can't be copied.
    """
    working = data_dir / WORKING_FOLDER
    with writer_lock(working, timeout_s=0):
        copy = working / "copy"
        try:
            with _ledger_errors(), _file_errors(data_dir):
                if copy.exists():  # left by a killed process
                    shutil.rmtree(copy)
                copy.mkdir()
                require_free_space(copy, _copy_bytes(data_dir, ledger, copy), growth=1)
                _copy_library(data_dir, ledger, copy, on_progress)
            yield copy
        finally:
            shutil.rmtree(copy, ignore_errors=True)


def _copy_bytes(data_dir: Path, ledger: Path, copy: Path) -> int:
    """The size of the files that are copied instead of linked, or a little more."""
    files = [ledger, ledger.with_name(f"{ledger.name}-wal")]
    for folder in (data_dir / INDEXES, data_dir / UPLOADS):
        if not _can_link(folder, copy):
            files += files_below(folder)
    return sum(_size(file) for file in files)


def _can_link(folder: Path, copy: Path) -> bool:
    """Whether the files of the folder can be linked to the copy; tries it with one of them."""
    probe = copy / ".probe"
    try:
        for file in files_below(folder):
            os.link(file, probe)
            probe.unlink()
            break
    except FileNotFoundError:  # deleted meanwhile
        return True
    except OSError:
        return False
    return True


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # deleted meanwhile
        return 0


def _copy_library(data_dir: Path, ledger: Path, copy: Path, on_progress: OnProgress) -> None:
    with closing(_connect(ledger)) as snapshot, closing(_connect(ledger)) as current:
        earlier = _link_uploads(data_dir, copy)
        _copy_index(snapshot, current, data_dir, copy)
        deleted = earlier - _link_uploads(data_dir, copy)
        for name in deleted - _imported_uploads(snapshot):
            (copy / name).unlink(missing_ok=True)
        _copy_ledger(snapshot, copy / FILE, on_progress)
    with suppress(FileNotFoundError):
        shutil.copy2(data_dir / SETTINGS_FILE, copy / SETTINGS_FILE)


def _connect(ledger: Path) -> sqlite3.Connection:
    uri = f"{ledger.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, isolation_level=None)


def _link_uploads(data_dir: Path, copy: Path) -> set[str]:
    """Copy the uploaded files, replacing older copies, and return their paths.

    Files that are deleted meanwhile are not among them.
    """
    names = set()
    for path in files_below(data_dir / UPLOADS):
        if path.name.startswith(".") or path.is_symlink():  # incomplete, or not an upload
            continue
        name = path.relative_to(data_dir).as_posix()
        with suppress(FileNotFoundError):
            _link(path, copy / name)
            names.add(name)
    return names


def _imported_uploads(snapshot: sqlite3.Connection) -> set[str]:
    """The paths of the uploaded files whose documents are in the ledger."""
    rows = snapshot.execute(
        "SELECT sources.location || '/' || documents.key"
        " FROM sources JOIN documents ON source_id = sources.id WHERE kind = 'upload'"
    )
    return {path for (path,) in rows}


def _copy_index(
    snapshot: sqlite3.Connection, current: sqlite3.Connection, data_dir: Path, copy: Path
) -> None:
    """Begin the snapshot of the ledger, and copy the index that is active in it."""
    for _attempt in range(_ATTEMPTS):
        index = _active_index(current)
        folder = Path(INDEXES, index)
        shutil.rmtree(copy / folder, ignore_errors=True)
        with ExitStack() as locks:
            if index and (data_dir / folder).is_dir():
                for store in _STORES:
                    locks.enter_context(writer_lock(data_dir / folder / store))
            snapshot.execute("BEGIN")
            is_same = _active_index(snapshot) == index
            with suppress(FileNotFoundError):  # a reindex has just deleted it
                for store in _STORES:
                    _link_store(data_dir / folder / store, copy / folder / store)
                # A reindex deletes the index only after it has activated another one.
                if is_same and _active_index(current) == index:
                    return
        snapshot.execute("ROLLBACK")
    raise BusyError(
        _("The index was replaced repeatedly during the backup: try again in a moment.")
    )


def _active_index(connection: sqlite3.Connection) -> str:
    """The id of the active index; "" if there is none."""
    row = connection.execute("SELECT id FROM indexes WHERE state = 'active'").fetchone()
    return "" if row is None else str(row[0])


def _link_store(store: Path, copy: Path) -> None:
    unchanging = _unchanging_files(store)
    for path in files_below(store):
        if path.name.endswith(_UNUSED):
            continue
        name = path.relative_to(store).as_posix()
        if name in unchanging:
            _link(path, copy / name)
        else:
            _copy(path, copy / name)


def _unchanging_files(store: Path) -> Collection[str]:
    try:
        file_list = read_list(store)
    except (ValueError, LookupError, TypeError):  # damaged: `check` reports it after restoring
        return ()
    return () if file_list is None else file_list.files.keys()


def _link(path: Path, copy: Path) -> None:
    """Link the file, or copy it if the file system has no links, unless the copy is current."""
    if copy.exists() and _stamp(copy) == _stamp(path):
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)  # it may be a link to an upload, which must not be overwritten
    try:
        os.link(path, copy)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(path, copy)


def _copy(path: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, copy)


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


def _copy_ledger(snapshot: sqlite3.Connection, file: Path, on_progress: OnProgress) -> None:
    def report(_status: int, remaining: int, total: int) -> None:
        on_progress(Progress(Stage.READING, total - remaining, total, FILE))

    with closing(sqlite3.connect(file)) as copy, copy:
        snapshot.backup(copy, pages=_PAGES, progress=report)
        # The copy has only the active index, so an unfinished one can't be continued.
        copy.execute("UPDATE indexes SET state = 'retired' WHERE state = 'building'")
        _rename_remote_indexes(copy)


def _rename_remote_indexes(copy: sqlite3.Connection) -> None:
    """Give indexes on a cluster other ids: they belong to the original, which may still use them.

    A restored library finds no index on the cluster until it is reindexed, and deletes none.
    """
    query = (
        "SELECT id FROM indexes"
        " WHERE CASE WHEN json_valid(spec) THEN json_extract(spec, '$.engine') = 'opensearch' END"
    )
    for (index,) in copy.execute(query).fetchall():
        ids = (uuid.uuid4().hex, index)
        copy.execute("UPDATE indexes SET id = ? WHERE id = ?", ids)
        copy.execute("UPDATE passages SET index_id = ? WHERE index_id = ?", ids)
        copy.execute("UPDATE discarded_passages SET index_id = ? WHERE index_id = ?", ids)


_COUNTS = {
    "sources": "SELECT count(*) FROM sources",
    "documents": "SELECT count(*) FROM documents",
    "passages": "SELECT count(*) FROM passages JOIN indexes ON index_id = indexes.id"
    " WHERE state = 'active'",
    "conversations": "SELECT count(*) FROM conversations",
}


def ledger_facts(copy: Path) -> tuple[str, dict[str, int]]:
    """The migration of a copied ledger, and the numbers of its sources, documents, and so on.

    Raises:
        StorageError: The ledger can't be read.
    """
    with _ledger_errors(), closing(sqlite3.connect(copy / FILE)) as ledger:
        (schema,) = ledger.execute("SELECT version_num FROM alembic_version").fetchone()
        counts = {name: ledger.execute(query).fetchone()[0] for name, query in _COUNTS.items()}
        return schema, counts


@contextmanager
def _ledger_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            _(
                "The ledger can't be copied ({reason}): check it with `python cli.py check`, and"
                " that the disk of the data folder has free space."
            ).format(reason=error)
        ) from error


@contextmanager
def _file_errors(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            _(
                "{file} can't be copied for the backup ({reason}): check that the user who runs"
                " Footnote can read and write everything in the data folder, and that its disk has"
                " free space."
            ).format(file=error.filename or data_dir, reason=error.strerror or error)
        ) from error
