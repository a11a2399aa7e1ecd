"""Files a source's documents anew where its collection or labels were changed; embeds nothing."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from domain import Metadata
from services.index_writer import Entry, IndexWriter
from services.open_store import open_store
from services.progress import Cancelled, stop_if
from storage.documents import Documents, KnownVersion
from storage.filing import filed
from storage.groups import in_groups
from storage.index_stores import IndexStores
from storage.indexes import Index, Indexes
from storage.ledger import Ledger
from storage.sources import StoredSource

_DOCUMENTS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Refiling:
    """Brings the passages in the indexes to the collection and labels of their source.

    The indexes first, then the ledger: broken off in between, the next run does it again. Its
    caller holds the data folder's writer lock.
    """

    documents: Documents
    ledger: Ledger
    indexes: Indexes
    stores: IndexStores

    def run(
        self, source: StoredSource, known: Mapping[str, KnownVersion], cancelled: Cancelled
    ) -> None:
        """Rewrite the metadata of those of the source's documents that are filed otherwise.

        Raises:
            CancelledError: The wish to stop came; the next run goes on from there.
        """
        changed = dict(_filed_otherwise(source, known.values()))
        for group in in_groups(list(changed), _DOCUMENTS_AT_ONCE):
            stop_if(cancelled)
            details = {document_id: changed[document_id] for document_id in group}
            for index in self._kept():
                writer = IndexWriter(self.ledger, open_store(self.indexes, self.stores, index))
                writer.refile(self._entries(details, index))
            self.ledger.refile(details)

    def _kept(self) -> list[Index]:
        """The index that answers, and the one that is to take over."""
        return [
            index for index in (self.indexes.active(), self.indexes.building()) if index is not None
        ]

    def _entries(self, details: Mapping[str, Metadata], index: Index) -> list[Entry]:
        return [
            Entry(replace(document, details=details[document.id]), passage)
            for document, passage in self.documents.with_passages(list(details), index.id)
        ]


def _filed_otherwise(
    source: StoredSource, known: Iterable[KnownVersion]
) -> Iterator[tuple[str, Metadata]]:
    for document in known:
        details = filed(document.details, source.collection, source.labels)
        if details != document.details:
            yield document.document_id, details
