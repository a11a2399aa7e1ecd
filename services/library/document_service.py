"""Lists, inspects, reimports, and removes the library's documents."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from domain import (
    Action,
    DocumentFilter,
    DocumentOrder,
    FailedDocument,
    ImportDay,
    ImportRun,
    ListedDocument,
    Principal,
    SharedPassage,
)
from domain.errors import NotFoundError
from domain.messages import _
from services.access import Access, SourceDocument, by_source
from services.audit_service import AuditService
from services.imports.import_queue import ImportQueue
from services.imports.readable_records import ReadableRecords
from storage.ledger.database import Database
from storage.ledger.document_list_store import DocumentList, Tally
from storage.ledger.document_store import document_id
from storage.ledger.import_store import Failures, import_days
from storage.ledger.index_store import Indexes
from storage.ledger.passage_finder import PassageList
from storage.ledger.source_store import (
    CATALOG_KIND,
    Exclusions,
    StoredSource,
    excluded_keys,
)

if TYPE_CHECKING:  # slow, and not needed to open the page
    from services.sources.upload_service import UploadService


@dataclass(frozen=True, slots=True)
class FailurePage:
    """A page of the documents that could not be read, and their total number.

    `unnamed` is the number of others, which the principal may not read (see `ReadableRecords`).
    """

    failures: tuple[FailedDocument, ...]
    total: int
    unnamed: int = 0


@dataclass(frozen=True)
class FailureService:
    """The failed documents of the sources that the principal manages.

    Those of conversations are not listed or counted: the conversation reports them.
    """

    failures: Failures
    access: Access
    queue: ImportQueue

    def page(self, principal: Principal, *, limit: int = 50, offset: int = 0) -> FailurePage:
        """A page of the failures that are not dismissed, latest first."""
        found = self._identifiers(principal)
        named = self._named(principal, found)
        listed = self.failures.of(named[offset : offset + limit])
        return FailurePage(tuple(listed), len(named), len(found) - len(named))

    def count(self, principal: Principal) -> int:
        """The number of failures that are listed."""
        return len(self.identifiers(principal))

    def identifiers(self, principal: Principal) -> list[SourceDocument]:
        """The source id and key of each failed document that is listed, latest first."""
        return self._named(principal, self._identifiers(principal))

    def _identifiers(self, principal: Principal) -> list[SourceDocument]:
        managed = self.access.managed_sources(principal).values()
        sources = [one.id for one in managed if not one.conversation_id]
        return self.failures.identifiers(sources, self.access.readers(principal))

    def _named(
        self, principal: Principal, documents: Sequence[SourceDocument]
    ) -> list[SourceDocument]:
        unnamed = ReadableRecords(self.access, principal).unnamed(documents)
        return [one for one in documents if one not in unnamed]

    def dismiss(self, principal: Principal, failed: Iterable[SourceDocument]) -> None:
        """Hide failures until the documents fail again."""
        for source_id, keys in by_source(self.access.managed_sources(principal), failed).items():
            self.failures.dismiss(source_id, keys)

    def retry(self, principal: Principal, failed: Iterable[SourceDocument]) -> list[ImportRun]:
        """Queue imports that read these documents again, even if unchanged."""
        keys_of = by_source(self.access.managed_sources(principal), failed)
        return _enqueue(self.queue, principal, keys_of)


DAYS = 90
_UPLOAD = "upload"


@dataclass(frozen=True, slots=True)
class LibrarySource:
    """A source and the number of its documents."""

    id: str
    name: str
    kind: str
    collection: str
    documents: int

    @property
    def is_catalog(self) -> bool:
        """Whether its documents are the places of a catalog."""
        return self.kind == CATALOG_KIND


@dataclass(frozen=True, slots=True)
class Contents:
    """The numbers of documents by source, format, and script.

    `formats` and `scripts` do not count the places of catalogs.
    """

    sources: tuple[LibrarySource, ...]
    formats: Mapping[str, int]
    scripts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of matching documents, and the total number of matches."""

    documents: tuple[ListedDocument, ...]
    total: int


