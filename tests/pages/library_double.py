"""Real documents behind the library page, with an import queue that records calls."""

from dataclasses import dataclass, field
from types import SimpleNamespace

from sqlalchemy import insert

from domain.errors import NotFoundError
from services.library.document_service import DocumentService, FailureService
from storage.ledger.import_store import Failures
from storage.ledger.ledger_tables import FailureRow
from tests.fakes.library import Library
from tests.pages.conftest import Library as Status


@dataclass
class Queue:
    requests: list = field(default_factory=list)
    error: Exception | None = None
    working: bool = True
    running_imports: int = 0

    def enqueue(self, principal, source_id, *, keys=(), confirm_removals=False):
        if self.error:
            raise self.error
        self.requests.append((source_id, sorted(keys), confirm_removals))
        self.running_imports += 1

    def current(self, principal):
        return [SimpleNamespace(id=f"i{n}") for n in range(self.running_imports)]

    def expects_worker(self):
        return self.working


@dataclass
class Boxes:
    deleted: list = field(default_factory=list)

    def delete(self, principal, source_id, key):
        self.deleted.append(key)
        raise NotFoundError("It has already been deleted.")


class Services:
    sign_in = None

    def __init__(self, library: Library):
        self.fake = library
        self.library, self.queue, self.boxes = Status(), Queue(), Boxes()
        fake = self.fake
        self.documents = DocumentService(
            fake.database, fake.access, fake.indexes, self.queue, self.boxes, fake.audit
        )
        self.failures = FailureService(Failures(fake.database), fake.access, self.queue)

    def warm_up(self):
        pass

    def fail(self, *keys):
        plain = {"version": "1", "formats_version": 1, "source_id": self.fake.source.id}
        rows = [{**plain, "key": key, "reason": f"{key} is damaged"} for key in keys]
        with self.fake.database.write() as session:
            session.execute(insert(FailureRow), rows)
