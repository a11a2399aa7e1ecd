"""The lock of a library, between processes and, with PostgreSQL, between machines."""

import subprocess
import sys
import threading

import pytest

from domain.errors import BusyError, StorageUnavailableError
from storage.ledger.database import open_database
from storage.library_lock import LibraryLock
from storage.safe_writes import writer_lock
from tests.fakes.command_line import ROOT
from tests.postgresql.ledgers import LEDGERS, open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")


@pytest.fixture
def lock(tmp_path):
    return LibraryLock(tmp_path, open_ledger(tmp_path))


@pytest.fixture
def elsewhere(tmp_path, lock):
    """The lock of a process on another machine, which shares only the database."""
    if LEDGERS.server is None:
        pytest.skip("only one machine")
    folder = tmp_path / "other machine"
    return LibraryLock(folder, open_database(folder, LEDGERS.url(tmp_path)))


def disconnect():
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname LIKE 'ledger_%'"
    LEDGERS.server.execute(f"SELECT pg_terminate_backend(pid) {others}")


def test_one_process_at_a_time_holds_the_lock(tmp_path, lock):
    other = LibraryLock(tmp_path, open_ledger(tmp_path))
    with lock.hold(0), pytest.raises(BusyError, match="is writing to"), other.hold(0.1):
        pass
    with other.hold(0):
        other.require_held()
    with lock.hold(0), pytest.raises(BusyError), writer_lock(tmp_path, 0):
        pass


def test_the_lock_is_released_after_an_error(lock):
    with pytest.raises(KeyError), lock.hold(0):
        raise KeyError
    with lock.hold(0):
        lock.require_held()


def test_a_wait_ends_when_the_lock_is_released(lock, tmp_path):
    other, held, release = LibraryLock(tmp_path, open_ledger(tmp_path)), [], threading.Event()

    def hold():
        with other.hold(0):
            held.append(True)
            release.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    waits = []
    while not held:
        release.wait(0.01)

    def on_wait():
        waits.append(True)
        release.set()

    with lock.hold(30, on_wait):
        assert waits
    thread.join()


def test_a_wait_ends_with_the_error_of_its_callback(lock, tmp_path):
    def stop():
        raise KeyError

    other = LibraryLock(tmp_path, open_ledger(tmp_path))
    with lock.hold(0), pytest.raises(KeyError), other.hold(30, stop):
        pass
    with other.hold(0):
        other.require_held()


def test_processes_on_other_machines_wait_too(lock, elsewhere):
    with lock.hold(0), pytest.raises(BusyError, match="another machine"), elsewhere.hold(0.1):
        pass
    with elsewhere.hold(0), pytest.raises(BusyError, match="another machine"), lock.hold(0.1):
        pass
    with lock.hold(0):
        lock.require_held()


def test_whoever_waited_in_vain_does_not_keep_the_lock(lock, elsewhere):
    with lock.hold(0), pytest.raises(BusyError), elsewhere.hold(0):
        pass
    with lock.hold(0), pytest.raises(BusyError), elsewhere.hold(0):
        pass


def test_a_holder_notices_that_the_database_has_released_the_lock(lock, elsewhere):
    with lock.hold(0):
        lock.require_held()
        disconnect()
        with elsewhere.hold(10):
            for _ in range(2):  # a new connection does not have the lock
                with pytest.raises(StorageUnavailableError, match="connection that locked"):
                    lock.require_held()
            elsewhere.require_held()
    with lock.hold(10):
        lock.require_held()


KILLED = """
import os, sys
from pathlib import Path
from storage.ledger.database import open_database
from storage.library_lock import LibraryLock
with LibraryLock(Path(sys.argv[1]), open_database(Path(sys.argv[1]), sys.argv[2] or None)).hold(9):
    os._exit(9)
"""


def test_a_killed_process_releases_the_lock(lock, tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path), LEDGERS.url(tmp_path) or ""]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == 9
    with lock.hold(10):
        lock.require_held()
