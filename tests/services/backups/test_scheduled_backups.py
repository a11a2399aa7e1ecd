"""Scheduled backups, with a clock that the test sets."""

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from domain import LOCAL_USER
from domain.errors import StorageError
from services.backups import backup_service, scheduled_backups
from services.backups.backup_service import BackupService, check_backup, ending, restore_backup
from services.backups.scheduled_backups import BackupSchedule, ScheduledBackups
from services.import_worker import Worker
from services.long_work import ignore, never
from storage.backups.library_id import library_id
from storage.ledger.database import open_database
from storage.safe_writes import writer_lock
from tests.fakes.audit import audit_of
from tests.fakes.library import Library, filled_library

DAY = timedelta(days=1)


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path / "data", {"leave.md": "New employees get 25 days."})


class Days:
    """A daily schedule that keeps three backups; time passes only in `wait`."""

    def __init__(self, library, folder):
        self.service = BackupService(library.data_dir, library.audit)
        self.schedule = BackupSchedule(folder, DAY, 3)
        self.folder = folder
        self.time = datetime(2026, 11, 1, 9, tzinfo=UTC)
        self.restart()

    def now(self, _zone):
        return self.time

    def restart(self):
        self.backups = ScheduledBackups(self.service, self.schedule)

    def wait(self, days):
        self.time += days * DAY
        self.backups.back_up_if_due(self.time, never)

    def files(self):
        return sorted(self.folder.glob("footnote-scheduled-*.tar.gz"))

    def ending(self):
        return ending(library_id(self.service.data_dir))

    def dates(self):
        return [int(file.name[27:29]) for file in self.files()]


@pytest.fixture
def days(library, tmp_path, monkeypatch):
    (tmp_path / "backups").mkdir()
    days = Days(library, tmp_path / "backups")
    monkeypatch.setattr(backup_service, "datetime", days)
    return days


def test_a_backup_is_made_after_each_interval_and_the_newest_are_kept(days):
    days.wait(0)
    days.wait(0.5)
    assert days.dates() == [1]
    days.wait(0.5)
    assert days.dates() == [1, 2]
    for _day in range(4):
        days.wait(1)
    assert days.dates() == [4, 5, 6]
    assert check_backup(days.files()[-1], ignore).is_scheduled


def test_a_restart_neither_skips_nor_repeats_a_backup(days):
    days.wait(0)
    days.restart()
    days.wait(0.9)
    assert days.dates() == [1]
    days.restart()
    days.wait(0.2)
    assert days.dates() == [1, 2]


def test_only_scheduled_backups_of_this_library_are_deleted(days, tmp_path):
    other = Days(Library(tmp_path / "other"), days.folder)
    others = {
        "by hand": days.service.back_up(LOCAL_USER, days.folder).file,  # creates the id, too
        "not ours": days.folder / f"footnote-scheduled-2026-10-01-090000{days.ending()}",
        "other name": days.folder / "footnote-scheduled-notes.txt",
    }
    others["not ours"].write_bytes(b"not a backup")
    others["other name"].write_text("mine")
    renamed = days.folder / f"footnote-scheduled-2026-10-02-090000{days.ending()}"
    renamed.write_bytes(others["by hand"].read_bytes())
    of_other = other.service.back_up(LOCAL_USER, days.folder, is_scheduled=True).file
    for _day in range(6):
        days.wait(1)
    assert all(file.exists() for file in (*others.values(), renamed, of_other))
    assert len(days.files()) == 3 + 3


def test_two_libraries_of_equal_paths_and_times_can_share_a_folder(days, tmp_path):
    """Two containers may both call their data folder /data."""
    for _day in range(3):
        days.wait(1)
    first, ended = days.files(), days.time
    days.service.data_dir.rename(tmp_path / "other host")
    other = Days(Library(tmp_path / "data"), days.folder)
    days.time -= 3 * DAY
    for _day in range(3):
        days.time += DAY
        other.backups.back_up_if_due(days.time, never)
    assert days.time == ended
    assert len(days.files()) == 3 + 3
    for day in range(1, 4):
        other.backups.back_up_if_due(ended + day * DAY, never)
    assert all(file.exists() for file in first)


def test_a_restored_copy_never_deletes_the_backups_of_the_original(days, tmp_path):
    for _day in range(3):
        days.wait(1)
    originals = days.files()
    restore_backup(originals[-1], tmp_path / "restored", ignore)
    restored = BackupService(tmp_path / "restored", audit_of(open_database(tmp_path / "restored")))
    days.backups = ScheduledBackups(restored, days.schedule)
    for _day in range(4):
        days.wait(1)
    assert all(file.exists() for file in originals)
    assert len(days.files()) == 3 + 3
    assert library_id(tmp_path / "restored") != library_id(tmp_path / "data")


