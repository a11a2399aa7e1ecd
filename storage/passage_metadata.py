"""What each passage carries for filters, in the vector store and as the ledger gives it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from domain import Metadata
from storage.filing import filing


class Described(Protocol):
    """The part of a document that its passages carry."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def source_id(self) -> str: ...  # noqa: D102
    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def format(self) -> str: ...  # noqa: D102
    @property
    def details(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def imported_at(self) -> datetime: ...  # noqa: D102


def passage_metadata(document: Described, page: int | None, script: str) -> Metadata:
    """The fields of `domain.FILTER_FIELDS`; without a page where the format has none."""
    metadata = {
        "document_id": document.id,
        "source_id": document.source_id,
        "key": document.key,
        "title": document.title,
        "format": document.format,
        "script": script,
        **filing(document.details, document.imported_at),
    }
    return metadata if page is None else metadata | {"page": page}
