"""Executes one import: reads and splits documents, and writes them to the index in batches."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from domain import DocumentRef, ImportItem, ImportReport, ImportState, Outcome, Progress, Stage
from domain.errors import SourceUnavailableError, UnreadableError
from domain.messages import _, join_messages
from services.imports.import_forecast import PassageForecast
from services.imports.import_plan import Loader, Plan, failed_item
from services.imports.import_resumption import Quarantine, remaining
from services.imports.import_turn import UNLIMITED, ImportTurn, TurnOverError
from services.imports.index_writer import ActiveIndex, IndexWriter, entries_of
from services.imports.new_version import new_version, refuse_unstorable
from services.imports.permission_plan import HIDDEN_WORDS
from services.imports.shared_reading import BATCH_DOCUMENTS, SharedReading
from services.long_work import Cancelled, OnProgress, ignore, never, stop_if
from storage.ledger.database import Database, in_groups
from storage.ledger.document_store import StoredVersion
from storage.ledger.import_portions import Portion
from storage.ledger.import_store import Failure, Imports
from storage.ledger.index_store import IndexSpec
from storage.ledger.ledger import NewVersion
from storage.ledger.source_store import StoredSource

_BATCH_PASSAGES = 256
_POLL_S = 1.0
_PROCESSED = {Outcome.NEW, Outcome.CHANGED, Outcome.FAILED}


@dataclass(frozen=True, slots=True)
class ImportTask:
    """An import or a dry run of a source, or a part of it that another worker reads.

    `worker` holds the lease; without it, nothing is written. With `keys`, only these documents are
    imported, even if unchanged. With `confirm_removals`, documents are removed even if most of the
    source is missing. When its `turn` is over, the work stops after a document. Documents in
    `quarantine` are not read. `on_progress` receives each stage of each document, and `cancelled`
    returns whether to stop.
    """

    import_id: str
    worker: str
    source: StoredSource
    loader: Loader
    keys: Sequence[str] = ()
    confirm_removals: bool = False
    turn: ImportTurn = UNLIMITED
    quarantine: Quarantine = field(default_factory=Quarantine)
    on_progress: OnProgress = ignore
    cancelled: Cancelled = never


@dataclass
class ImportExecution:
    """An import in progress; `items` grows with each outcome.

    At most one batch of documents is in memory, and a batch is stored completely or not at all.
    Interrupting the import loses the work on that batch, but never a document. The lock of the
    library is held only while a batch is written.
    """

    task: ImportTask
    database: Database
    active: ActiveIndex
    default_spec: IndexSpec
    formats_version: int
    items: list[ImportItem] = field(default_factory=list)
    """Outcomes so far, including those of the execution that this one resumes."""

    passages_embedded: int = 0
    _batch: list[NewVersion] = field(default_factory=list)
    _empty_documents: list[tuple[str, ImportItem]] = field(default_factory=list)
    _new_before: frozenset[str] = frozenset()
    _current: str = ""
    _done: int = 0
    _total: int = 0
    _read_passages: int = 0
    _forecast: PassageForecast = field(default_factory=PassageForecast)
    _opened: IndexWriter | None = None

    def __post_init__(self) -> None:
        self.imports = Imports(self.database)
        self._sharing = SharedReading(self.database, self.task.import_id, self.task.worker)

    def execute(self, plan: Plan, stored: Mapping[str, StoredVersion]) -> None:
        """Carry out the plan; removals come last, after everything else has succeeded.

        Raises:
            CancelledError: The work was canceled; documents already written stay.
            TurnOverError: The turn is over; all documents read so far are written.
            SourceUnavailableError: The source can no longer be reached; all documents read so far
                are written.
            BusyError: Another process writes for a long time, or has rebuilt the index with other
                settings; documents already written stay.
        """
        self.task.turn.end_listing()
        plan = self._resume(plan, stored)
        self.imports.forget_failures(self.task.source.id, plan.resolved)
        self.imports.remember(self.task.source.id, plan.failures)
        self.active.ledger.settle(self.task.import_id, plan.settled, plan.restrictions)
        self._done = sum(item.outcome in _PROCESSED for item in self.items)
        self._total = self._done + len(plan.to_read)
        self.passages_embedded = sum(item.passages for item in self.items)
        self._read_passages = self.passages_embedded
        known = self.imports.passages_of_dry_run(self.task.source.id)
        self._forecast = PassageForecast(plan.to_read, known)
        self.items.extend(plan.settled)
        self.task.quarantine.cover(plan.to_read)
        if self._publish(plan.to_read):
            self._read_with_others(stored)
        else:
            self._read_all(plan.to_read, stored)
        self._current = ""
        self._report(Stage.READING)
        self._remove([*plan.removals, *self._empty_documents])

    def read_portion(self, portion: Portion, stored: Mapping[str, StoredVersion]) -> None:
        """Read documents of another worker's import, and remove those that have become empty.

        Raises:
            CancelledError: The work was canceled, or the import was stopped.
            SourceUnavailableError: See `execute`.
            BusyError: See `execute`.
        """
        self._read_portion(portion, stored)
        self._remove(self._empty_documents)

    def report(self, withheld: int) -> ImportReport:
        """The report of a finished import; `withheld` removals wait for confirmation."""
        state, message = final_state(self.items, withheld)
        task, items = self.task, tuple(self.items)
        return ImportReport(
            task.import_id, task.source.id, state, items, self.passages_embedded, message=message
        )

    @property
    def _writer(self) -> IndexWriter:
        # Not opened before the first document is read: until then there may be no index.
        if self._opened is None:
            self._opened = self.active.writer() or self._first_writer()
        return self._opened

    def _first_writer(self) -> IndexWriter:
        with self.active.step(self.task.cancelled):
            return self.active.require_writer(self.default_spec)

    @contextmanager
    def _step(self) -> Iterator[IndexWriter]:
        """Hold the lock of the library, and write to the index that is active now."""
        writer = self._writer
        with self.active.step(self.task.cancelled):
            self._opened = self.active.current(writer)
            yield self._opened

    def _resume(self, plan: Plan, stored: Mapping[str, StoredVersion]) -> Plan:
        rest = remaining(plan, self.items, stored, self.formats_version)
        self.imports.drop_items(self.task.import_id, sorted(rest.stale_keys))
        self.items = [item for item in self.items if item.key not in rest.stale_keys]
        self._new_before = rest.new_keys
        return rest.plan

    def _publish(self, refs: Sequence[DocumentRef]) -> bool:
        """Share the reading with other workers, if they can, and if no crash must be explained."""
        return (
            self.task.loader.reads_without_listing
            and not self.task.quarantine.careful
            and self._sharing.publish(refs, self._new_before)
        )

    def _read_with_others(self, stored: Mapping[str, StoredVersion]) -> None:
        while not self._sharing.is_complete:
            portion = self._sharing.take()
            if portion is None:
                stop_if(self.task.cancelled)
                time.sleep(_POLL_S)
            else:
                self._read_portion(portion, stored)
                self._sharing.finish(portion)
            self._count_all()
            self._end_turn()
        self.items = list(self.imports.get(self.task.import_id).items)

    def _read_portion(self, portion: Portion, stored: Mapping[str, StoredVersion]) -> None:
        keys = [ref.key for ref in portion.documents] if portion.is_retry else []
        before = self.imports.keys_among(self.task.import_id, keys)
        self._new_before = portion.new_keys
        self._read_all([ref for ref in portion.documents if ref.key not in before], stored)

    def _count_all(self) -> None:
        """Update the progress by what the other workers have done."""
        counts = self.imports.counts(self.task.import_id)
        self._done = sum(counts.get(outcome, 0) for outcome in _PROCESSED)
        self.passages_embedded = self.imports.figures(self.task.import_id).passages
        self._read_passages = self.passages_embedded
        for ref in self._sharing.read_by_others():
            self._forecast.drop(ref)
        self._report(Stage.READING)

    def _read_all(self, refs: Iterable[DocumentRef], stored: Mapping[str, StoredVersion]) -> None:
        try:
            for ref in refs:
                version = self._read(ref, stored.get(ref.key))
                self._note_read(ref, version)
                self._flush_full_batch()
                if version is not None:  # only documents with a text were in a lost batch
                    self.task.quarantine.leave()
                self._done += 1
                self._end_turn()
        except SourceUnavailableError:
            self._flush()  # avoids requesting these documents again
            raise
        self._flush()
        self.task.quarantine.end()

    def _end_turn(self) -> None:
        if self._done < self._total and self.task.turn.is_over():
            self._flush()
            raise TurnOverError

    def _read(self, ref: DocumentRef, stored: StoredVersion | None) -> NewVersion | None:
        """Read a document; None, after recording why, if it can't be read."""
        stop_if(self.task.cancelled)
        self._current = ref.name
        self._report(Stage.READING)
        try:
            self.task.quarantine.enter(ref)
            document = self.task.loader.read(ref)
            refuse_unstorable(document.page_content)
        except UnreadableError as error:
            self._fail(ref, error, stored)
            return None
        stop_if(self.task.cancelled)
        self._report(Stage.SPLITTING)
        is_new = stored is None or ref.key in self._new_before
        spec = self._writer.index.spec
        return new_version(
            ref, document, stored, self.task.source, spec, self.formats_version, is_new=is_new
        )

    def _note_read(self, ref: DocumentRef, version: NewVersion | None) -> None:
        passages = 0 if version is None else len(version.passages)
        self._read_passages += passages
        self._forecast.note(ref, passages)
        if version is not None:
            self._batch.append(version)

    def _flush_full_batch(self) -> None:
        passages = sum(len(version.passages) for version in self._batch)
        documents = 1 if self.task.quarantine.careful else BATCH_DOCUMENTS
        if passages >= _BATCH_PASSAGES or len(self._batch) >= documents:
            self._flush()

    def _fail(self, ref: DocumentRef, error: UnreadableError, stored: StoredVersion | None) -> None:
        item = failed_item(ref, error, stored)
        # The operating system may allow reading the unchanged file later.
        retry = isinstance(error.__cause__, OSError) or error.retryable
        failure = Failure(
            ref.version,
            self.formats_version,
            str(error),
            ref.location,
            retry,
            item.title,
            is_error=item.outcome is Outcome.FAILED,
        )
        if stored is not None and item.outcome is Outcome.REMOVED:
            self.imports.remember(self.task.source.id, {ref.key: failure})
            self._empty_documents.append((stored.document_id, item))
            return
        self.imports.fail(self.task.import_id, self.task.source.id, item, failure)
        self.items.append(item)

    def _flush(self) -> None:
        versions, self._batch = self._batch, []
        if not versions:
            return
        entries = entries_of(versions)
        vectors = self._writer.embed(entries, self.task.cancelled, self._report)
        with self._step() as writer:
            writer.write(self.task.import_id, versions, vectors, self.task.cancelled, self._report)
        self.passages_embedded += sum(version.item.passages for version in versions)
        self.items.extend(version.item for version in versions)

    def _remove(self, removals: Sequence[tuple[str, ImportItem]]) -> None:
        done = 0
        if removals:  # cancellation is possible only until the first removal
            with self._step() as writer:
                writer.load()
        for group in in_groups(removals):
            stop_if(self.task.cancelled)
            self.task.on_progress(
                Progress(Stage.REMOVING, done, len(removals), passages=self.passages_embedded)
            )
            done += len(group)
            with self._step() as writer:
                self.active.ledger.remove(self.task.import_id, group)
                writer.collect_garbage()
            self.items.extend(item for _, item in group)
            if done < len(removals) and self.task.turn.is_over():
                raise TurnOverError

    def _report(self, stage: Stage, part: int = 0, parts: int = 0) -> None:
        embedded = self.passages_embedded + part
        expected = self._read_passages + self._forecast.rest
        self.task.on_progress(
            Progress(
                stage,
                self._done,
                self._total,
                self._current,
                embedded,
                part,
                parts,
                read=self._read_passages,
                expected=expected,
            )
        )


def final_state(items: Sequence[ImportItem], withheld: int) -> tuple[ImportState, str]:
    """The state and message of an import with these outcomes; `withheld` removals wait."""
    failures = sum(item.outcome is Outcome.FAILED for item in items)
    unread = _("{failures} could not be read").format(failures=failures) if failures else ""
    hidden = sum(HIDDEN_WORDS in item.reason for item in items)
    unknown = (
        _("{hidden} are hidden, because their permissions could not be read").format(hidden=hidden)
        if hidden
        else ""
    )
    notices = [one for one in (unread, unknown) if one]
    if withheld:
        withheld_notice = _(
            "{count} documents are missing from the source: more than half of it, or a whole"
            " part of it. None was removed. To remove them, confirm the removal on the import"
            " page, or import again with --confirm-removals"
        ).format(count=withheld)
        return ImportState.NEEDS_CONFIRMATION, join_messages([withheld_notice, *notices])
    state = ImportState.COMPLETED_WITH_ERRORS if notices else ImportState.COMPLETED
    return state, join_messages(notices)
