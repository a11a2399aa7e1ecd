"""A passage of the ledger as the LangChain document that chains and retrievers pass on."""

from typing import TYPE_CHECKING

from storage.filing import filing
from storage.tables import DocumentRow, PassageRow

if TYPE_CHECKING:
    from langchain_core.documents import Document


def hydrated(passage: PassageRow, document: DocumentRow) -> "Document":
    """The passage with its text, and where it stands and under what it is filed as metadata."""
    from langchain_core.documents import Document  # slow, and only questions need it

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
            **filing(document.details, document.imported_at),
        },
    )
