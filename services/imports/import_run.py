"""Executes one import: reads and splits documents, and writes them to the index in batches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain import DocumentRef, ImportItem, ImportReport, ImportState, Outcome, Passage
from domain.errors import SourceUnavailableError, UnreadableError
from domain.language.script import script_of
from domain.messages import _, join_messages
from services.imports.import_forecast import PassageForecast
from services.imports.import_plan import Loader, Plan, failed_item
from services.imports.import_resumption import Quarantine, remaining
from services.imports.import_turn import UNLIMITED, ImportTurn, TurnOverError
from services.imports.index_writer import ActiveIndex, IndexWriter, entries_of
from services.imports.permission_plan import HIDDEN_WORDS, hidden_reason
from services.long_work import Cancelled, OnProgress, Progress, Stage, stop_if
from storage.ledger.database import in_groups
from storage.ledger.document_store import (
    StoredDocument,
    StoredVersion,
    document_id,
    source_metadata,
)
from storage.ledger.import_store import Failure, Imports
from storage.ledger.index_store import IndexSpec
from storage.ledger.ledger import NewVersion
from storage.ledger.source_store import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH_PASSAGES = 256
BATCH_DOCUMENTS = 64
_PROCESSED = {Outcome.NEW, Outcome.CHANGED, Outcome.FAILED}
_OWN_COLUMNS = {"key", "version", "location", "title", "format", "encoding", "pages", "warnings"}


@dataclass(frozen=True, slots=True)
class ImportTask:
    """An import of a source, restricted to the documents with these keys if there are any.

    `worker` holds the lease of the import. Documents with `keys` are read even if unchanged. With
    `confirm_removals`, documents are removed even if most of the source is missing. When its `turn`
    is over, it stops after a document. Documents in `quarantine` are not read.
    """

    import_id: str
    worker: str
    source: StoredSource
    loader: Loader
    keys: Sequence[str] = ()
    confirm_removals: bool = False
    turn: ImportTurn = UNLIMITED
    quarantine: Quarantine = field(default_factory=Quarantine)


@dataclass
class ImportExecution:
    """An import in progress; `items` grows with each outcome.

    At most one batch of documents is in memory, and a batch is stored completely or not at all.
    Interrupting the import loses the work on that batch, but never a document. The lock of the
    library is held only while a batch is written.
    """

    task: ImportTask
    imports: Imports
    active: ActiveIndex
    default_spec: IndexSpec
    formats_version: int
    on_progress: OnProgress
    cancelled: Cancelled
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
        self._read_all(plan.to_read, stored)
        self._current = ""
        self._report(Stage.READING)
        self._remove([*plan.removals, *self._empty_documents])

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
        with self.active.step(self.cancelled):
            return self.active.require_writer(self.default_spec)

    @contextmanager
    def _step(self) -> Iterator[IndexWriter]:
        """Hold the lock of the library, and write to the index that is active now."""
        writer = self._writer
        with self.active.step(self.cancelled):
            self._opened = self.active.current(writer)
            yield self._opened

    def _resume(self, plan: Plan, stored: Mapping[str, StoredVersion]) -> Plan:
        rest = remaining(plan, self.items, stored, self.formats_version)
        self.imports.drop_items(self.task.import_id, sorted(rest.stale_keys))
        self.items = [item for item in self.items if item.key not in rest.stale_keys]
        self._new_before = rest.new_keys
        return rest.plan

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
        stop_if(self.cancelled)
        self._current = ref.name
        self._report(Stage.READING)
        try:
            self.task.quarantine.enter(ref)
            document = self.task.loader.read(ref)
            refuse_unstorable(document.page_content)
        except UnreadableError as error:
            self._fail(ref, error, stored)
            return None
        stop_if(self.cancelled)
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
        vectors = self._writer.embed(entries, self.cancelled, self._report)
        with self._step() as writer:
            writer.write(self.task.import_id, versions, vectors, self.cancelled, self._report)
        self.passages_embedded += sum(version.item.passages for version in versions)
        self.items.extend(version.item for version in versions)

    def _remove(self, removals: Sequence[tuple[str, ImportItem]]) -> None:
        done = 0
        if removals:  # cancellation is possible only until the first removal
            with self._step() as writer:
                writer.load()
        for group in in_groups(removals):
            stop_if(self.cancelled)
            self.on_progress(
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
        self.on_progress(
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


def new_version(
    ref: DocumentRef,
    document: "Document",
    previous: StoredVersion | None,
    source: StoredSource,
    spec: IndexSpec,
    formats_version: int,
    *,
    is_new: bool,
) -> NewVersion:
    """The new version: the document, its passages for an index with this spec, and its item.

    `formats_version` is the version of the readers.
    """
    text, metadata = document.page_content, document.metadata
    own = {key: value for key, value in metadata.items() if key not in _OWN_COLUMNS}
    stored = StoredDocument(
        id=document_id(source.id, ref.key),
        source_id=source.id,
        key=ref.key,
        version=metadata.get("version", ref.version),
        formats_version=formats_version,
        title=metadata.get("title") or ref.key,
        location=metadata.get("location", ref.location),
        format=metadata.get("format", ""),
        encoding=metadata.get("encoding"),
        pages=tuple((start, page) for start, page in metadata.get("pages", ())),
        warnings=tuple(metadata.get("warnings", ())),
        details=source_metadata(own, source.collection, source.labels),
        imported_at=datetime.now(UTC),
        revision=1 if previous is None else previous.revision + 1,
        characters=len(text),
        script=script_of(text),
    )
    passages = split_document(stored, text, spec)
    longest = max((len(passage.text) for passage in passages), default=0)
    stored = replace(stored, passages=len(passages), longest_passage=longest)
    item = _item(stored, hidden_reason(ref), is_new=is_new)
    return NewVersion(stored, text, passages, item, ref.restrictions)


def _item(document: StoredDocument, reason: str, *, is_new: bool) -> ImportItem:
    return ImportItem(
        key=document.key,
        location=document.location,
        outcome=Outcome.NEW if is_new else Outcome.CHANGED,
        reason=reason,
        title=document.title,
        passages=document.passages,
        pages=len(document.pages),
        characters=document.characters,
    )


def split_document(document: StoredDocument, text: str, spec: IndexSpec) -> list[Passage]:
    """The passages of a document for an index with this spec.

    Passage ids also depend on the reader version, because another version may extract different
    text from the same bytes.
    """
    from loaders.split import split  # not needed by an import without changes

    return split(
        text,
        document_id=document.id,
        version=f"{document.version}/{document.formats_version}",
        pages=document.pages,
        size=spec.size,
        overlap=spec.overlap,
    )


def refuse_unstorable(text: str) -> None:
    """Reject text that the ledger can't store.

    Raises:
        UnreadableError: The text can't be stored; the message gives the reason.
    """
    if "\0" in text:
        raise UnreadableError(_("it contains NUL characters and is probably not a text file"))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError(
            _("it contains an unpaired surrogate at position {start}").format(start=error.start)
        ) from error
