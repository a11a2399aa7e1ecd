"""Fills the disk before each of the five operations, then frees it and checks what is lost.

    python -m benchmarks.crash.full_disk

The library is on a disk of its own in memory (Linux; needs root or `unshare --map-root-user`).
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.crash.operations import OPERATIONS, Operation
from benchmarks.crash.rounds import completion, restart
from benchmarks.crash.scene import ROOT, Scene, close
from benchmarks.crash.witness import Witness
from bootstrap.services import Services
from domain import LOCAL_USER, ImportState
from domain.errors import StorageError
from tests.fakes.library import DEAD
from tests.fakes.openai import serving

LEVELS = (60 * 2**20, 256 * 2**10, 56 * 2**10, 40 * 2**10, 24 * 2**10, 8 * 2**10, 0)
"""Free bytes: too few for the index, an answer, a question, and anything."""
DISK = ("sh", "-c", 'mount -t tmpfs -o size=200m tmpfs "$1" && shift && exec "$@"', "sh")
"""Runs a command with a disk mounted at the first argument, in a mount namespace."""


@dataclass(frozen=True)
class Outcome:
    """An operation on a disk with so many free bytes: `message` is its error, or "" if it worked.

    `faults` are those after the disk was freed.
    """

    operation: str
    free: int
    message: str
    faults: tuple[str, ...]


def namespace() -> list[str]:
    """A command prefix for a mount namespace."""
    mapped = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *mapped, "--mount"]


def outcomes(disk: Path, levels: Sequence[int], *, pages: int, notes: int) -> Iterator[Outcome]:
    """Perform every operation with each number of free bytes on that disk."""
    with serving() as model:
        scene = Scene(disk, model.url, pages=pages, notes=notes)
        scene.prepare()
        for kind in OPERATIONS:
            for number, free in enumerate(levels):
                yield _outcome(kind(scene, number), free)


def _outcome(operation: Operation, free: int) -> Outcome:
    operation.prepare()
    filler = operation.scene.folder / "filler"
    services = operation.scene.services(**operation.settings)
    before = Witness(operation.scene.ledger).look(with_texts=True)
    _fill(filler, free)
    message = _attempt(operation, services)
    operation.scene.services(**operation.settings)  # a start on a full disk recovers what it can
    filler.unlink()
    close(services)
    _end_worker(operation.scene.ledger)
    faults = [*restart(operation, before)]
    if message:
        operation.request(operation.scene.services(**operation.settings))
    return Outcome(operation.name, free, message, (*faults, *completion(operation)))


def _fill(filler: Path, free: int) -> None:
    status = os.statvfs(filler.parent)
    with filler.open("wb") as file:
        if (size := status.f_bavail * status.f_frsize - free) > 0:
            os.posix_fallocate(file.fileno(), 0, size)


def _end_worker(ledger: Path) -> None:
    """Make this process count as ended: it could not record on a full disk how its run ended."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("UPDATE imports SET worker = ? WHERE state = 'running'", (DEAD,))


def _attempt(operation: Operation, services: Services) -> str:
    """The message of the failure; "" if there was none."""
    try:
        operation.finish(services)
    except StorageError as error:
        return str(error)
    sources = services.sources.list(LOCAL_USER)
    runs = [run for one in sources for run in services.queue.history(LOCAL_USER, one.source.id)]
    return next((run.message for run in runs if run.state is ImportState.FAILED), "")


def line_of(one: Outcome) -> str:
    verdict = "; ".join(one.faults) or "nothing lost"
    return f"{one.operation}, {one.free:,} bytes free: {verdict}: {one.message or 'works'}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash.full_disk")
    parser.add_argument("--disk", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.disk is None:
        with tempfile.TemporaryDirectory(prefix="footnote-disk-") as disk:
            again = [sys.executable, "-m", "benchmarks.crash.full_disk", "--disk", disk]
            return subprocess.run([*namespace(), *DISK, disk, *again], cwd=ROOT).returncode
    found = []
    for one in outcomes(options.disk, LEVELS, pages=20, notes=20):
        print(line_of(one), flush=True)
        found.append(one)
    return 1 if any(one.faults for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
