"""A worker process that is killed or stopped during an import."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.cancel import slow_pdf
from domain import LOCAL_USER, ImportState, Stage

ROOT = Path(__file__).parents[2]
PAGE = "# Page {n}\n\nThe rule of page {n} is to keep the door shut at all times of the day.\n"


@pytest.fixture
def folder(tmp_path):
    return write_pages(tmp_path / "pages", 150)


def write_pages(folder, count):
    folder.mkdir()
    for n in range(count):
        (folder / f"{n:04}.md").write_text(PAGE.format(n=n), encoding="utf-8")
    return folder


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def worker(services, tmp_path):
    """Function that starts a worker in a separate process."""
    processes = []

    def worker(*arguments):
        command = [sys.executable, "cli.py", "worker", "--data-dir", str(tmp_path / "data")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        process = subprocess.Popen([*command, *arguments], cwd=ROOT, env=environment)
        processes.append(process)
        return process

    yield worker
    for process in processes:
        process.kill()
        process.wait()


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.02)


def enqueue(services, folder):
    kind = services.source_kinds.get("directory")
    source = kind.add(LOCAL_USER, {"path": str(folder)}).source
    return services.queue.enqueue(LOCAL_USER, source.id).id


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no signal 9")
def test_the_import_of_a_killed_worker_is_interrupted_and_resumed_by_the_next(
    services, folder, worker
):
    job = enqueue(services, folder)
    first = worker("--supervised")
    until(lambda: services.library.status(LOCAL_USER).documents >= 64)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert services.queue.get(LOCAL_USER, job).state is ImportState.INTERRUPTED, "immediately"
    assert services.queue.expects_worker(), "the supervisor may restart it"
    services.maintenance.recover()
    assert services.queue.get(LOCAL_USER, job).state is ImportState.INTERRUPTED
    before = len(services.imports.report(LOCAL_USER, job).items)
    assert 64 <= before < 150

    second = worker("--supervised")
    completed = services.worker.wait(LOCAL_USER, job)
    assert (completed.state, completed.counts) == (ImportState.COMPLETED, {"new": 150})
    items = services.imports.report(LOCAL_USER, job).items
    assert Counter(item.key for item in items) == Counter(path.name for path in folder.iterdir())
    assert services.maintenance.check(LOCAL_USER).agrees
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    assert not services.queue.expects_worker()


@pytest.mark.slow
def test_an_import_canceled_by_another_process_stops_and_keeps_its_documents(
    services, tmp_path, worker
):
    pages = 1_500  # enough that no machine finishes them before the cancellation
    job = enqueue(services, write_pages(tmp_path / "pages", pages))
    worker()
    until(lambda: services.library.status(LOCAL_USER).documents >= 64)
    services.queue.cancel(LOCAL_USER, job)
    run = services.worker.wait(LOCAL_USER, job)
    assert run.state is ImportState.CANCELLED
    assert run.counts["new"] == services.library.status(LOCAL_USER).documents < pages


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_worker_reading_a_slow_file_reacts_to_cancellations_and_signals(
    services, tmp_path, worker, number
):
    folder = tmp_path / "slow"
    folder.mkdir()
    slow_pdf(folder / "slow.pdf", lines=100_000)
    job = enqueue(services, folder)
    process = worker()
    until(lambda: is_reading(services, job))
    start = time.monotonic()
    services.queue.cancel(LOCAL_USER, job)
    until(lambda: services.queue.get(LOCAL_USER, job).ended)
    assert time.monotonic() - start < 5, "the documented limit is 2; this machine may be busy"
    assert services.queue.get(LOCAL_USER, job).state is ImportState.CANCELLED

    again = services.queue.enqueue(LOCAL_USER, services.queue.get(LOCAL_USER, job).source_id).id
    until(lambda: is_reading(services, again))
    process.send_signal(number)
    assert process.wait(30) == (-number if number is signal.SIGKILL else 0)
    until(lambda: services.queue.get(LOCAL_USER, again).state is ImportState.INTERRUPTED)
    assert services.maintenance.check(LOCAL_USER).agrees, "and no process holds the lock"


@pytest.mark.slow
def test_worker_processes_import_different_sources_at_the_same_time(services, tmp_path, worker):
    jobs = []
    for name in "ab":
        (tmp_path / name).mkdir()
        slow_pdf(tmp_path / name / "slow.pdf", lines=100_000)
        jobs.append(enqueue(services, tmp_path / name))
    process = worker("--processes", "2")
    until(lambda: all(is_reading(services, job) for job in jobs))
    assert len(services.queue.current(LOCAL_USER)) == 2
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    states = {services.queue.get(LOCAL_USER, job).state for job in jobs}
    assert states == {ImportState.INTERRUPTED}
    assert services.maintenance.check(LOCAL_USER).agrees


def is_reading(services, job):
    progress = services.queue.get(LOCAL_USER, job).progress
    return progress is not None and progress.stage is Stage.READING
