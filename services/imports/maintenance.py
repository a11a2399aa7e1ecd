"""Keeps the library consistent: recovers from crashes, checks it, and rebuilds its index."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain import Passage, Principal, Progress, Role, Stage
from domain.errors import StorageError
from domain.logs import get_logger, milliseconds
from domain.messages import _
from domain.public_messages import message_for_everyone
from services.access import require_role
from services.imports.index_writer import ActiveIndex, Entry, IndexWriter
from services.imports.new_version import split_document
from services.long_work import OnProgress, ignore
from storage.base_store import IndexStore, Inspection
from storage.index_stores import IndexStores, open_store
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import Database
from storage.ledger.document_store import Documents, source_metadata
from storage.ledger.import_leases import ImportLeases
from storage.ledger.index_store import Index, IndexSpec
from storage.ledger.ledger import Ledger
from storage.ledger.source_store import Sources

if TYPE_CHECKING:
    from storage.vectors.passage_vector_store import PassageVectorStore

_log = get_logger("imports")

_BATCH_PASSAGES = 256
_LOCK_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The active index compared to the settings; `active` is None before the first import.

    `problem` describes what could not be repaired when this process started.
    """

    documents: int
    passages: int
    active: Index | None
    configured: IndexSpec
    problem: str = ""

    @property
    def needs_reindex(self) -> bool:
        """Whether the index was built with a model or splitter other than the configured one."""
        return self.active is not None and self.active.fingerprint != self.configured.fingerprint

    @property
    def message(self) -> str:
        """The advice to users; empty if nothing needs to be done."""
        if not self.needs_reindex:
            return ""
        return _(
            "The settings for embedding or splitting, or the contents of an index, have changed"
            " since the index was built. Rebuild it on the settings page, or run `python cli.py"
            " reindex`, to embed {passages} passages again. Until then, the old index stays in use,"
            " with the model it was built with."
        ).format(passages=self.passages)


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """The result of a reindex.

    `problem` is the reason why the alias on the cluster could not be moved, or "".
    """

    passages_embedded: int
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The counts of documents and passages, and a description of each disagreement."""

    documents: int
    passages: int
    disagreements: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the ledger, the vector store, and the keyword index contain the same passages."""
        return not self.disagreements


class MaintenanceService:
    """Operations on the library as a whole."""

    def __init__(self, database: Database, stores: IndexStores, configured: IndexSpec) -> None:
        """Create the service; `configured` is the index that the settings describe."""
        self._stores = stores
        self._configured = configured
        self._documents = Documents(database)
        self._leases = ImportLeases(database)
        self._conversations = Conversations(database)
        self._active = ActiveIndex(database, stores)
        self._indexes = self._active.indexes
        self._sources = Sources(database)
        self._problem: tuple[Index | None, str] = (None, "")  # and the index to which it applies

    def recover(self) -> None:
        """Clean up after a killed process; call it when a process starts.

        Leaves files alone that another process may be writing. An index that can't be opened raises
        no error, so that a reindex can still be started; `status` reports the problem as long as
        that index is active.
        """
        self._conversations.interrupt_running()
        self._leases.interrupt_dead()
        try:
            with self._active.lock.hold(timeout_s=0):
                self._collect_garbage()
                problem = self._active.publish_and_clean_up()
            self._problem = (self._indexes.active(), problem)
        except StorageError as error:
            # A transient error, such as a busy library, is not a problem of this index.
            if error.retryable:
                _log.info("recovery postponed", reason=str(error))
            else:
                self._problem = (self._indexes.active(), message_for_everyone(error))

    def status(self, principal: Principal) -> IndexStatus:  # noqa: ARG002  # every use case takes a principal
        """Whether the index matches the settings."""
        active = self._indexes.active()
        passages = 0 if active is None else self._indexes.passages(active.id)
        index, problem = self._problem
        return IndexStatus(
            self._documents.count(),
            passages,
            active,
            self._configured,
            problem if active == index else "",
        )

    def check(self, principal: Principal) -> CheckReport:
        """Compare the ledger with the active index.

        Raises:
            ForbiddenError: The principal is not an administrator.
            BusyError: An import or a reindex is running.
        """
        require_role(principal, Role.ADMIN)
        with self._active.lock.hold(_LOCK_TIMEOUT_S):
            active = self._indexes.active()
            if active is None:
                return CheckReport(self._documents.count(), 0)
            store = self._stores.open_afresh(active)
            return _check_index(self._documents, self._active.ledger, store)

    def reindex(self, principal: Principal, *, on_progress: OnProgress = ignore) -> ReindexReport:
        """Build an index with the current settings from the stored texts, then activate it.

        The old index stays in use until the new one is complete, and is then deleted; if the
        cluster fails at that moment, at the next start. After an interruption or a crash, the next
        call resumes the unfinished index unless the settings have changed.

        Raises:
            ForbiddenError: The principal is not an administrator.
            BusyError: An import or another reindex is running.
            ModelError: The embedding failed.
            StorageError: The data folder can't be written.
        """
        require_role(principal, Role.ADMIN)
        started = time.monotonic()
        with self._active.lock.hold(_LOCK_TIMEOUT_S):
            writer = self._active.writer_of(self._active.resume_or_create(self._configured))
            embedded = self._fill(writer, on_progress)
            problem = self._active.activate(writer.index)
        seconds = time.monotonic() - started
        _log.info("reindex finished", passages=embedded, total_ms=milliseconds(seconds))
        return ReindexReport(embedded, seconds, problem)

    def _fill(self, writer: IndexWriter, on_progress: OnProgress) -> int:
        """Index all documents that are missing from the index; returns the number of passages."""
        writer.collect_garbage()
        missing = list(self._documents.ids(missing_in=writer.index.id))
        done = embedded = 0
        for documents, entries in self._batches(missing, writer.index.spec):
            if entries:
                writer.add(entries, writer.embed(entries))
            done += documents
            embedded += len(entries)
            on_progress(Progress(Stage.INDEXING, done, len(missing), passages=embedded))
        self._save_categories()
        return embedded

    def _batches(
        self, document_ids: Sequence[str], spec: IndexSpec
    ) -> Iterator[tuple[int, list[Entry]]]:
        documents, entries = 0, list[Entry]()
        for document_id in document_ids:
            entries.extend(self._entries(document_id, spec))
            documents += 1
            if len(entries) >= _BATCH_PASSAGES:
                yield documents, entries
                documents, entries = 0, []
        yield documents, entries

    def _entries(self, document_id: str, spec: IndexSpec) -> list[Entry]:
        document = self._documents.get(document_id)
        if "collection" not in document.details:  # imported before collections existed
            source = self._sources.get(document.source_id)
            details = source_metadata(document.details, source.collection, source.labels)
            document = replace(document, details=details)
        passages = split_document(document, self._documents.text(document_id), spec)
        return [Entry(document, passage) for passage in passages]

    def _save_categories(self) -> None:
        """Store collection and labels of documents that were imported before these existed.

        Call it only at the end; otherwise, the index still in use would never receive them.
        """
        for source in self._sources.list():
            details = {
                version.document_id: source_metadata(
                    version.details, source.collection, source.labels
                )
                for version in self._documents.versions(source.id).values()
                if "collection" not in version.details
            }
            if details:
                self._active.ledger.update_metadata(details)

    def _collect_garbage(self) -> None:
        if active := self._indexes.active():
            store = open_store(self._indexes, self._stores, active)
            store.prepare()  # report damage now, not at the first question
        self._active.collect_garbage()


