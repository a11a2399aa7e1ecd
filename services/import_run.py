"""One import at work: reads documents, gathers them into batches, writes each batch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from domain import (
    NOTHING_BEFORE,
    Before,
    DocumentRef,
    ImportItem,
    Listed,
    Outcome,
)
from errors import SourceUnavailableError, UnreadableError
from services.going_on import rest_of
from services.import_plan import Plan, failed
from services.index_writer import Entry, IndexWriter
from services.progress import Cancelled, OnProgress, Progress, Stage, stop_if
from services.versions import Versions, refuse_unstorable
from storage.documents import KnownVersion
from storage.groups import in_groups
from storage.imports import Failure, Imports
from storage.indexes import IndexSpec
from storage.ledger import Ledger, NewVersion
from storage.sources import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH_PASSAGES = 256
_BATCH_DOCUMENTS = 64
_WORKED_ON = {Outcome.NEW, Outcome.CHANGED, Outcome.FAILED}


class Loader(Protocol):
    """Lists the documents of a source, and reads one."""

    def list(self, before: Before = NOTHING_BEFORE) -> Iterable[Listed]:
        """Everything the source holds, and what could not be looked at.

        What it held `before` and holds unchanged is listed too, as it was then.

        Raises:
            SourceError: It can't be listed; SourceUnavailableError where it may be in a while.
        """

    def read(self, ref: DocumentRef) -> "Document":
        """The document.

        Raises:
            UnreadableError: With the reason; UnreadableNowError where it may be read next time.
            SourceUnavailableError: The source as a whole can't be reached now.
        """


@dataclass(slots=True)
class Target:
    """The index that an import writes into."""

    writer: IndexWriter
    index_id: str
    spec: IndexSpec


@dataclass(slots=True)
class ImportRun:
    """The state of one import; `items` grow as outcomes are settled.

    At most one batch of documents is in memory, and nothing of a batch is kept before all of it
    is: whoever stops in between loses the work on that batch, never a document.
    """

    import_id: str
    source: StoredSource
    loader: Loader
    ledger: Ledger
    imports: Imports
    target: Callable[[], Target]
    formats_version: int
    on_progress: OnProgress
    cancelled: Cancelled
    items: list[ImportItem] = field(default_factory=list)
    """Outcomes that are settled: of an import that is gone on with, at first those of before."""

    passages_embedded: int = 0
    _batch: list[NewVersion] = field(default_factory=list)
    _emptied: list[tuple[str, ImportItem]] = field(default_factory=list)
    _new_before: frozenset[str] = frozenset()
    _at: str = ""
    _done: int = 0
    _total: int = 0

    def execute(self, plan: Plan, known: Mapping[str, KnownVersion]) -> None:
        """Do what was planned; removals come last, once everything else has succeeded.

        Raises:
            CancelledError: The wish to stop came; what was written until then stays.
            SourceUnavailableError: The source can't be reached any more; all that was read is
                written.
        """
        plan = self._go_on(plan, known)
        self.imports.forget_failures(self.source.id, plan.forgotten)
        self.imports.remember(self.source.id, plan.failures)
        self.imports.add(self.import_id, plan.settled)
        self._done = sum(item.outcome in _WORKED_ON for item in self.items)
        self._total = self._done + len(plan.to_read)
        self.passages_embedded = sum(item.passages for item in self.items)
        self.items.extend(plan.settled)
        self._read(plan.to_read, known)
        self._tell(Stage.READING, "")
        self._remove([*plan.gone, *self._emptied])

    def _go_on(self, plan: Plan, known: Mapping[str, KnownVersion]) -> Plan:
        rest = rest_of(plan, self.items, known, self.formats_version)
        self.imports.drop_items(self.import_id, sorted(rest.again))
        self.items = [item for item in self.items if item.key not in rest.again]
        self._new_before = rest.new
        return rest.plan

    def _read(self, refs: Iterable[DocumentRef], known: Mapping[str, KnownVersion]) -> None:
        try:
            for ref in refs:
                self._take(ref, known.get(ref.key))
                self._done += 1
        except SourceUnavailableError:
            self._flush()  # what was read before need not be asked for again
            raise
        self._flush()

    def _take(self, ref: DocumentRef, known: KnownVersion | None) -> None:
        stop_if(self.cancelled)
        self._at = ref.name
        self._tell(Stage.READING, self._at)
        try:
            document = self.loader.read(ref)
            refuse_unstorable(document.page_content)
        except UnreadableError as error:
            self._fail(ref, error, known)
            return
        stop_if(self.cancelled)
        self._tell(Stage.SPLITTING, self._at)
        is_new = known is None or ref.key in self._new_before
        versions = Versions(self.source, self.formats_version)
        self._batch.append(versions.make(ref, document, known, self.target().spec, is_new=is_new))
        passages = sum(len(version.passages) for version in self._batch)
        if passages >= _BATCH_PASSAGES or len(self._batch) >= _BATCH_DOCUMENTS:
            self._flush()

    def _fail(self, ref: DocumentRef, error: UnreadableError, known: KnownVersion | None) -> None:
        item = failed(ref, error, known)
        # What the operating system refused today it may allow tomorrow, with the same bytes.
        again = isinstance(error.__cause__, OSError) or error.retryable
        failure = Failure(
            ref.version,
            self.formats_version,
            str(error),
            ref.location,
            again,
            item.title,
            is_error=item.outcome is Outcome.FAILED,
        )
        if known is not None and item.outcome is Outcome.GONE:
            self.imports.remember(self.source.id, {ref.key: failure})
            self._emptied.append((known.document_id, item))
            return
        self.imports.fail(self.import_id, self.source.id, item, failure)
        self.items.append(item)

    def _flush(self) -> None:
        versions, self._batch = self._batch, []
        if not versions:
            return
        target = self.target()
        target.writer.write(
            [Entry(v.document, passage) for v in versions for passage in v.passages],
            lambda: self.ledger.publish(target.index_id, self.import_id, versions),
            self.cancelled,
            lambda stage, part, parts: self._tell(stage, self._at, part, parts),
        )
        self.passages_embedded += sum(version.item.passages for version in versions)
        self.items.extend(version.item for version in versions)

    def _remove(self, gone: Sequence[tuple[str, ImportItem]]) -> None:
        done = 0
        if gone:  # before anything is removed, so that it can be left meanwhile
            self.target().writer.load()
        for group in in_groups(gone):
            stop_if(self.cancelled)
            self.on_progress(
                Progress(Stage.REMOVING, done, len(gone), passages=self.passages_embedded)
            )
            done += len(group)
            self.ledger.remove(self.import_id, group)
            self.target().writer.sweep()
            self.items.extend(item for _, item in group)

    def _tell(self, stage: Stage, key: str, part: int = 0, parts: int = 0) -> None:
        embedded = self.passages_embedded + part
        self.on_progress(Progress(stage, self._done, self._total, key, embedded, part, parts))
