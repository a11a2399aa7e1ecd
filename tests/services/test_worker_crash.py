"""A worker process that is killed with signal 9 in the middle of an import, or told to stop."""

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
    """Starts a worker in a process of its own."""
    started = []

    def worker(*arguments):
        command = [sys.executable, "cli.py", "worker", "--data-dir", str(tmp_path / "data")]
        kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        process = subprocess.Popen([*command, *arguments], cwd=ROOT, env=kept)
        started.append(process)
        return process

    yield worker
    for process in started:
        process.kill()
        process.wait()


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def enqueue(services, folder):
    kind = services.source_kinds.get("directory")
    source = kind.add(LOCAL_USER, {"path": str(folder)}).source
    return services.queue.enqueue(LOCAL_USER, source.id).id


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no signal 9")
def test_killed_in_the_middle_it_is_interrupted_and_the_next_worker_finishes(
    services, folder, worker
):
    job = enqueue(services, folder)
    first = worker("--supervised")
    until(lambda: services.library.status(LOCAL_USER).documents >= 64)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert services.queue.get(LOCAL_USER, job).state is ImportState.INTERRUPTED, "told at once"
    assert services.queue.expects_worker(), "another may be started in its place"
    services.maintenance.recover()
    assert services.queue.get(LOCAL_USER, job).state is ImportState.INTERRUPTED
    before = len(services.imports.report(LOCAL_USER, job).items)
    assert 64 <= before < 150

    second = worker("--supervised")
    done = services.worker.wait(LOCAL_USER, job)
    assert (done.state, done.counts) == (ImportState.COMPLETED, {"new": 150})
    items = services.imports.report(LOCAL_USER, job).items
    assert Counter(item.key for item in items) == Counter(path.name for path in folder.iterdir())
    assert services.maintenance.check(LOCAL_USER).agrees
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    assert not services.queue.expects_worker()


@pytest.mark.slow
def test_cancelled_in_another_process_it_ends_and_keeps_what_it_has(services, tmp_path, worker):
    pages = 1_500  # enough that no machine finishes them before it reads the cancellation
    job = enqueue(services, write_pages(tmp_path / "pages", pages))
    worker()
    until(lambda: services.library.status(LOCAL_USER).documents >= 64)
    services.queue.cancel(LOCAL_USER, job)
    ended = services.worker.wait(LOCAL_USER, job)
    assert ended.state is ImportState.CANCELLED
    assert ended.counts["new"] == services.library.status(LOCAL_USER).documents < pages


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_file_that_takes_minutes_is_left_when_told_to(services, tmp_path, worker, number):
    folder = tmp_path / "slow"
    folder.mkdir()
    slow_pdf(folder / "slow.pdf", lines=100_000)
    job = enqueue(services, folder)
    process = worker()
    until(lambda: is_reading(services, job))
    began = time.monotonic()
    services.queue.cancel(LOCAL_USER, job)
    until(lambda: services.queue.get(LOCAL_USER, job).ended)
    assert time.monotonic() - began < 5, "promised are 2; this machine may be busy"
    assert services.queue.get(LOCAL_USER, job).state is ImportState.CANCELLED

    again = services.queue.enqueue(LOCAL_USER, services.queue.get(LOCAL_USER, job).source_id).id
    until(lambda: is_reading(services, again))
    process.send_signal(number)
    assert process.wait(30) == (-number if number is signal.SIGKILL else 0)
    until(lambda: services.queue.get(LOCAL_USER, again).state is ImportState.INTERRUPTED)
    assert services.maintenance.check(LOCAL_USER).agrees, "and nobody holds the lock"


def is_reading(services, job):
    progress = services.queue.get(LOCAL_USER, job).progress
    return progress is not None and progress.stage is Stage.READING
