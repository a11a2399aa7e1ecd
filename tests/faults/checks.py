"""What must be true when all faults are healed and no import waits."""

import time
from collections.abc import Iterator, Mapping
from subprocess import CalledProcessError

import httpx

from tests.fakes.page_session import open_start_page
from tests.faults.folders import Folder
from tests.faults.questions import Clients
from tests.faults.topology import Topology
from tests.faults.work import Work

FAILED_SHARE = 0.01
"""Of all questions, at most so many may fail although they are repeated."""
DRAIN_S = 300.0
_ROUNDS = 5
_SHOWN = 5


def settle(topology: Topology, work: Work) -> int:
    """Import everything, and return how many documents were in quarantine.

    A document on which imports crashed twice is read again when it changes, so it is edited.

    Raises:
        TimeoutError: The queue is not empty in time.
    """
    quarantined = 0
    for _ in range(_ROUNDS):
        _request(work)
        _drain(topology)
        failures = [
            (folder, key)
            for folder, source_id in zip(work.folders, work.sources, strict=True)
            for key in topology.commits.failures(source_id)
            if key in folder.texts
        ]
        if not failures:
            break
        quarantined += len(failures)
        for folder, key in failures:
            folder.edit(key)
    return quarantined


def _request(work: Work) -> None:
    deadline = time.monotonic() + DRAIN_S
    while True:
        try:
            return work.request()
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _drain(topology: Topology) -> None:
    deadline = time.monotonic() + DRAIN_S
    while waiting := topology.commits.waiting():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{waiting} imports have not ended after {DRAIN_S} s")
        topology.supervise()
        time.sleep(0.2)


def violations(topology: Topology, work: Work, clients: Clients) -> list[str]:
    """Everything that is not as it must be, described."""
    found = {
        "library": list(_differences(topology, work)),
        "stores": list(_disagreements(topology)),
        "items": topology.commits.repeated_items(),
        "zombies": topology.commits.zombies(),
        "versions": list(_repetitions(topology, work)),
        "answers": list(_lost_answers(topology, clients)),
        "questions": list(_failed_questions(clients)),
        "pages": list(_closed_pages(topology)),
    }
    return [f"{name}: {text}" for name, texts in found.items() for text in _shortened(texts)]


def _shortened(texts: list[str]) -> Iterator[str]:
    yield from texts[:_SHOWN]
    if len(texts) > _SHOWN:
        yield f"and {len(texts) - _SHOWN} more"


def _differences(topology: Topology, work: Work) -> Iterator[str]:
    """Between the folders and the library."""
    for folder, source_id in zip(work.folders, work.sources, strict=True):
        yield from _compared(folder, topology.commits.texts(source_id))


def _compared(folder: Folder, stored: Mapping[str, str]) -> Iterator[str]:
    texts = folder.texts
    for key in sorted(texts.keys() | stored.keys()):
        if key not in stored:
            yield f"{folder.path.name}/{key} is not in the library"
        elif key not in texts:
            yield f"{folder.path.name}/{key} was deleted, but is in the library"
        elif texts[key] != stored[key]:
            yield f"{folder.path.name}/{key} has another text in the library"


def _disagreements(topology: Topology) -> Iterator[str]:
    try:
        topology.containers.run("python", "cli.py", "check")
    except CalledProcessError as error:
        yield f"cli.py check: {error.stdout} {error.stderr}"


def _repetitions(topology: Topology, work: Work) -> Iterator[str]:
    """Versions that were imported twice, or after a newer one."""
    folders = dict(zip(work.sources, work.folders, strict=True))
    editions: dict[tuple[str, str], int] = {}
    for one in topology.commits.versions():
        folder, document = folders[one.source_id], (one.source_id, one.key)
        edition, before = folder.editions[one.version], editions.get(document, 0)
        if edition <= before:
            name = f"edition {edition} of {folder.path.name}/{one.key}"
            yield f"{one.at}: {one.writer} imported {name} after edition {before}"
        editions[document] = edition


def _lost_answers(topology: Topology, clients: Clients) -> Iterator[str]:
    """Answers that a client has received, but that are not stored."""
    stored = topology.commits.answers()
    for question in clients.questions:
        turn = question.turn
        if turn is not None and stored.get(turn["id"]) != turn["answer"]:
            yield f"turn {turn['id']} is not stored as it was returned"


def _failed_questions(clients: Clients) -> Iterator[str]:
    failed = clients.failed()
    if len(failed) > FAILED_SHARE * len(clients.questions):
        yield f"{len(failed)} of {len(clients.questions)} failed"
    for question in failed:
        if not question.failures[-1].startswith("503: "):
            yield f"failed without a clear message: {question.failures[-1]}"
    for question in clients.questions:
        if question.is_wrong:
            yield f"answered without its document: {question.turn and question.turn['answer']}"


def _closed_pages(topology: Topology) -> Iterator[str]:
    for service in topology.of("pages"):
        try:
            open_start_page(service.url.removeprefix("http://"))
        except (OSError, AssertionError) as error:
            yield f"{service.name} does not open: {error}"
