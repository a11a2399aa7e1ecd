"""What documents are filed under, beside their place: a collection, labels, a moment of change.

Collection and labels of a whole source lie with the source, labels of one document come with it.
Each document's `details` hold what its passages carry in the indexes, so that a source filed anew
is noticed without opening one.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize

from domain import Metadata


def filed(details: Mapping[str, Any], collection: str, labels: Sequence[str]) -> Metadata:
    """The details of a document, filed under its source's collection and labels and its own.

    Args:
        details: As the loader told them (`labels` are the document's own), or as they were
            filed before.
        collection: Of the source.
        labels: Of the source.
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


def filing(details: Mapping[str, Any], imported_at: datetime) -> Metadata:
    """What each passage of a document carries of this: collection, labels, modified_at."""
    return {
        "collection": details.get("collection", ""),
        "labels": list(details.get("labels", ())),
        "modified_at": details.get("modified_at") or utc_text(imported_at),
    }


def utc_text(moment: datetime) -> str:
    """The moment as texts of which the earlier sorts first: `2026-11-21T10:00:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
