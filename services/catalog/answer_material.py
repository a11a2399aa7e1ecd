"""The material for an answer about a catalog: places, and numbered passages of their documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from domain import (
    CatalogDescription,
    CatalogQuery,
    Passage,
    Pattern,
    PlaceHit,
    Quote,
    RetrievedPassage,
)
from services.catalog.preferences import NEUTRAL
from storage.ledger.document_store import StoredDocument

SHOWN_PLACES = 5
"""Maximum number of places that an answer recommends."""
REVIEWS_PER_PLACE = 6
"""Maximum number of passages per place that are selected because a pattern quotes them."""
FACTS = "Facts"
"""The heading of the facts in a place's document."""


@dataclass(frozen=True, slots=True)
class Material:
    """The material for an answer.

    `weights` are from 0 to 1 by aspect. `passages` are the `numbered_passages` of the places.
    `language` is the language of the answer: en, ko, or ja.
    """

    query: CatalogQuery
    weights: Mapping[str, float]
    places: tuple[PlaceHit, ...]
    passages: tuple[RetrievedPassage, ...]
    description: CatalogDescription
    language: str = "en"

    def passages_of(self, hit: PlaceHit) -> list[RetrievedPassage]:
        """The numbered passages of the place, in order."""
        return [one for one in self.passages if one.document_id == hit.place.document_id]


_StoredPassage = tuple[StoredDocument, Passage]


def numbered_passages(
    hits: Sequence[PlaceHit], stored: Sequence[_StoredPassage], weights: Mapping[str, float]
) -> tuple[RetrievedPassage, ...]:
    """Select the passages that an answer can cite, and number them from 1 in the order of places.

    For each of the first five places, these are the facts, the passages that contain quotes of its
    patterns (by decreasing weight of the aspect), and the remaining passage that best matches the
    question.

    Args:
        hits: The places, best first.
        stored: All passages of at least the first five places' documents.
        weights: 0 to 1 by aspect.
    """
    selected = [one for hit in hits[:SHOWN_PLACES] for one in _of_place(hit, stored, weights)]
    return tuple(_number(n, *one) for n, one in enumerate(selected, start=1))


def by_weight(patterns: Sequence[Pattern], weights: Mapping[str, float]) -> list[Pattern]:
    """Sort patterns by decreasing weight of their aspect, then by rank."""
    return sorted(patterns, key=lambda one: (-weights.get(one.aspect, NEUTRAL), one.rank))


def contains(passage: RetrievedPassage, quote: Quote) -> bool:
    """Whether the passage contains the whole quote."""
    return passage.start <= quote.start and quote.end <= passage.start + len(passage.text)


def is_facts(passage: RetrievedPassage | Passage) -> bool:
    """Whether the passage lists the facts of a place."""
    return passage.heading_path[-1:] == (FACTS,)


def match_rank(hit: PlaceHit, passage_id: str) -> int:
    """The rank of the passage among the matches of the question, from 0; others come last."""
    ids = [passage.id for passage in hit.passages]
    return ids.index(passage_id) if passage_id in ids else len(ids)


def _of_place(
    hit: PlaceHit, stored: Sequence[_StoredPassage], weights: Mapping[str, float]
) -> list[_StoredPassage]:
    candidates = [one for one in stored if one[0].id == hit.place.document_id]
    facts = [one for one in candidates if is_facts(one[1])][:1]
    quoted: dict[str, _StoredPassage] = {}
    for quote in _quotes(by_weight(hit.patterns, weights)):
        if len(quoted) < REVIEWS_PER_PLACE and (one := _with_quote(candidates, quote)):
            quoted.setdefault(one[1].id, one)
    others = [one for one in candidates if one not in facts and one[1].id not in quoted]
    best = sorted(others, key=lambda one: match_rank(hit, one[1].id))[:1]
    return [*facts, *quoted.values(), *best]


def _quotes(patterns: Sequence[Pattern]) -> Iterator[Quote]:
    """The clearest quote of each pattern, then the next clearest of each, and so on."""
    rounds = zip_longest(*(one.quotes for one in patterns))
    return (quote for of_round in rounds for quote in of_round if quote)


def _with_quote(candidates: Sequence[_StoredPassage], quote: Quote) -> _StoredPassage | None:
    matches = (one for one in candidates if one[1].start <= quote.start and quote.end <= one[1].end)
    return next(matches, None)


def _number(n: int, document: StoredDocument, passage: Passage) -> RetrievedPassage:
    return RetrievedPassage(
        n=n,
        passage_id=passage.id,
        document_id=document.id,
        title=document.title,
        location=document.location,
        text=passage.text,
        version=document.version,
        page=passage.page,
        heading_path=passage.heading_path,
        start=passage.start,
        format=document.format,
    )
