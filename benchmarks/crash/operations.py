"""The five operations during which a process is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchmarks.crash.clients import Clients
from benchmarks.crash.scene import ATTACHED, ATTACHMENT, Scene, page, perform_queue, texts_in
from benchmarks.crash.witness import Sight
from benchmarks.page_opening import free_port
from bootstrap.services import Services
from domain import LOCAL_USER


@dataclass
class Operation:
    """The work of one process, which may be killed at any moment after it has begun.

    `number` counts the rounds from 0. A round prepares the operation, starts `command` with
    `settings`, kills it, restarts with the same settings, and finishes the operation.
    """

    scene: Scene
    number: int = 0

    name: ClassVar[str] = ""
    begins_empty: ClassVar[bool] = False
    """Whether there is no library before the operation."""
    lasts_s: ClassVar[float] = 0.0
    """How long it takes; 0 if that has to be measured."""

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the process, and of the restart."""
        return {}

    @property
    def command(self) -> list[object]:
        """The arguments of `cli.py`."""
        return ["worker", "--supervised"]

    @property
    def target(self) -> dict[str, str]:
        """The texts of all documents, by file name, when the operation is complete."""
        return texts_in(self.scene.documents) | {ATTACHED: ATTACHMENT}

    def prepare(self) -> None:
        """Put the scene in the state before the operation, and request it."""
        self.scene.reset()

    def request(self, services: Services) -> None:
        """Put the operation into the queue, if it is performed from there."""

    @contextmanager
    def company(self) -> Iterator[None]:
        """What else happens while the process runs."""
        yield

    def phase(self, sight: Sight) -> str:
        """The part of the work in which the process is; "" before it and after it."""
        state, stage = sight.imports[0] if sight.imports else ("", "")
        return stage if state == "running" else ""

    def finish(self, services: Services) -> None:
        """Complete the operation after a restart."""
        perform_queue(services)

    def faults(self, services: Services) -> list[str]:
        """What is wrong after the restart, besides documents and indexes."""
        return [] if self.begins_empty else self.scene.faults(services)


class _FirstImport(Operation):
    """`cli.py import` into a folder without a library, from the creation of the ledger on."""

    name = "import"
    begins_empty = True

    @property
    def command(self) -> list[object]:
        return ["import", self.scene.handbook]

    @property
    def target(self) -> dict[str, str]:
        return texts_in(self.scene.handbook)

    def prepare(self) -> None:
        self.scene.reset()
        self.scene.empty()

    def phase(self, sight: Sight) -> str:
        if sight.has_ledger and not sight.imports:
            return "creating the library"
        return super().phase(sight)

    def finish(self, services: Services) -> None:
        services.directories.import_directory(LOCAL_USER, self.scene.handbook)


class _Edit(Operation):
    """A worker imports a source in which two of three pages have changed, and some are new."""

    name = "edit"

    def prepare(self) -> None:
        self.scene.reset()
        for n in range(self.scene.pages + 10):
            if n % 3 or n >= self.scene.pages:
                file = self.scene.handbook / f"page-{n:03}.md"
                file.write_text(page(n, self.number + 1), encoding="utf-8")
        self.request(self.scene.services())

    def request(self, services: Services) -> None:
        services.sources.refresh(LOCAL_USER, _source_id(services, "handbook"))


class _Deletion(Operation):
    """A worker imports a source without a third of its pages or, in odd rounds, removes one."""

    name = "deletion"

    def prepare(self) -> None:
        self.scene.reset()
        pages = [f"page-{n:03}.md" for n in range(0, self.scene.pages, 3)]
        for file in self._archive_files or [self.scene.handbook / name for name in pages]:
            file.unlink()
        self.request(self.scene.services())

    def request(self, services: Services) -> None:
        if self.number % 2:
            services.sources.delete(LOCAL_USER, _source_id(services, "archive"))
        else:
            services.sources.refresh(LOCAL_USER, _source_id(services, "handbook"))

    @property
    def _archive_files(self) -> list[Path]:
        return list(self.scene.archive.iterdir()) if self.number % 2 else []


class _Reindex(Operation):
    """`cli.py reindex` after the passages' size or, in odd rounds, the embedding has changed."""

    name = "reindex"

    @property
    def settings(self) -> dict[str, object]:
        return {"embedding_model": "another model"} if self.number % 2 else {"passage_chars": 400}

    @property
    def command(self) -> list[object]:
        return ["reindex"]

    def phase(self, sight: Sight) -> str:
        """Building the new index, or deleting the replaced one."""
        return next((state for state in sight.indexes if state != "active"), "")

    def finish(self, services: Services) -> None:
        services.maintenance.reindex(LOCAL_USER)


class _Answers(Operation):
    """The API answers four clients, one question after another."""

    name = "answers"
    lasts_s = 1.0

    @property
    def command(self) -> list[object]:
        return ["api", "--port", self._clients.port]

    def prepare(self) -> None:
        self.scene.reset()
        self._clients = Clients(self.scene.secret, free_port())

    @contextmanager
    def company(self) -> Iterator[None]:
        with self._clients.asking():
            yield

    def phase(self, sight: Sight) -> str:
        return "answering" if "running" in sight.turns else ""

    def finish(self, services: Services) -> None:
        own = self.scene.turns[0].conversation_id
        for conversation in {own, *self._clients.conversations}:
            services.chat.ask(LOCAL_USER, "And the server?", conversation)

    def faults(self, services: Services) -> list[str]:
        return [*super().faults(services), *self._clients.faults(services)]


def _source_id(services: Services, name: str) -> str:
    sources = (status.source for status in services.sources.list(LOCAL_USER))
    return next(source.id for source in sources if source.name == name)


OPERATIONS: tuple[type[Operation], ...] = (_FirstImport, _Edit, _Deletion, _Reindex, _Answers)
