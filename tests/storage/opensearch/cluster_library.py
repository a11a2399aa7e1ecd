"""A library on a cluster, its import runs as a worker performs them, and concurrent questions."""

import threading
import time
from contextlib import contextmanager

from sqlalchemy import update

from domain import LOCAL_USER, ImportState
from domain.errors import StorageUnavailableError
from services.imports.import_queue import ImportQueue
from services.imports.import_run import ImportTask
from services.imports.leased_run import LeasedRun
from services.long_work import ignore
from storage.ledger.ledger_tables import ImportRow
from storage.opensearch.connection import SearchUnavailableError
from tests.fakes.library import DictLoader

WORKER = "worker"
EVERYWHERE = "handbook"
"""A word of all documents."""
MORE_THAN_ALL = 9_000


def texts(count, first=0, word="alpha"):
    """Documents of about three passages, which share a word and have words of their own."""
    return {
        f"{n:04}.txt": f"{EVERYWHERE} {word}{n} beta{n} gamma{n} delta{n}. " * 12
        for n in range(first, first + count)
    }


def queued(library):
    """A waiting import of the library's source."""
    return ImportQueue(library.database, library.access, library.audit).enqueue(
        LOCAL_USER, library.source.id
    )


def attempt(library, documents, on_progress=ignore):
    """Perform the waiting import like a worker, without its pause; the error that postponed it."""
    with library.database.write() as session:
        session.execute(update(ImportRow).values(retry_at=None))
    run = library.leases.claim(WORKER)
    leased = LeasedRun(
        library.leases,
        run.id,
        WORKER,
        default_state=ImportState.INTERRUPTED,
        kind=run.kind,
        seconds_before=run.seconds,
        on_progress=on_progress,
    )

    def work(report, cancelled):
        loader = DictLoader(documents)
        task = ImportTask(
            run.id, WORKER, library.source, loader, on_progress=report, cancelled=cancelled
        )
        return library.imports.perform(task)

    try:
        leased.run(work)
    except StorageUnavailableError as error:
        return error
    return None


def keys_with(library, query):
    """The documents that a search by words finds, as far as the ledger has them."""
    ids = [id_ for id_, _ in library.active.words().search(query, MORE_THAN_ALL)]
    found = set(library.documents.of_passages(ids).values())
    return {library.documents.get(document_id).key for document_id in found}


class Questions:
    """Searches without pause, like another process, and checks that each result is complete."""

    def __init__(self, library, unchanged):
        self._library = library
        self._unchanged = unchanged
        self._ended = threading.Event()
        self.successes, self.slowest_s = 0, 0.0
        self.failures = []
        """Pairs of a duration in seconds and a message."""
        self.errors = []

    @contextmanager
    def running(self):
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()

    def _run(self):
        while not self._ended.is_set() and not self.errors:
            began = time.monotonic()
            try:
                self._ask()
                self.successes += 1
                self.slowest_s = max(self.slowest_s, time.monotonic() - began)
            except SearchUnavailableError as error:
                self.failures.append((time.monotonic() - began, str(error)))
                time.sleep(0.1)
            except Exception as error:  # noqa: BLE001  # the test reports it
                self.errors.append(repr(error))

    def _ask(self):
        documents, source = self._library.documents, self._library.source
        versions = documents.versions(source.id)
        expected = {versions[key].document_id for key in versions.keys() & self._unchanged}
        words = self._library.active.words().search(EVERYWHERE, MORE_THAN_ALL)
        found = set(documents.of_passages([id_ for id_, _ in words]).values())
        assert expected <= found, f"{len(expected - found)} documents are missing"

        asked = versions[max(versions.keys() & self._unchanged)]
        passage = documents.passages(asked.document_id, self._library.active.index.id)[0]
        near = self._library.active.passages.similar_ids(passage.text, k=10)
        nearest = documents.hydrate([id_ for id_, _ in near])
        assert asked.document_id in {one.metadata["document_id"] for one in nearest}
