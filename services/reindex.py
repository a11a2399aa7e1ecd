"""Builds an index anew from the documents' texts, while the old one goes on answering."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.index_writer import Entry, IndexWriter
from services.progress import Cancelled, OnProgress, Progress, Stage, stop_if
from services.versions import split_document
from storage.documents import Documents, StoredDocument
from storage.filing import filed
from storage.index_stores import IndexStore
from storage.ledger import Ledger
from storage.sources import Sources

_BATCH_PASSAGES = 256


class IndexBuilder:
    """Fills one building index with every document that it lacks."""

    def __init__(
        self,
        documents: Documents,
        sources: Sources,
        ledger: Ledger,
        index: IndexStore,
        on_progress: OnProgress,
        cancelled: Cancelled,
    ) -> None:
        self._documents = documents
        self._sources = sources
        self._ledger = ledger
        self._index = index
        self._writer = IndexWriter(ledger, index)
        self._on_progress = on_progress
        self._cancelled = cancelled
        self.passages_embedded = 0

    def fill(self) -> None:
        """Embed what is missing, batch by batch; a later call goes on where this one stopped.

        Raises:
            CancelledError: The wish to stop came; what was embedded until then stays.
        """
        self._writer.sweep()
        missing = list(self._documents.ids(missing_in=self._index.index.id))
        done = 0
        for batch, entries in self._batches(missing):
            self._write(entries)
            done += batch
            self._tell(done, len(missing))
        self._note_filing()

    def _batches(self, document_ids: Sequence[str]) -> Iterator[tuple[int, list[Entry]]]:
        documents, entries = 0, []
        for document_id in document_ids:
            stop_if(self._cancelled)
            entries.extend(self._entries(document_id))
            documents += 1
            if len(entries) >= _BATCH_PASSAGES:
                yield documents, entries
                documents, entries = 0, []
        yield documents, entries

    def _entries(self, document_id: str) -> list[Entry]:
        document = self._documents.get(document_id)
        if "collection" not in document.details:  # imported before there were any
            document = self._filed(document)
        text = self._documents.text(document_id)
        passages = split_document(document, text, self._index.index.spec)
        return [Entry(document, passage) for passage in passages]

    def _filed(self, document: StoredDocument) -> StoredDocument:
        source = self._sources.get(document.source_id)
        return replace(document, details=filed(document.details, source.collection, source.labels))

    def _note_filing(self) -> None:
        """Not before the end: noted as filed, the index that answers now would never be."""
        for source in self._sources.list():
            details = {
                known.document_id: filed(known.details, source.collection, source.labels)
                for known in self._documents.known(source.id).values()
                if "collection" not in known.details
            }
            if details:
                self._ledger.refile(details)

    def _write(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        passages = [entry.passage for entry in entries]
        index_id = self._index.index.id
        self._writer.write(
            entries, lambda: self._ledger.publish_passages(index_id, passages), self._cancelled
        )
        self.passages_embedded += len(passages)

    def _tell(self, done: int, total: int) -> None:
        self._on_progress(Progress(Stage.INDEXING, done, total, passages=self.passages_embedded))
