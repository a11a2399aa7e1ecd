"""Turns ranked lists of passages into ranked candidate places."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from domain import PlacePassage
from domain.language.tokens import words_with_tokens
from retrievers.rankers import Hit, Scored, combine_convex, min_max, scored
from storage.ledger.document_store import Documents

MAX_PASSAGES_PER_PLACE = 160
"""Maximum depth of a ranked list per requested place. Without this limit, a list dominated by a few
places would be ranked to its end."""

DocumentsOf = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps the ids of committed passages to the ids of their documents."""


class PlaceList(NamedTuple):
    """The places of one ranked list, best first.

    `places` are document ids, each with the score of its best passage. `passages` are the committed
    passages up to the last of these places, and `document_of` maps them to their documents.
    """

    places: list[Scored]
    passages: list[Scored]
    document_of: Mapping[str, str]


class Candidate(NamedTuple):
    """A candidate place; `hybrid` is its score from 0 to 1, and `passage_ids` are best first."""

    document_id: str
    hybrid: float
    passage_ids: tuple[str, ...]


def rank_places(
    rank: Callable[[int], Sequence[Hit]], documents_of: DocumentsOf, count: int, depth: int
) -> PlaceList:
    """The first `count` places of a ranked list of passages.

    `rank` is called with `depth`, and then with twice the depth each time until the passages cover
    `count` places or the list ends, up to `MAX_PASSAGES_PER_PLACE` passages per place.
    """
    max_depth = MAX_PASSAGES_PER_PLACE * count
    while True:
        hits = rank(depth)
        ranked = _place_list(hits, documents_of, count)
        if len(ranked.places) >= count or len(hits) < depth or depth >= max_depth:
            return ranked
        depth = min(2 * depth, max_depth)


def combine(dense: PlaceList, sparse: PlaceList, dense_weight: float) -> list[Candidate]:
    """Merge the places of both lists by the convex combination of their scores, best first.

    The score is `dense_weight` x dense + (1 - `dense_weight`) x BM25, where each list is scaled
    over its own places and a missing place scores 0. If one list is empty, for example because the
    embedding model can't read the script of the question, the other list has all the weight, and
    the best candidate still scores 1. Passages are ordered the same way.
    """
    places = combine_convex(dense.places, sparse.places, dense_weight=dense_weight)
    document_of = {**dense.document_of, **sparse.document_of}
    passage_ids: dict[str, list[str]] = {hit.id: [] for hit in places}
    for passage in _best_first(dense.passages, sparse.passages, dense_weight):
        if (document := document_of[passage]) in passage_ids:
            passage_ids[document].append(passage)
    return [Candidate(hit.id, hit.score, tuple(passage_ids[hit.id])) for hit in places]


def _place_list(hits: Sequence[Hit], documents_of: DocumentsOf, count: int) -> PlaceList:
    """Looks up documents in batches, because the first batch usually covers enough places."""
    best: dict[str, float] = {}
    passages: list[Scored] = []
    document_of: dict[str, str] = {}
    for start in range(0, len(hits), batch_size := 4 * count):
        batch = hits[start : start + batch_size]
        documents = documents_of([hit.id for hit in batch])
        document_of |= documents
        for id_, score in scored(batch):
            if id_ in documents:
                passages.append((id_, score))
                best.setdefault(documents[id_], score)
        if len(best) >= count:
            break
    return PlaceList(list(best.items())[:count], passages, document_of)


def _best_first(dense: list[Scored], sparse: list[Scored], dense_weight: float) -> list[str]:
    """The order of `combine_convex`, without its score parts, which are slow for many passages."""
    share = dense_weight if dense and sparse else float(bool(dense))
    scores = {id_: (1 - share) * value for id_, value in min_max(sparse).items()}
    for id_, value in min_max(dense).items():
        scores[id_] = scores.get(id_, 0.0) + share * value
    return sorted(scores, key=lambda id_: -scores[id_])


def keyword_query(*texts: str) -> str:
    """The words of all texts, each only once, because BM25 would count repeated words twice."""
    words = {tokens: word for text in texts for word, tokens in words_with_tokens(text) if tokens}
    return " ".join(words.values())


PASSAGES = 5
"""Maximum number of passages per place that are reranked and shown."""
RERANKED_CHARS = 1000
"""Maximum number of characters of a place's passages that the cross-encoder reads."""


def passages_of(
    documents: Documents, candidates: Iterable[Candidate]
) -> dict[str, tuple[PlacePassage, ...]]:
    """Up to five committed passages of each candidate by document id, best first."""
    ids_of = {one.document_id: one.passage_ids[:PASSAGES] for one in candidates}
    passages: dict[str, list[PlacePassage]] = {document_id: [] for document_id in ids_of}
    for document in documents.hydrate([id_ for ids in ids_of.values() for id_ in ids]):
        metadata = document.metadata
        passage = PlacePassage(
            document.id or "",
            metadata["start"],
            metadata["end"],
            document.page_content,
            metadata["version"],
        )
        passages[metadata["document_id"]].append(passage)
    return {document_id: tuple(of_place) for document_id, of_place in passages.items()}


def reranked_text(title: str, passages: Sequence[PlacePassage]) -> str:
    """The text of a place for the cross-encoder; never empty, which some servers reject."""
    return f"{title}\n" + "\n\n".join(passage.text for passage in passages)[:RERANKED_CHARS]