def test_a_damaged_file_in_the_folder_is_reported_and_does_not_stop_the_schedule(days, caplog):
    caplog.set_level("WARNING", "footnote")
    days.wait(0)
    damaged = days.folder / f"footnote-scheduled-2026-10-01-090000{days.ending()}"
    damaged.write_bytes(b"not a backup")
    days.wait(1)
    assert days.dates() == [1, 1, 2]
    assert "backup ignored" in caplog.text
    assert caplog.records[0].fields["file"] == str(damaged)


def test_a_failure_is_logged_and_retried_after_the_interval(days, caplog):
    caplog.set_level("WARNING", "footnote")
    days.wait(0)
    days.folder.rename(days.folder.with_name("unplugged"))
    days.wait(1)
    assert "scheduled backup failed" in caplog.text
    [record] = caplog.records
    assert "(FOOTNOTE_BACKUP_DIR) is missing: create it, or conn" in record.fields["reason"]
    days.folder.with_name("unplugged").rename(days.folder)
    days.wait(0.5)
    assert days.dates() == [1]
    days.wait(0.5)
    assert days.dates() == [1, 3]


def test_a_failed_backup_deletes_no_earlier_one(days, monkeypatch):
    for _day in range(3):
        days.wait(1)

    def fail(*_arguments):
        raise StorageError("the disk is full")

    monkeypatch.setattr(backup_service, "write_backup", fail)
    for _day in range(5):
        days.wait(1)
    assert days.dates() == [2, 3, 4]


def test_an_unexpected_error_does_not_end_the_schedule(days, monkeypatch, caplog):
    with monkeypatch.context() as patched:
        patched.setattr(backup_service, "write_backup", lambda *_: 1 / 0)
        days.wait(0)
    assert "unexpected error in a scheduled backup" in caplog.text
    days.wait(1)
    assert days.dates() == [2]


def test_a_backup_waits_for_another_one_that_is_running(days, library):
    with writer_lock(library.data_dir / ".backup"):
        days.wait(0)
    assert days.dates() == []
    days.wait(0.01)
    assert days.dates() == [1]


def test_backups_that_wait_too_long_are_reported_once(days, library, caplog):
    def overdue():
        return sum(record.msg == "scheduled backup overdue" for record in caplog.records)

    days.wait(0)
    with writer_lock(library.data_dir / ".backup"):
        days.wait(1.9)
        assert overdue() == 0
        days.wait(0.2)
        days.wait(0.2)
    assert overdue() == 1
    days.wait(0.1)
    with writer_lock(library.data_dir / ".backup"):
        days.wait(2.1)
    assert overdue() == 2


def test_a_first_backup_that_waits_too_long_is_reported(days, library, caplog):
    with writer_lock(library.data_dir / ".backup"):
        days.wait(0)
        days.wait(2.1)
    assert "scheduled backup overdue" in caplog.text


def test_after_the_clock_was_set_back_backups_go_on_and_the_new_one_is_kept(days):
    for _day in range(3):
        days.wait(1)
    days.wait(-30)
    assert datetime(2026, 10, 5, 9, tzinfo=UTC) == days.time
    assert [file.name[19:29] for file in days.files()] == ["2026-10-05", "2026-11-03", "2026-11-04"]


def test_a_backup_that_cannot_be_deleted_is_reported(days, monkeypatch, caplog):
    for _day in range(3):
        days.wait(1)

    unlink = Path.unlink

    def refuse(file, **options):
        if file.suffix == ".gz":
            raise PermissionError(13, "Permission denied")
        unlink(file, **options)

    monkeypatch.setattr(Path, "unlink", refuse)
    days.wait(1)
    assert "old backup not deleted" in caplog.text
    assert days.dates()[-1] == 5


def test_parts_that_killed_processes_left_are_deleted_after_a_day(days):
    days.wait(0)
    old = days.folder / f".footnote-scheduled-2026-10-01-090000{days.ending()}.0a.part"
    other = days.folder / ".footnote-scheduled-2026-10-01-090000-00000000.tar.gz.0b.part"
    new = days.folder / f".footnote-scheduled-2026-10-02-090000{days.ending()}.0c.part"
    for part in (old, other, new):
        part.write_text("part")
    for part in (old, other):
        os.utime(part, (1_700_000_000, 1_700_000_000))
    days.wait(1)
    assert (old.exists(), other.exists(), new.exists()) == (False, True, True)


def test_a_canceled_backup_leaves_nothing_and_is_made_at_the_next_start(days):
    days.backups.back_up_if_due(days.time, lambda: True)
    assert list(days.folder.iterdir()) == []
    days.restart()
    days.wait(0)
    assert days.dates() == [1]


def test_a_worker_makes_scheduled_backups_while_it_runs(library, days, monkeypatch):
    monkeypatch.setattr(scheduled_backups, "_CHECK_S", 0.01)
    stop = threading.Event()

    class Stopping(ScheduledBackups):
        def back_up_if_due(self, now, cancelled):
            super().back_up_if_due(now, cancelled)
            stop.set()

    backups = Stopping(days.service, days.schedule)
    sources = SimpleNamespace(refresh_due=lambda *_: None)
    Worker(library.database, None, sources, None, None, None, None, backups).run(stop)
    assert len(days.files()) == 1
