"""Moves the ledger to another database, while people read and ask."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from domain import Principal, Role
from domain.logs import elapsed_ms, get_logger
from domain.setting_values import CHANGEABLE
from services.access import require_role
from services.long_work import OnProgress, ignore
from storage.backups.library_id import WORKING_FOLDER, library_id, require_library_id
from storage.ledger.database import Database, ledger_location, open_database
from storage.ledger.ledger_location import LedgerLocation
from storage.ledger.ledger_move import TARGET, LedgerMove
from storage.ledger.secret_store import EncryptionKeys
from storage.library_lock import LibraryLock
from storage.safe_writes import writer_lock
from storage.settings_file import SettingsFile
from storage.settings_table import SettingsTable

_WORKING_FOLDER = ".move"
_LOCK_TIMEOUT_S = 120.0
"""How long to wait for imports and reindexing, which would lose the step they are in."""

_log = get_logger("storage")


@dataclass(frozen=True, slots=True)
class MovedLedger:
    """A ledger that was moved: where it is now, and where it was.

    `rows` is the number of rows by table, empty if an earlier call has moved it.
    """

    place: str
    earlier_place: str
    rows: dict[str, int] = field(default_factory=dict)


class LedgerMigration:
    """Moves the ledger of a data folder from one URL to another; None is the file in the folder."""

    def __init__(self, data_dir: Path, old_url: str | None, new_url: str | None) -> None:
        """Connect to nothing yet.

        Raises:
            ConfigError: A URL names neither an SQLite file nor a PostgreSQL database, or the driver
                is not installed.
        """
        self._data_dir = data_dir
        self._old_url = old_url
        self._new_url = new_url
        self._old = ledger_location(data_dir, old_url)
        self._new = ledger_location(data_dir, new_url, TARGET)

    def is_complete(self, principal: Principal) -> bool:
        """Whether an earlier call has moved the ledger.

        Raises:
            ForbiddenError: The principal is not an administrator.
            StorageError: It was moved to another place, or a database failed.
        """
        require_role(principal, Role.ADMIN)
        with closing(self._move()) as move:
            return move.is_complete()

    def run(self, principal: Principal, on_progress: OnProgress = ignore) -> MovedLedger:
        """Copy the ledger, compare the copy, and make the original refuse changes from then on.

        Until the end, the original stays in use. The end takes as long as reading both ledgers;
        meanwhile, others can read, and wait to write. After an error or a crash, the next call
        resumes the copy.

        Raises:
            ForbiddenError: The principal is not an administrator.
            ConfigError: The settings file is damaged, so it can't be moved to PostgreSQL.
            ConflictError: The new database contains another ledger; it was not changed.
            BusyError: Another call, an import, or a reindex is running.
            DamagedLedgerError: The original is damaged.
            StorageError: A database failed, or the copy differs.
        """
        require_role(principal, Role.ADMIN)
        started = time.perf_counter()
        with (
            writer_lock(self._data_dir / _WORKING_FOLDER, timeout_s=0),
            closing(self._move()) as move,
        ):
            if move.is_complete():
                return MovedLedger(str(self._new.ledger), str(self._old.ledger))
            rows = self._perform(move, on_progress)
        _log.info("ledger moved", rows=sum(rows.values()), total_ms=elapsed_ms(started))
        return MovedLedger(str(self._new.ledger), str(self._old.ledger), rows)

    def _perform(self, move: LedgerMove, on_progress: OnProgress) -> dict[str, int]:
        # Opening the ledger checks it, and updates its tables.
        with closing(open_database(self._data_dir, self._old_url)) as database:
            move.prepare()
            move.copy(on_progress)
            with (
                LibraryLock(self._data_dir, database).hold(_LOCK_TIMEOUT_S),
                _carried_settings(self._data_dir, database, self._old, self._new),
            ):
                move.copy(on_progress)
                return move.finish(on_progress)

    def _move(self) -> LedgerMove:
        return LedgerMove(self._data_dir, self._library(), self._old_url, self._new_url)

    def _library(self) -> str:
        if library := library_id(self._data_dir):
            return library
        with writer_lock(self._data_dir / WORKING_FOLDER):
            return require_library_id(self._data_dir)


@contextmanager
def _carried_settings(
    data_dir: Path, database: Database, old: LedgerLocation, new: LedgerLocation
) -> Iterator[None]:
    """Bring the stored settings to where they belong; nobody changes them during the block.

    On the way to PostgreSQL, they are put into the table of the old ledger, whose rows are copied
    in the block. On the way back, they are put into the file, which is not used before the end.

    Args:
        data_dir: The folder of the settings file.
        database: The old ledger.
        old: Where it is.
        new: Where it will be.

    Raises:
        ConfigError: The settings file is damaged.
        StorageError: The settings can't be read or written.
    """
    keys = EncryptionKeys(data_dir)
    file = SettingsFile(data_dir, keys, CHANGEABLE)
    table = SettingsTable(database, keys, CHANGEABLE)
    with table.locked() if old.is_on_server else file.locked():
        if old.is_on_server and not new.is_on_server:
            file.replace(table.all_entries())
        elif new.is_on_server and not old.is_on_server:
            table.replace(file.all_entries())
        yield
