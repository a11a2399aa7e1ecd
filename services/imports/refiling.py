"""Applies a changed collection or changed labels of a source to passages, without embedding."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from domain import Metadata
from services.imports.index_writer import ActiveIndex, Entry
from services.long_work import Cancelled, stop_if
from storage.ledger.database import in_groups
from storage.ledger.document_store import Documents, StoredVersion, source_metadata
from storage.ledger.source_store import StoredSource

_DOCUMENTS_PER_UPDATE = 100


def update_metadata(
    active: ActiveIndex,
    documents: Documents,
    source: StoredSource,
    stored: Mapping[str, StoredVersion],
    cancelled: Cancelled,
) -> None:
    """Apply a changed collection or changed labels of a source to its stored passages.

    The indexes are updated before the ledger, so that the next run repeats an interrupted update.

    Raises:
        CancelledError: The work was canceled; the next run continues.
        BusyError: A reindex is running.
    """
    changed = dict(_changed_metadata(source, stored.values()))
    for group in in_groups(list(changed), _DOCUMENTS_PER_UPDATE):
        stop_if(cancelled)
        details = {document_id: changed[document_id] for document_id in group}
        with active.step(cancelled):
            _replace_details(active, documents, details)


def _replace_details(
    active: ActiveIndex, documents: Documents, details: Mapping[str, Metadata]
) -> None:
    for index in (active.indexes.active(), active.indexes.building()):
        if index is not None:
            entries = [
                Entry(replace(document, details=details[document.id]), passage)
                for document, passage in documents.with_passages(list(details), index.id)
            ]
            active.writer_for(index).update_metadata(entries)
    active.ledger.update_metadata(details)


def _changed_metadata(
    source: StoredSource, stored: Iterable[StoredVersion]
) -> Iterator[tuple[str, Metadata]]:
    for document in stored:
        details = source_metadata(document.details, source.collection, source.labels)
        if details != document.details:
            yield document.document_id, details
