"""Real documents behind the library page, with an import queue that records calls."""

from dataclasses import dataclass, field
from types import SimpleNamespace

from sqlalchemy import insert

from errors import NotFoundError
from services.library.document_service import DocumentService, FailureService
from storage.ledger.import_store import Failures
from storage.ledger.ledger_tables import FailureRow
from tests.fakes.library import Library
from tests.pages.conftest import Library as Status


@dataclass
class Queue:
    asked: list = field(default_factory=list)
    error: Exception | None = None
    working: bool = True
    under_way: int = 0

    def enqueue(self, principal, source_id, *, keys=(), confirm_removals=False):
        if self.error:
            raise self.error
        self.asked.append((source_id, sorted(keys), confirm_removals))
        self.under_way += 1

    def current(self, principal):
        return [SimpleNamespace(id=f"i{n}") for n in range(self.under_way)]

    def expects_worker(self):
        return self.working


@dataclass
class Boxes:
    deleted: list = field(default_factory=list)

    def delete(self, principal, source_id, key):
        self.deleted.append(key)
        raise NotFoundError("It is gone already.")


class Services:
    def __init__(self, data_dir):
        self.made = Library(data_dir)
        self.library, self.queue, self.boxes = Status(), Queue(), Boxes()
        made = self.made
        self.documents = DocumentService(
            made.database, made.sources, made.indexes, self.queue, self.boxes
        )
        self.failures = FailureService(Failures(made.database), made.sources, self.queue)

    def warm_up(self):
        pass

    def fail(self, *keys):
        plain = {"version": "1", "formats_version": 1, "source_id": self.made.source.id}
        rows = [{**plain, "key": key, "reason": f"{key} is damaged"} for key in keys]
        with self.made.database.write() as session:
            session.execute(insert(FailureRow), rows)
