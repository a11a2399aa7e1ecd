"""From ranked passages to the places that a question may mean: both lists, and what they found."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from language.tokens import words_with_tokens
from retrievers.fusion import combine_convex, min_max
from retrievers.hits import Hit, Scored, scored

MOST_PASSAGES_PER_PLACE = 160
"""How deep a list is ranked at most, for each place that is wanted: were all passages those of a
few places, it would be ranked whole."""

DocumentsOf = Callable[[Sequence[str]], Mapping[str, str]]
"""By passage id, the document that a committed passage stands in."""


class PlaceList(NamedTuple):
    """What one ranked list found, best first.

    `places` are document ids with the score of the best passage of each; `passages` are the
    committed passages that were seen until there were enough places, `document_of` has theirs.
    """

    places: list[Scored]
    passages: list[Scored]
    document_of: Mapping[str, str]


class Candidate(NamedTuple):
    """A place that may be meant: `hybrid` from 0 to 1, its passages found, the best first."""

    document_id: str
    hybrid: float
    passage_ids: tuple[str, ...]


def rank_places(
    rank: Callable[[int], Sequence[Hit]], documents_of: DocumentsOf, count: int, depth: int
) -> PlaceList:
    """The first `count` places of a ranked list of passages.

    `rank` gives the best passages, so many as it is told: `depth` at first, then twice as many each
    time, until they are of `count` places or the list ends, but at most `MOST_PASSAGES_PER_PLACE`
    for each place.
    """
    most = MOST_PASSAGES_PER_PLACE * count
    while True:
        hits = rank(depth)
        seen = _seen(hits, documents_of, count)
        if len(seen.places) >= count or len(hits) < depth or depth >= most:
            return seen
        depth = min(2 * depth, most)


def combine(dense: PlaceList, sparse: PlaceList, dense_weight: float) -> list[Candidate]:
    """The places of both lists by the convex combination of their scores, best first.

    Each list is scaled over its own places, and a place that is missing in one gets 0 from it:
    `dense_weight` x dense + (1 - `dense_weight`) x BM25. Where one list is empty, such as the
    dense one for a question in a script that its model doesn't read, the other has all the
    weight, so that the best candidate still scores 1. Passages are ordered the same way.
    """
    places = combine_convex(dense.places, sparse.places, dense_weight=dense_weight)
    document_of = {**dense.document_of, **sparse.document_of}
    found: dict[str, list[str]] = {hit.id: [] for hit in places}
    for passage in _best_first(dense.passages, sparse.passages, dense_weight):
        if (document := document_of[passage]) in found:
            found[document].append(passage)
    return [Candidate(hit.id, hit.score, tuple(found[hit.id])) for hit in places]


def _seen(hits: Sequence[Hit], documents_of: DocumentsOf, count: int) -> PlaceList:
    """Looks the documents up a portion at a time: mostly the first one holds enough places."""
    best: dict[str, float] = {}
    passages: list[Scored] = []
    document_of: dict[str, str] = {}
    for start in range(0, len(hits), portion := 4 * count):
        found = documents_of([hit.id for hit in hits[start : start + portion]])
        document_of |= found
        for id_, score in scored(hits[start : start + portion]):
            if id_ in found:
                passages.append((id_, score))
                best.setdefault(found[id_], score)
        if len(best) >= count:
            break
    return PlaceList(list(best.items())[:count], passages, document_of)


def _best_first(dense: list[Scored], sparse: list[Scored], dense_weight: float) -> list[str]:
    """As `combine_convex` orders them, without its reasons: there are hundreds of passages."""
    share = dense_weight if dense and sparse else float(bool(dense))
    scores = {id_: (1 - share) * value for id_, value in min_max(sparse).items()}
    for id_, value in min_max(dense).items():
        scores[id_] = scores.get(id_, 0.0) + share * value
    return sorted(scores, key=lambda id_: -scores[id_])


def wording(*texts: str) -> str:
    """The words of all texts, each once: BM25 would count a word twice that comes twice."""
    words = {tokens: word for text in texts for word, tokens in words_with_tokens(text) if tokens}
    return " ".join(words.values())