@dataclass(frozen=True)
class DocumentService:
    """The documents of the principal's visible sources."""

    database: Database
    access: Access
    indexes: Indexes
    queue: ImportQueue
    boxes: "UploadService"
    audit: AuditService

    def contents(self, principal: Principal) -> Contents:
        """The possible filter values: sources sorted by name, the rest by frequency.

        Like the list and the other figures, they leave out the files of conversations.
        """
        readable, readers = self.access.own_sources(principal), self.access.readers(principal)
        own = {id_: one for id_, one in readable.items() if not one.conversation_id}
        tallies = [tally for tally in self._list.tallies(readers) if tally.source_id in own]
        of = _sum((tally.source_id, tally) for tally in tallies)
        sources = [
            LibrarySource(one.id, one.name or one.location, one.kind, one.collection, of[one.id])
            for one in own.values()
        ]
        documents = [tally for tally in tallies if not own[tally.source_id].is_catalog]
        return Contents(
            tuple(sources),
            _sum((tally.format, tally) for tally in documents),
            _sum((tally.script, tally) for tally in documents),
        )

    def page(
        self,
        principal: Principal,
        filter_: DocumentFilter,
        order: DocumentOrder = DocumentOrder.TITLE,
        *,
        limit: int = 50,
        offset: int = 0,
    ) -> DocumentPage:
        """A page of matching documents in this order.

        Places of catalogs are listed only if the filter names their source or collection, files of
        conversations only if it names their source.
        """
        narrowed = self._visible_filter(principal, filter_)
        documents = self._list.page(narrowed, order, limit=limit, offset=offset)
        return DocumentPage(tuple(documents), self._list.count(narrowed))

    def ids(self, principal: Principal, filter_: DocumentFilter) -> list[str]:
        """The ids of all documents that `page` lists, unordered."""
        return self._list.ids(self._visible_filter(principal, filter_))

    def get(self, principal: Principal, document_id: str) -> ListedDocument:
        """A document of a visible source; raises NotFoundError if there is none with this id."""
        readable = self.access.readable(principal)  # first, so the time tells nothing either
        matches = self._list.with_ids([document_id])
        if not matches or not readable.includes(matches[0].source_id, document_id):
            raise NotFoundError(
                _(
                    "There is no document {document_id} in the library: search for it by its title."
                ).format(document_id=document_id)
            )
        return matches[0]

    def passages(
        self, principal: Principal, document_id: str, *, limit: int = 20, offset: int = 0
    ) -> list[SharedPassage]:
        """A page of the document's passages in the active index.

        Raises:
            NotFoundError: There is no such document.
        """
        document = self.get(principal, document_id)
        active = self.indexes.active()
        if active is None:
            return []
        passages = PassageList(self.database)
        return passages.page(document.id, active.id, limit=limit, offset=offset)

    def by_passages(self, principal: Principal) -> Mapping[int | None, int]:
        """A histogram of the passages per document, keyed by upper bound in ascending order.

        The last bound is None; empty groups are included. Places of catalogs do not count.
        """
        readers = self.access.readers(principal)
        return self._list.by_passages(self._without_catalogs(principal), readers)

    def import_days(self, principal: Principal, days: int = DAYS) -> Sequence[ImportDay]:
        """The numbers of new, changed, and removed documents per day, oldest day first.

        Places of catalogs do not count.
        """
        since = datetime.now(UTC) - timedelta(days=days)
        own, readers = self._without_catalogs(principal), self.access.readers(principal)
        hidden = self.access.denied(principal).documents
        return import_days(self.database, own, since, readers, hidden)

    def reimport(self, principal: Principal, document_ids: Sequence[str]) -> list[ImportRun]:
        """Queue imports that read these documents again, even if unchanged."""
        return _enqueue(self.queue, principal, self._keys(principal, document_ids))

    def remove(self, principal: Principal, document_ids: Sequence[str]) -> list[ImportRun]:
        """Queue imports that remove these documents.

        Files in upload boxes are deleted. Documents of other sources are excluded from imports
        until they are included again.

        Raises:
            StorageError: A box can't be written.
        """
        keys_of = self._keys(principal, document_ids)
        for source_id, keys in keys_of.items():
            source = self.access.managed_source(principal, source_id)
            if source.kind != _UPLOAD:
                Exclusions(self.database).add(source_id, keys)
                self.audit.record_documents(principal, Action.DOCUMENT_REMOVED, source, keys)
                continue
            for key in keys:
                with suppress(NotFoundError):  # already deleted
                    self.boxes.delete(principal, source_id, key)
        return _enqueue(self.queue, principal, keys_of, confirm_removals=True)

    def excluded(self, principal: Principal) -> list[SourceDocument]:
        """The source id and key of each excluded document."""
        managed, denied = self.access.managed_sources(principal), self.access.denied(principal)
        return [
            (one.id, key)
            for one in managed.values()
            for key in excluded_keys(one.options)
            if document_id(one.id, key) not in denied.documents
        ]

    def include_again(
        self, principal: Principal, identifiers: Iterable[SourceDocument]
    ) -> list[ImportRun]:
        """Include documents again, and queue their imports."""
        keys_of = by_source(self.access.own_sources(principal), identifiers)
        for source_id, keys in keys_of.items():
            source = self.access.managed_source(principal, source_id)
            Exclusions(self.database).remove(source_id, keys)
            self.audit.record_documents(principal, Action.DOCUMENT_RESTORED, source, keys)
        return _enqueue(self.queue, principal, keys_of)

    @property
    def _list(self) -> DocumentList:
        return DocumentList(self.database)

    def _visible_filter(self, principal: Principal, filter_: DocumentFilter) -> DocumentFilter:
        """The filter restricted to visible sources, with collections replaced by their sources."""
        is_named = filter_.sources is not None or bool(filter_.collections)
        readable, hidden, _denied = self.access.readable(principal)
        chosen = [
            one.id
            for one in readable.values()
            if _is_chosen(one, filter_.sources)
            and (not filter_.collections or one.collection in filter_.collections)
            and (is_named or not one.is_catalog)
        ]
        everything = len(chosen) == len(readable) and not hidden
        return replace(
            filter_,
            sources=None if everything else tuple(chosen),
            readers=self.access.readers(principal),
        )

    def _without_catalogs(self, principal: Principal) -> list[str]:
        return [one.id for one in self.access.own_sources(principal).values() if one.is_shared]

    def _keys(self, principal: Principal, document_ids: Sequence[str]) -> dict[str, list[str]]:
        hidden = self.access.denied(principal).documents
        readable = [id_ for id_ in document_ids if id_ not in hidden]
        identifiers = [(one.source_id, one.key) for one in self._list.with_ids(readable)]
        return by_source(self.access.own_sources(principal), identifiers)


def _is_chosen(source: StoredSource, source_ids: Sequence[str] | None) -> bool:
    return not source.conversation_id if source_ids is None else source.id in source_ids


def _enqueue(
    queue: ImportQueue,
    principal: Principal,
    keys_of: Mapping[str, Sequence[str]],
    *,
    confirm_removals: bool = False,
) -> list[ImportRun]:
    """Queue an import of these documents for each source."""
    return [
        queue.enqueue(principal, source_id, keys=keys, confirm_removals=confirm_removals)
        for source_id, keys in keys_of.items()
    ]


def _sum(tallies: Iterable[tuple[str, Tally]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, tally in tallies:
        counts[name] += tally.documents
    return Counter(dict(counts.most_common()))
