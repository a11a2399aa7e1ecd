"""Passages as values and LangChain documents, and the metadata that filters use.

A source's collection and labels are stored with the source, a document's own labels with the
document. A document's `details` contain the metadata of its passages in the indexes, so changes of
the source are detected without opening an index.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from domain import Metadata, Passage
from storage.ledger.columns import from_row
from storage.ledger.ledger_tables import DocumentRow, PassageRow

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from storage.ledger.document_store import StoredDocument


def source_metadata(details: Mapping[str, Any], collection: str, labels: Sequence[str]) -> Metadata:
    """The details of a document with the collection and labels of its source.

    `details` come from the loader (`labels` are then the document's own labels) or from an earlier
    call.
    """
    own = [
        normalize("NFC", str(label))
        for label in details.get("own_labels", details.get("labels", ()))
    ]
    return {
        **details,
        "collection": collection,
        "labels": sorted({*own, *labels}),
        "own_labels": own,
    }


def inherited_metadata(details: Mapping[str, Any], imported_at: datetime) -> Metadata:
    """The metadata that passages inherit from their document: collection, labels, modified_at."""
    return {
        "collection": details.get("collection", ""),
        "labels": list(details.get("labels", ())),
        "modified_at": details.get("modified_at") or utc_text(imported_at),
    }


def utc_text(moment: datetime) -> str:
    """The time as text whose order is chronological: `2026-11-21T10:00:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def hydrated(passage: PassageRow, document: DocumentRow) -> "Document":
    """The passage as a LangChain document, with its position and categories as metadata."""
    from langchain_core.documents import Document  # slow to import, and needed only for questions

    return Document(
        id=passage.id,
        page_content=passage.text,
        metadata={
            "document_id": document.id,
            "source_id": document.source_id,
            "key": document.key,
            "title": document.title,
            "location": document.location,
            "version": document.version,
            "format": document.format,
            "page": passage.page,
            "heading_path": list(passage.heading_path),
            "start": passage.start,
            "end": passage.end,
            "ordinal": passage.ordinal,
            **inherited_metadata(document.details, document.imported_at),
        },
    )


def passage_metadata(
    document: "StoredDocument | DocumentRow", page: int | None, script: str
) -> Metadata:
    """The fields of `domain.FILTER_FIELDS`; without `page` if the format has no pages."""
    metadata = {
        "document_id": document.id,
        "source_id": document.source_id,
        "key": document.key,
        "title": document.title,
        "format": document.format,
        "script": script,
        **inherited_metadata(document.details, document.imported_at),
    }
    return metadata if page is None else metadata | {"page": page}


def passage_of(row: PassageRow) -> Passage:
    """The passage of a row."""
    return from_row(Passage, row, heading_path=tuple(row.heading_path))
