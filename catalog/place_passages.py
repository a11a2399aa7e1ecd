"""The passages of places that a question found: what is shown, and what a cross-encoder reads."""

from collections.abc import Iterable, Sequence

from catalog.candidates import Candidate
from domain import PlacePassage
from storage.documents import Documents

PASSAGES = 5
"""The most passages that a place is judged by and shown with."""
READ_CHARS = 1000
"""The most characters of a place's passages that the cross-encoder reads."""


def passages_of(
    documents: Documents, found: Iterable[Candidate]
) -> dict[str, tuple[PlacePassage, ...]]:
    """The committed passages of each candidate by document id, the best first, at most five."""
    wanted = {one.document_id: one.passage_ids[:PASSAGES] for one in found}
    passages: dict[str, list[PlacePassage]] = {document_id: [] for document_id in wanted}
    for document in documents.hydrate([id_ for ids in wanted.values() for id_ in ids]):
        told = document.metadata
        passages[told["document_id"]].append(
            PlacePassage(
                document.id or "",
                told["start"],
                told["end"],
                document.page_content,
                told["version"],
            )
        )
    return {document_id: tuple(each) for document_id, each in passages.items()}


def text_to_read(title: str, passages: Sequence[PlacePassage]) -> str:
    """What the cross-encoder reads of a place: never nothing, which some servers refuse."""
    return f"{title}\n" + "\n\n".join(passage.text for passage in passages)[:READ_CHARS]
