"""Backs up the library at intervals, and deletes old scheduled backups."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from domain import LOCAL_USER, CancelledError
from domain.errors import AppError, BusyError, StorageError
from domain.logs import get_logger
from domain.messages import _
from services.backups.backup_service import SCHEDULED, BackupService, ending
from services.long_work import Cancelled
from storage.backups.backup_file import read_manifest
from storage.backups.library_id import library_id

_CHECK_S = 10.0
_BUSY = timedelta(minutes=1)
_ABANDONED_S = 24 * 3600
_log = get_logger("storage")


@dataclass(frozen=True, slots=True)
class BackupSchedule:
    """Where and how often to back up, and how many scheduled backups to keep, at least 1."""

    folder: Path
    interval: timedelta
    keep: int


class ScheduledBackups:
    """Performs the backups of a schedule; several processes of a library may do so."""

    def __init__(self, service: BackupService, schedule: BackupSchedule) -> None:
        self._service = service
        self._schedule = schedule
        self._last_check = self._next_check = datetime.min.replace(tzinfo=UTC)
        self._first_check: datetime | None = None
        self._is_overdue = False

    def run(self, ended: threading.Event) -> None:
        """Back up whenever it is due, until `ended` is set, which also cancels a backup."""
        while not ended.wait(_CHECK_S):
            self.back_up_if_due(datetime.now(UTC), ended.is_set)

    def back_up_if_due(self, now: datetime, cancelled: Cancelled) -> None:
        """Back up if the newest scheduled backup is older than the interval.

        A failure is logged; the next attempt follows after another interval.
        """
        if self._last_check <= now < self._next_check:  # otherwise, the clock was set back
            return
        last: datetime | None = None
        self._last_check = now
        self._first_check = self._first_check or now
        interval = self._schedule.interval
        try:
            last = max((at for at, _file in self._backups() if at <= now), default=None)
            if last is None or last + interval <= now:
                self._back_up(cancelled)
                last = now
            self._is_overdue = False
            self._next_check = last + interval
        except CancelledError:
            return
        except BusyError as error:
            self._next_check = now + _BUSY
            _log.debug("scheduled backup waits", reason=str(error))
            self._warn_if_overdue(now, last, error)
        except AppError as error:
            self._next_check = now + interval
            _log.warning("scheduled backup failed", reason=str(error))
        except Exception:  # noqa: BLE001  # a broken backup must not end the schedule
            self._next_check = now + interval
            _log.exception("unexpected error in a scheduled backup")

    def _warn_if_overdue(self, now: datetime, last: datetime | None, error: BusyError) -> None:
        """Warn once if the last backup is older than two intervals.

        Without a backup, count from the first attempt.
        """
        age = now - (last or self._first_check or now)
        if not self._is_overdue and age > 2 * self._schedule.interval:
            self._is_overdue = True
            _log.warning("scheduled backup overdue", reason=str(error))

    def _back_up(self, cancelled: Cancelled) -> None:
        folder = self._schedule.folder
        if not folder.is_dir():  # not created, because the disk that belongs there may be missing
            raise StorageError(
                _(
                    "The folder {folder} (FOOTNOTE_BACKUP_DIR) is missing: create it, or connect"
                    " its disk."
                ).format(folder=folder)
            )
        backup = self._service.back_up(LOCAL_USER, folder, is_scheduled=True, cancelled=cancelled)
        self._delete_old(backup.file)

    def _delete_old(self, newest: Path) -> None:
        """Delete all but the newest scheduled backups of this library, and abandoned parts."""
        older = sorted((one for one in self._backups() if one[1] != newest), reverse=True)
        files = [file for _at, file in older[self._schedule.keep - 1 :]]
        for file in [*files, *self._abandoned_parts()]:
            try:
                file.unlink()
            except OSError as error:
                _log.warning("old backup not deleted", file=str(file), reason=str(error))

    def _backups(self) -> Iterator[tuple[datetime, Path]]:
        """The scheduled backups of this library with their times; other files are ignored."""
        library = library_id(self._service.data_dir)
        for file in self._schedule.folder.glob(f"{SCHEDULED}*{ending(library)}"):
            try:
                manifest = read_manifest(file)
            except AppError as error:  # damaged, or not written by this version
                _log.warning("backup ignored", file=str(file), reason=str(error))
                continue
            if manifest.is_scheduled and manifest.library == library:
                yield manifest.created_at, file

    def _abandoned_parts(self) -> Iterator[Path]:
        """Incomplete files that a killed process left; those of running ones are newer."""
        oldest = time.time() - _ABANDONED_S
        name = f".{SCHEDULED}*{ending(library_id(self._service.data_dir))}"
        for file in self._schedule.folder.glob(f"{name}.*.part"):
            with suppress(FileNotFoundError):
                if file.stat().st_mtime < oldest:
                    yield file
