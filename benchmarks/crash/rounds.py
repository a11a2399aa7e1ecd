"""One round: start a process, kill it, restart, and look for what is lost."""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess

from benchmarks.crash.command import start
from benchmarks.crash.operations import Operation
from benchmarks.crash.scene import QUESTION, Scene, close
from benchmarks.crash.witness import Sight, Witness
from bootstrap import check_ledger
from bootstrap.services import Services
from domain import LOCAL_USER

BEGINS_WITHIN_S = 120.0
_POLL_S = 0.002


@dataclass(frozen=True)
class Round:
    """A kill; `phase` is the work that it interrupted, or "" if there was none."""

    operation: str
    number: int
    moment_s: float
    phase: str
    faults: tuple[str, ...]


def longest(operation: Operation) -> float:
    """How many seconds the operation takes without a kill."""
    operation.prepare()
    witness = Witness(operation.scene.ledger)
    with _process(operation) as process:
        _wait_for_start(operation, witness, process)
        began = time.monotonic()
        while process.is_alive() and operation.phase(witness.look()):
            time.sleep(_POLL_S)
        return time.monotonic() - began


def kills(
    kind: type[Operation], scene: Scene, count: int, seed: int, lasts_s: float
) -> Iterator[Round]:
    """Kill at random moments of the operation, which takes about `lasts_s` seconds.

    The seed decides at which part of that time. The estimate follows the machine, which may become
    faster or slower meanwhile.
    """
    rng = random.Random(f"{seed} {kind.name}")
    for number in range(count):
        part = rng.random()
        one = kill_once(kind(scene, number), part * lasts_s)
        yield one
        if not one.phase:
            lasts_s *= 0.8
        elif part > 0.8:
            lasts_s *= 1.1


def kill_once(operation: Operation, moment_s: float) -> Round:
    """Kill the process so many seconds after the operation began, and check the library."""
    operation.prepare()
    witness = Witness(operation.scene.ledger)
    with _process(operation) as process:
        _wait_for_start(operation, witness, process)
        time.sleep(moment_s)
        before = witness.look(with_texts=True)
        process.kill()
        process.join()
    phase = operation.phase(witness.look())
    faults = [*restart(operation, before), *completion(operation)]
    return Round(operation.name, operation.number, moment_s, phase, tuple(faults))


@contextmanager
def _process(operation: Operation) -> Iterator[ForkServerProcess]:
    scene = operation.scene
    environment = scene.environment(operation.settings)
    process = start(operation.command, scene.folder, environment)
    try:
        with operation.company():
            yield process
            process.kill()
    finally:
        process.kill()
        process.join()


def _wait_for_start(operation: Operation, witness: Witness, process: ForkServerProcess) -> None:
    deadline = time.monotonic() + BEGINS_WITHIN_S
    while not operation.phase(witness.look()):
        if not process.is_alive() or time.monotonic() > deadline:
            raise SystemExit(f"{operation.name}: the process ended or did not begin; see above")
        time.sleep(_POLL_S)


def restart(operation: Operation, before: Sight) -> Iterator[str]:
    """Faults of the library after a start that recovers from the kill."""
    services = operation.scene.services(**operation.settings)
    yield from _disagreements(services)
    yield from lost(before.texts, _texts(operation.scene), operation.target)
    yield from operation.faults(services)
    close(services)


def completion(operation: Operation) -> Iterator[str]:
    """Faults after the next start has completed the operation."""
    scene, target = operation.scene, operation.target
    services = scene.services(**operation.settings)
    operation.finish(services)
    yield from _disagreements(services)
    yield from lost(target, _texts(scene), target)
    if services.maintenance.status(LOCAL_USER).needs_reindex:
        yield "the index does not match the settings"
    if len(list((scene.data_dir / "indexes").iterdir())) > 1:
        yield "a replaced index was not deleted"
    if not services.search.search(LOCAL_USER, QUESTION):
        yield "the search finds nothing"
    services.backups.back_up(LOCAL_USER, scene.backups / f"{operation.name}.tar.gz").file.unlink()
    close(services)


def lost(
    before: Mapping[str, str], found: Mapping[str, str], target: Mapping[str, str]
) -> Iterator[str]:
    """Documents that are neither as another process saw them before the kill nor as intended.

    Documents with the intended text before the kill must still have it.
    """
    for key in sorted({*before, *found, *target}):
        if found.get(key) not in (before.get(key), target.get(key)):
            yield f"document {key} is neither as before the kill nor as intended"


def _disagreements(services: Services) -> Iterator[str]:
    check_ledger(services.parts.settings)
    yield from filter(None, [services.maintenance.status(LOCAL_USER).problem])
    yield from services.maintenance.check(LOCAL_USER).disagreements


def _texts(scene: Scene) -> dict[str, str]:
    return Witness(scene.ledger).look(with_texts=True).texts
