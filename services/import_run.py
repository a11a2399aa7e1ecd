"""One import at work: reads documents, gathers them into batches, writes each batch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from domain import DocumentRef, ImportItem, Outcome, Passage, Skipped
from errors import UnreadableError
from language.script import script_of
from services.import_plan import Plan, failed
from services.index_writer import Entry, IndexWriter
from services.progress import Cancelled, OnProgress, Progress, Stage, stop_if
from storage.documents import KnownVersion, StoredDocument, document_id
from storage.filing import filed
from storage.groups import in_groups
from storage.imports import Failure, Imports
from storage.indexes import IndexSpec
from storage.ledger import Ledger, NewVersion
from storage.sources import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document

_BATCH_PASSAGES = 256
_BATCH_DOCUMENTS = 64
_OF_THE_LEDGER = {"key", "version", "location", "title", "format", "encoding", "pages", "warnings"}


class Loader(Protocol):
    """Lists the documents of a source, and reads one."""

    def list(self) -> Iterable[DocumentRef | Skipped]:
        """Everything the source holds, and what could not be looked at."""

    def read(self, ref: DocumentRef) -> "Document":
        """The document; raises UnreadableError with the reason where it can't be read."""


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
    passages_embedded: int = 0
    _batch: list[NewVersion] = field(default_factory=list)

    def execute(self, plan: Plan, known: Mapping[str, KnownVersion]) -> None:
        """Do what was planned; removals come last, once everything else has succeeded.

        Raises:
            CancelledError: The wish to stop came; what was written until then stays.
        """
        self.imports.forget_failures(self.source.id, plan.forgotten)
        self.imports.add(self.import_id, plan.settled)
        self.items.extend(plan.settled)
        for done, ref in enumerate(plan.to_read):
            stop_if(self.cancelled)
            self._tell(Stage.IMPORTING, done, len(plan.to_read), ref.key)
            self._take(ref, known.get(ref.key))
        self._flush()
        self._tell(Stage.IMPORTING, len(plan.to_read), len(plan.to_read))
        self._remove(plan.gone)

    def _take(self, ref: DocumentRef, known: KnownVersion | None) -> None:
        try:
            document = self.loader.read(ref)
            _refuse_unstorable(document.page_content)
        except UnreadableError as error:
            self._fail(ref, error, has_older=known is not None)
            return
        self._batch.append(self._new_version(ref, document, known))
        passages = sum(len(version.passages) for version in self._batch)
        if passages >= _BATCH_PASSAGES or len(self._batch) >= _BATCH_DOCUMENTS:
            self._flush()

    def _fail(self, ref: DocumentRef, error: UnreadableError, *, has_older: bool) -> None:
        item = failed(ref, str(error), has_older=has_older)
        failure = Failure(ref.version, self.formats_version, str(error))
        # What the operating system refused today it may allow tomorrow, with the same bytes.
        again = isinstance(error.__cause__, OSError) or error.retryable
        self.imports.fail(self.import_id, item, None if again else (self.source.id, ref, failure))
        self.items.append(item)

    def _new_version(
        self, ref: DocumentRef, document: "Document", known: KnownVersion | None
    ) -> NewVersion:
        text = document.page_content
        stored = self._stored(ref, document.metadata, 1 if known is None else known.revision + 1)
        passages = self._split(stored, text)
        counted = replace(
            stored,
            characters=len(text),
            script=script_of(text),
            passages=len(passages),
            longest_passage=max((len(passage.text) for passage in passages), default=0),
        )
        return NewVersion(counted, text, passages, _item(counted, is_new=known is None))

    def _stored(self, ref: DocumentRef, metadata: dict[str, Any], revision: int) -> StoredDocument:
        told = {key: value for key, value in metadata.items() if key not in _OF_THE_LEDGER}
        return StoredDocument(
            id=document_id(self.source.id, ref.key),
            source_id=self.source.id,
            key=ref.key,
            version=metadata.get("version", ref.version),
            formats_version=self.formats_version,
            title=metadata.get("title") or ref.key,
            location=metadata.get("location", ref.location),
            format=metadata.get("format", ""),
            encoding=metadata.get("encoding"),
            pages=tuple((start, page) for start, page in metadata.get("pages", ())),
            warnings=tuple(metadata.get("warnings", ())),
            details=filed(told, self.source.collection, self.source.labels),
            imported_at=datetime.now(UTC),
            revision=revision,
        )

    def _split(self, document: StoredDocument, text: str) -> Sequence[Passage]:
        return split_document(document, text, self.target().spec)

    def _flush(self) -> None:
        versions, self._batch = self._batch, []
        if not versions:
            return
        target = self.target()
        entries = [Entry(v.document, passage) for v in versions for passage in v.passages]
        target.writer.write(
            entries,
            lambda: self.ledger.publish(target.index_id, self.import_id, versions),
            self.cancelled,
        )
        self.passages_embedded += len(entries)
        self.items.extend(version.item for version in versions)

    def _remove(self, gone: Sequence[tuple[str, ImportItem]]) -> None:
        for done, group in enumerate(in_groups(gone)):
            stop_if(self.cancelled)
            self._tell(Stage.REMOVING, done, len(gone))
            self.ledger.remove(self.import_id, group)
            self.target().writer.sweep()
            self.items.extend(item for _, item in group)

    def _tell(self, stage: Stage, done: int, total: int, key: str = "") -> None:
        self.on_progress(Progress(stage, done, total, key, self.passages_embedded))


def _item(document: StoredDocument, *, is_new: bool) -> ImportItem:
    return ImportItem(
        key=document.key,
        location=document.location,
        outcome=Outcome.NEW if is_new else Outcome.CHANGED,
        passages=document.passages,
        pages=len(document.pages),
        characters=document.characters,
    )


def split_document(document: StoredDocument, text: str, spec: IndexSpec) -> list[Passage]:
    """The passages of a document for an index of that spec.

    Their ids follow from its reader's version too: other readers find other text in the same
    bytes.
    """
    from loaders.split import split  # an import that changes nothing must not load it

    return split(
        text,
        document_id=document.id,
        version=f"{document.version}/{document.formats_version}",
        pages=document.pages,
        size=spec.size,
        overlap=spec.overlap,
    )


def _refuse_unstorable(text: str) -> None:
    if "\0" in text:
        raise UnreadableError("it holds NUL characters: probably not a text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError(f"it holds half a character at position {error.start}") from error
