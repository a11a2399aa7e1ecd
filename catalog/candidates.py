"""From ranked passages to the places that a question may mean: both lists, and what they found."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from domain import Filter
from language.tokens import words_with_tokens
from retrievers.fusion import combine_convex
from retrievers.hits import Scored, scored
from retrievers.rankers import Ranker

PASSAGES_PER_PLACE = 10
"""How deep the passages are ranked at first, for each place that is wanted."""
MOST_PASSAGES_PER_PLACE = 160
"""How deep at most: were all passages those of a few places, the list would be ranked whole."""

DocumentsOf = Callable[[Sequence[str]], Mapping[str, str]]
"""By passage id, the document that a committed passage stands in."""


class PlaceList(NamedTuple):
    """What one ranked list found, best first.

    `places` are document ids with the score of the best passage of each; `passages` are the
    committed passages, also those of places further down, and `document_of` tells theirs.
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
    rank: Ranker, question: str, condition: Filter, documents_of: DocumentsOf, count: int
) -> PlaceList:
    """The first `count` places of a ranked list of passages.

    The passages are ranked deeper, twice as deep each time, until they are of so many places or
    the list ends, but no deeper than `MOST_PASSAGES_PER_PLACE` for each.
    """
    depth = PASSAGES_PER_PLACE * count
    while True:
        hits = rank(question, depth, condition)
        document_of = documents_of([hit.id for hit in hits])
        seen = len(set(document_of.values()))
        if seen >= count or len(hits) < depth or depth >= MOST_PASSAGES_PER_PLACE * count:
            break
        depth *= 2
    passages = [(id_, score) for id_, score in scored(hits) if id_ in document_of]
    best: dict[str, float] = {}
    for id_, score in passages:
        best.setdefault(document_of[id_], score)
    return PlaceList(list(best.items())[:count], passages, document_of)


def combine(dense: PlaceList, sparse: PlaceList, dense_weight: float) -> list[Candidate]:
    """The places of both lists by the convex combination of their scores, best first.

    Each list is scaled over its own places, and a place that is missing in one gets 0 from it:
    `dense_weight` x dense + (1 - `dense_weight`) x BM25. Where one list is empty, such as the
    dense one for a question in a script that its model doesn't read, the other has all the
    weight, so that the best candidate still scores 1.
    """
    places = combine_convex(dense.places, sparse.places, dense_weight=dense_weight)
    passages = combine_convex(dense.passages, sparse.passages, dense_weight=dense_weight)
    document_of = {**dense.document_of, **sparse.document_of}
    found: dict[str, list[str]] = {hit.id: [] for hit in places}
    for passage in passages:
        if (document := document_of[passage.id]) in found:
            found[document].append(passage.id)
    return [Candidate(hit.id, hit.score, tuple(found[hit.id])) for hit in places]


def wording(*texts: str) -> str:
    """The words of all texts, each once: BM25 would count a word twice that comes twice."""
    words = {tokens: word for text in texts for word, tokens in words_with_tokens(text) if tokens}
    return " ".join(words.values())
