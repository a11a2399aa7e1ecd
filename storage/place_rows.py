"""The rows of places, made from what the loader told of their documents."""

import json
from collections.abc import Iterable
from typing import Any

from domain import Metadata
from errors import SourceError
from storage.documents import StoredDocument

DETAIL = "place"
"""The detail of a document that makes it a place."""


def place_rows(documents: Iterable[StoredDocument]) -> list[dict[str, Any]]:
    """A row for each document that is a place, in their order.

    Raises:
        SourceError: A number is not finite: neither JSON nor SQL has such.
    """
    return [_row(document) for document in documents if DETAIL in document.details]


def _row(document: StoredDocument) -> dict[str, Any]:
    told: Metadata = document.details[DETAIL]
    _check(document.key, told)
    return {
        "document_id": document.id,
        "catalogue_id": document.source_id,
        "place_id": told["place_id"],
        "title": document.title,
        "types": list(told.get("types", ())),
        "fields": dict(told.get("fields", {})),
        "facts": dict(told.get("facts", {})),
        "rating": told.get("rating"),
        "ratings": told.get("ratings", 0),
        "latitude": told.get("latitude"),
        "longitude": told.get("longitude"),
        "aspects": dict(told.get("aspects", {})),
    }


def _check(key: str, told: Metadata) -> None:
    for name, value in told.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError as error:
            raise SourceError(
                f"the place {key!r} can't be stored: its {name} holds a number that is not finite"
                " (NaN or infinity). Correct it in the catalogue's data, or leave it empty"
            ) from error
