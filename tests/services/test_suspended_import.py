"""The process of an import is suspended for longer than its lease, and then continues."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from domain import ImportState
from storage.ledger import import_leases
from tests.fakes.command_line import ROOT
from tests.fakes.library import DictLoader
from tests.fakes.workers import Worker, documents
from tests.postgresql.ledgers import LEDGERS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("ledger_kind"),
    pytest.mark.skipif(os.name == "nt", reason="there is no signal to suspend a process"),
]

WAIT_S = 60

PROGRAM = """
import os, signal, sys, threading
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from storage.ledger import import_leases
from storage.ledger.database import Database, open_database
from tests.fakes import library, workers

folder, url, moment = sys.argv[1:]
import_leases.LEASE = timedelta(seconds=1)
library.open_ledger = lambda data_dir: open_database(data_dir, url or None)
worker = workers.Worker(Path(folder))
worker.library.leases.stop_request = lambda *_: ""  # only the ledger stops it
worker.claim()

writing, write = threading.RLock(), Database.write

@contextmanager
def write_alone(*arguments, **options):
    with writing, write(*arguments, **options) as session:
        yield session

Database.write = write_alone

def suspend_process():
    # Not while the thread that renews the lease writes: nobody else could write to the ledger.
    with writing:
        os.kill(os.getpid(), signal.SIGSTOP)

def suspend(number):
    if moment == f"document {number}":
        suspend_process()

def suspend_at(progress):
    global moment
    if moment == progress.stage:
        moment = ""
        suspend_process()

print(worker.perform(workers.HookedLoader(workers.documents("a"), suspend), suspend_at))
"""


@pytest.fixture
def worker(tmp_path):
    return Worker(tmp_path)


@pytest.fixture
def suspended(tmp_path, worker):
    """Function that performs the import in a process, and returns when it is suspended."""
    processes = []

    def suspended(moment):
        arguments = [str(tmp_path), LEDGERS.url(tmp_path) or "", moment]
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        _pid, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        return process

    yield suspended
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True)
def _short_renewals(monkeypatch):
    monkeypatch.setattr(import_leases, "_RENEWAL_S", 0.5)


def wait_for_expiry(worker):
    deadline = time.monotonic() + WAIT_S
    while not worker.library.leases.interrupt_dead():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def resume(process):
    """Let the process continue, and return the state of the run as it sees it at its end."""
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    return output.strip()


def check(worker):
    report = worker.library.import_store.get(worker.run.id)
    assert Counter(item.key for item in report.items) == Counter(list(documents("a")))
    assert worker.library.check().agrees


@pytest.mark.parametrize("moment", ["document 10", "document 66", "embedding"])
def test_a_process_that_continues_after_its_run_was_completed_writes_nothing(
    worker, suspended, moment
):
    worker.add("a")
    process = suspended(moment)
    wait_for_expiry(worker)
    assert worker.claim()
    assert worker.perform(DictLoader(documents("a"))) is ImportState.COMPLETED
    ids = worker.library.active.passages.ids()
    assert resume(process) == ImportState.COMPLETED
    assert worker.library.active.passages.ids() == ids
    check(worker)


def test_a_process_that_continues_while_another_performs_its_run_writes_nothing(worker, suspended):
    worker.add("a")
    process = suspended("document 66")
    wait_for_expiry(worker)
    assert worker.claim()
    assert resume(process) == ImportState.RUNNING
    assert worker.perform(DictLoader(documents("a"))) is ImportState.COMPLETED
    check(worker)


def test_a_process_that_is_suspended_while_it_writes_commits_nothing_without_its_lease(
    worker, suspended, monkeypatch
):
    monkeypatch.setattr("services.imports.import_service.FIRST_STEP_TIMEOUT_S", 0.1)
    worker.add("a")
    process = suspended("writing")
    wait_for_expiry(worker)
    assert worker.claim()
    state = worker.perform(DictLoader(documents("a")))
    assert state is ImportState.QUEUED, "the suspended process still holds the lock"
    assert resume(process) == ImportState.QUEUED
    assert worker.claim()
    assert worker.perform(DictLoader(documents("a"))) is ImportState.COMPLETED
    check(worker)
