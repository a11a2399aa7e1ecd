"""Backs up a library while it is in use, and restores backups."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from domain import Action, Principal, Progress, Role
from domain.errors import ConflictError
from domain.logs import elapsed_ms, get_logger
from domain.messages import _
from domain.version import VERSION
from services.access import require_role
from services.audit_service import AuditService
from services.long_work import Cancelled, OnProgress, ignore, never, stop_if
from storage.backups.backup_file import entries_of, write_backup
from storage.backups.library_copy import ledger_facts, library_copy
from storage.backups.library_id import require_library_id
from storage.backups.manifest import Manifest
from storage.backups.restoration import check_backup, restore_backup
from storage.ledger.database import HEAD, ledger_location
from storage.ledger.ledger_check import findings
from storage.ledger.ledger_location import KEY_FILE

__all__ = ["Backup", "BackupService", "Manifest", "check_backup", "restore_backup"]

_log = get_logger("storage")


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written and read back, and its manifest."""

    file: Path
    manifest: Manifest


class BackupService:
    """Backs up the library of one data folder."""

    def __init__(
        self, data_dir: Path, audit: AuditService, database_url: str | None = None
    ) -> None:
        """Create the service; `database_url` is the setting, if the ledger is elsewhere."""
        self.data_dir = data_dir
        self._audit = audit
        self._location = ledger_location(data_dir, database_url)

    @property
    def key_file(self) -> Path | None:
        """The encryption key in the data folder, which backups do not contain; None without one."""
        file = self.data_dir / KEY_FILE
        return file if file.exists() else None

    def back_up(
        self,
        principal: Principal,
        target: Path,
        *,
        is_scheduled: bool = False,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> Backup:
        """Write a backup to the file `target`, or to a new file in the folder `target`.

        The library may be used and imports may run meanwhile; the backup shows one moment.

        Raises:
            ForbiddenError: The principal is not an administrator.
            InputError: The file exists already.
            ConflictError: The ledger is not an SQLite file.
            BusyError: Another backup is running.
            DamagedLedgerError: The ledger is damaged; nothing was written.
            StorageError: The backup can't be written; nothing was left.
            CancelledError: The work was canceled; nothing was left.
        """
        require_role(principal, Role.ADMIN)
        if self._location.file is None:
            raise ConflictError(
                _(
                    "FOOTNOTE_DATABASE_URL is not an SQLite file: back up that database with its"
                    " own tools, such as pg_dump, and then the data folder."
                )
            )

        def report(progress: Progress) -> None:
            stop_if(cancelled)
            on_progress(progress)

        started, created_at = time.perf_counter(), datetime.now(UTC)
        with library_copy(self.data_dir, self._location.file, report) as copy:
            self._require_intact(copy)
            manifest = self._manifest(copy, created_at, is_scheduled)
            file = target / _name(manifest) if target.is_dir() else target
            write_backup(copy, manifest, file, report)
        scheduled = manifest.is_scheduled
        self._audit.record(principal, Action.BACKUP_CREATED, file.name, is_scheduled=scheduled)
        total_ms = elapsed_ms(started)
        _log.info("backup finished", file=str(file), bytes=manifest.size, total_ms=total_ms)
        return Backup(file, manifest)

    def _require_intact(self, copy: Path) -> None:
        if problems := findings(ledger_location(copy), HEAD):
            raise self._location.damage_error(problems[0], problems)

    def _manifest(self, copy: Path, created_at: datetime, is_scheduled: bool) -> Manifest:
        schema, counts = ledger_facts(copy)
        return Manifest(
            created_at=created_at,
            library=require_library_id(self.data_dir),
            is_scheduled=is_scheduled,
            version=VERSION,
            schema=schema,
            counts=counts,
            files=entries_of(copy),
        )


SCHEDULED = "footnote-scheduled-"
"""The beginning of the names of scheduled backups; the time in UTC and `ending` follow."""


def ending(library: str) -> str:
    """The end of the names of the backups of a library, with the first digits of its id."""
    return f"-{library[:8]}.tar.gz"


def _name(manifest: Manifest) -> str:
    prefix = SCHEDULED if manifest.is_scheduled else "footnote-"
    return f"{prefix}{manifest.created_at:%Y-%m-%d-%H%M%S}{ending(manifest.library)}"