def _check_index(documents: Documents, ledger: Ledger, store: IndexStore) -> CheckReport:
    """Compare all passages without changing anything. The caller holds the writer lock."""
    index_id = store.index.id
    in_ledger = documents.passage_ids(index_id)
    if in_ledger:
        store.expect_contents()
    parts = store.inspect()
    disagreements = [
        *(found for part in parts for found in _compare_part(part, in_ledger)),
        *(f"passage {id_} is discarded but not deleted" for id_ in ledger.discards(index_id)),
        *_compare_texts(documents, store, readable=not parts[0].damage),
    ]
    # If all parts are missing, they report the same message.
    return CheckReport(documents.count(), len(in_ledger), tuple(dict.fromkeys(disagreements)))


def _compare_part(part: Inspection, in_ledger: set[str]) -> Iterator[str]:
    if part.damage:
        yield from part.damage
        return
    stored = set(part.ids)
    for id_ in sorted(in_ledger - stored):
        yield f"passage {id_} is missing in the {part.name}"
    for id_ in sorted(stored - in_ledger):
        yield f"passage {id_} is in the {part.name} but not in the ledger"
    if len(part.ids) != len(stored):
        yield f"the {part.name} has {len(part.ids) - len(stored)} passages more than once"


def _compare_texts(documents: Documents, store: IndexStore, *, readable: bool) -> Iterator[str]:
    try:
        passages = store.passages if readable else None
        for document_id in documents.ids():
            yield from _compare_document(documents, store.index.id, passages, document_id)
    except StorageError as error:
        yield str(error)


def _compare_document(
    documents: Documents, index_id: str, store: "PassageVectorStore | None", document_id: str
) -> Iterator[str]:
    key, text = documents.get(document_id).key, documents.text(document_id)
    passages = documents.passages(document_id, index_id)
    if text.strip() and not passages:
        yield f"document {key} has no passages"
    ids = [passage.id for passage in passages]
    stored = {one.id: one for one in (store.get_by_ids(ids) if store else ())}
    for passage in passages:
        where = f"passage {passage.id} of {key}"
        if text[passage.start : passage.end] != passage.text:
            yield f"{where} differs from its document at {passage.start}-{passage.end}"
        indexed = stored.get(passage.id)
        if indexed is not None and not _same(indexed.page_content, indexed.metadata, passage):
            yield f"{where} is different in the index"


def _same(text: str, metadata: dict[str, object], passage: Passage) -> bool:
    return text == passage.text and metadata.get("document_id") == passage.document_id
