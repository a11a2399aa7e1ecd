"""The library's documents one by one: found, looked into, imported again, taken out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from domain import (
    DocumentFilter,
    DocumentOrder,
    ImportDay,
    ListedDocument,
    Principal,
    QueuedImport,
    SharedPassage,
)
from errors import NotFoundError
from services.own_sources import Named, Queue, by_source, own_sources, sees
from storage.database import Database
from storage.document_list import DocumentList, Tally
from storage.import_days import import_days
from storage.indexes import Indexes
from storage.left_out import LeftOut, left_out_of
from storage.passage_list import PassageList
from storage.sources import Sources

DAYS = 90
_UPLOAD = "upload"


class Boxes(Protocol):
    """The upload boxes."""

    def delete(self, principal: Principal, source_id: str, key: str) -> None:
        """Take a file out of its box; NotFoundError where it is not there."""


@dataclass(frozen=True, slots=True)
class LibrarySource:
    """A source, and how many documents of it the library holds."""

    id: str
    name: str
    kind: str
    collection: str
    documents: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in the library, by source, format and script; each with its documents."""

    sources: tuple[LibrarySource, ...]
    formats: Mapping[str, int]
    scripts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of the documents that match, and how many match in all."""

    documents: tuple[ListedDocument, ...]
    total: int


@dataclass(frozen=True)
class DocumentService:
    """The documents of the sources that the principal may see."""

    database: Database
    sources: Sources
    indexes: Indexes
    queue: Queue
    boxes: Boxes

    def contents(self, principal: Principal) -> Contents:
        """What there is to narrow the list by; sources by name, the rest by frequency."""
        own = own_sources(self.sources, principal)
        tallies = [tally for tally in self._list.tallies() if tally.source_id in own]
        of = _summed((tally.source_id, tally) for tally in tallies)
        sources = (
            LibrarySource(one.id, one.name or one.location, one.kind, one.collection, of[one.id])
            for one in own.values()
        )
        return Contents(
            tuple(sources),
            _summed((tally.format, tally) for tally in tallies),
            _summed((tally.script, tally) for tally in tallies),
        )

    def page(
        self,
        principal: Principal,
        wanted: DocumentFilter,
        order: DocumentOrder = DocumentOrder.TITLE,
        *,
        limit: int = 50,
        offset: int = 0,
    ) -> DocumentPage:
        """`limit` documents that match, after the first `offset` in this order."""
        narrowed = self._narrowed(principal, wanted)
        found = self._list.page(narrowed, order, limit=limit, offset=offset)
        return DocumentPage(tuple(found), self._list.count(narrowed))

    def ids(self, principal: Principal, wanted: DocumentFilter) -> list[str]:
        """The ids of all documents that match, in no order."""
        return self._list.ids(self._narrowed(principal, wanted))

    def get(self, principal: Principal, document_id: str) -> ListedDocument:
        """The document with that id.

        Raises:
            NotFoundError: There is none (any more), or the principal may not see its source.
        """
        found = self._list.named([document_id])
        if not found or not sees(self.sources, principal, found[0].source_id):
            raise NotFoundError(
                f"There is no document {document_id} in the library (any more): look for it by"
                " its title."
            )
        return found[0]

    def passages(
        self, principal: Principal, document_id: str, *, limit: int = 20, offset: int = 0
    ) -> list[SharedPassage]:
        """`limit` passages of the document after the first `offset`, as they are searched now.

        Raises:
            NotFoundError: There is no such document (any more).
        """
        document = self.get(principal, document_id)
        active = self.indexes.active()
        if active is None:
            return []
        listed = PassageList(self.database)
        return listed.page(document.id, active.id, limit=limit, offset=offset)

    def by_passages(self, principal: Principal) -> Mapping[int | None, int]:
        """How many documents have at most so many passages, and more than the bound before.

        Bounds rise; None, the last, is more than all of them. Those without documents are there.
        """
        return self._list.by_passages(list(own_sources(self.sources, principal)))

    def import_days(self, principal: Principal, days: int = DAYS) -> Sequence[ImportDay]:
        """What the imports of the last days found new, changed and gone, oldest day first."""
        since = datetime.now(UTC) - timedelta(days=days)
        return import_days(self.database, list(own_sources(self.sources, principal)), since)

    def reimport(self, principal: Principal, document_ids: Sequence[str]) -> list[QueuedImport]:
        """Have these documents read again, changed or not; the imports that will do it."""
        return [
            self.queue.enqueue(principal, source_id, keys=keys)
            for source_id, keys in self._keys(principal, document_ids).items()
        ]

    def remove(self, principal: Principal, document_ids: Sequence[str]) -> list[QueuedImport]:
        """Take these documents out of the library; the imports that will do it.

        Files in upload boxes are deleted. Elsewhere nothing is touched: the source leaves the
        document out of its imports, until it is taken back.

        Raises:
            StorageError: A box can't be written.
        """
        kinds = {one.id: one.kind for one in self.sources.list()}
        keys_of = self._keys(principal, document_ids)
        for source_id, keys in keys_of.items():
            if kinds[source_id] == _UPLOAD:
                self._delete_files(principal, source_id, keys)
            else:
                LeftOut(self.database).add(source_id, keys)
        return [
            self.queue.enqueue(principal, source_id, keys=keys, confirm_removals=True)
            for source_id, keys in keys_of.items()
        ]

    def left_out(self, principal: Principal) -> list[Named]:
        """What sources leave out because a person said so: source id and key, by source."""
        own = own_sources(self.sources, principal)
        return [(one.id, key) for one in own.values() for key in left_out_of(one.options)]

    def take_back(self, principal: Principal, named: Iterable[Named]) -> list[QueuedImport]:
        """Let these documents be imported again; the imports that will do it."""
        keys_of = by_source(own_sources(self.sources, principal), named)
        for source_id, keys in keys_of.items():
            LeftOut(self.database).remove(source_id, keys)
        return [
            self.queue.enqueue(principal, source_id, keys=keys)
            for source_id, keys in keys_of.items()
        ]

    @property
    def _list(self) -> DocumentList:
        return DocumentList(self.database)

    def _narrowed(self, principal: Principal, wanted: DocumentFilter) -> DocumentFilter:
        """The filter with its collections as sources, and only those that may be seen."""
        chosen = [
            one.id
            for one in own_sources(self.sources, principal).values()
            if (wanted.sources is None or one.id in wanted.sources)
            and (not wanted.collections or one.collection in wanted.collections)
        ]
        everything = len(chosen) == len(self.sources.list())
        return replace(wanted, sources=None if everything else tuple(chosen))

    def _keys(self, principal: Principal, document_ids: Sequence[str]) -> dict[str, list[str]]:
        named = [(one.source_id, one.key) for one in self._list.named(document_ids)]
        return by_source(own_sources(self.sources, principal), named)

    def _delete_files(self, principal: Principal, source_id: str, keys: Iterable[str]) -> None:
        for key in keys:
            with suppress(NotFoundError):  # gone from its box already, as it should be
                self.boxes.delete(principal, source_id, key)


def _summed(tallies: Iterable[tuple[str, Tally]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for name, tally in tallies:
        counted[name] += tally.documents
    return Counter(dict(counted.most_common()))
