"""Where the ledger is, and what to say when it can't be used."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from errors import BusyError, DamagedLedgerError, StorageError
from storage.data_folder import found_in
from storage.tables.cells import CellError

FILE = "footnote.db"

_DAMAGED = (
    "malformed",
    "not a database",
    "unsupported file format",
    "no such table",
    "no such column",
    "Could not decode to UTF-8",
)
"""What SQLite says of a file that is not what was written."""

_RESTORE = (
    "To recover, stop Footnote, move footnote.db-wal and footnote.db-shm out of the folder where"
    " there are any, and put back footnote.db from a backup, with its footnote.db-wal if the backup"
    " has one."
)
_SALVAGE = (
    "Without a backup, `sqlite3 footnote.db .recover | sqlite3 recovered.db`, with the sqlite3 tool"
    " of sqlite.org, saves what can still be read: put recovered.db in its place, and"
    " `python cli.py reindex` rebuilds the indexes from it."
)
_BEGIN_AGAIN = (
    "To begin again, move the folder away, or choose another with FOOTNOTE_DATA_DIR, and import"
    " your documents again."
)
_RESTORE_AT_URL = (
    "To recover, stop Footnote, and put the database back from a backup or correct"
    " FOOTNOTE_DATABASE_URL."
)


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """The place of a ledger.

    `url` is FOOTNOTE_DATABASE_URL without its secrets, empty for the ledger of the data folder;
    `file` is None where the ledger is no SQLite file.
    """

    data_dir: Path
    url: str
    file: Path | None

    @property
    def name(self) -> str:
        """What people call it."""
        return self.url or f"the data folder {self.data_dir}"

    @property
    def log(self) -> Path | None:
        """The log of the ledger's last changes, where it has any in it."""
        log = self.file and self.file.with_name(f"{self.file.name}-wal")
        return log if log and log.is_file() and log.stat().st_size else None

    def gone(self) -> StorageError:
        """The file is missing or has no bytes."""
        if self.file is not None and self.file.exists():
            return self._missing(f"The ledger {self.file} is empty.")
        return self._missing(f"The ledger {self.file} is missing.")

    def without_tables(self) -> StorageError:
        """Nothing was ever kept in it."""
        ledger = self.file or self.url
        return self._missing(f"The ledger {ledger} has no tables of Footnote.")

    def without_rows(self) -> StorageError:
        """It was only just begun."""
        ledger = self.file or self.url
        return self._missing(f"The ledger {ledger} lists no source, document or index.")

    def _missing(self, problem: str) -> StorageError:
        pieces = [*found_in(self.data_dir), *([str(self.log)] if self.log else [])]
        found = "; ".join(pieces) or "no index and no uploaded file"
        return StorageError(
            f"{problem} Still there in {self.data_dir}: {found}. Without the ledger that can't be"
            f" used. Nothing was changed. {self._recovery()}"
        )

    def foreign(self, tables: str) -> StorageError:
        """The file is another program's."""
        return StorageError(
            f"{self.file} is not a ledger of Footnote: it has other tables ({tables}). Nothing was"
            f" changed. {self._recovery()}"
        )

    def damaged(self, reason: str, findings: Sequence[str] = ()) -> DamagedLedgerError:
        """The ledger is not what was written."""
        ledger = self.file or self.url
        return DamagedLedgerError(
            f"The ledger {ledger} is damaged ({reason}). `python cli.py check` lists what is"
            f" damaged. {self._recovery(is_there=True)}",
            findings,
        )

    def unreadable(self, reason: str) -> DamagedLedgerError:
        """A row does not hold what Footnote writes."""
        ledger = self.file or self.url
        return DamagedLedgerError(
            f"The ledger {ledger} holds something that can't be read ({reason})."
            f" `python cli.py check` tells whether it is damaged. {self._recovery(is_there=True)}"
        )

    def _recovery(self, *, is_there: bool = False) -> str:
        if self.url:
            return f"{_RESTORE_AT_URL} {_BEGIN_AGAIN}"
        return f"{_RESTORE} {_SALVAGE} {_BEGIN_AGAIN}" if is_there else f"{_RESTORE} {_BEGIN_AGAIN}"

    def unwritable(self, reason: str) -> StorageError:
        """The folder or a file in it is not this user's to write."""
        place = self.name
        return StorageError(
            f"{place} can't be written ({reason}): give the user who runs Footnote the right to"
            " write there, or choose another folder with FOOTNOTE_DATA_DIR"
        )

    def explanation(self, error: SQLAlchemyError) -> StorageError:
        """What a failure of the database means, and what to do."""
        place = self.name
        reason = reason_of(error)
        if "database is locked" in reason:
            return BusyError(f"{place} is being written by another process: try again in a moment")
        if "unable to open" in reason and self._has_gone():
            return self.gone()
        if "readonly" in reason or "unable to open" in reason:
            return self.unwritable(reason)
        if "disk is full" in reason:
            return StorageError(f"{place} has no space left on its disk: free some and try again")
        if any(sign in reason for sign in _DAMAGED):
            return self.damaged(reason)
        return StorageError(f"{place} can't be used ({reason}){_remedy(reason)}")

    def _has_gone(self) -> bool:
        return self.file is not None and self.file.parent.is_dir() and not self.file.exists()


@contextmanager
def explained(place: LedgerPlace) -> Iterator[None]:
    """Every failure of the database inside leaves as a StorageError that says what to do.

    Python's SQLite raises a plain UnicodeDecodeError where its own message quotes damaged text.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise place.explanation(error) from error
    except (CellError, UnicodeDecodeError) as error:
        raise place.unreadable(reason_of(error)) from error


def reason_of(error: Exception) -> str:
    """What the database says, in one line, whatever damaged text it quotes."""
    reason = str(error.orig) if isinstance(error, DatabaseError) else str(error)
    return " ".join(reason.split())


def _remedy(reason: str) -> str:
    if "disk I/O error" in reason:
        return ": check that its disk has room and is sound, then try again"
    return ""
