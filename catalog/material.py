"""What an answer about a catalogue is written from: places, and numbered sources out of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from catalog.preferences import NEUTRAL
from domain import (
    CatalogueDescription,
    CatalogueQuery,
    FoundPlace,
    Passage,
    Pattern,
    Quote,
    Source,
)
from storage.documents import StoredDocument

SHOWN_PLACES = 5
"""How many of the places found an answer speaks of."""
REVIEWS_OF_A_PLACE = 6
"""How many passages with quoted reviews an answer is shown of each place."""
FACTS = "Facts"
"""The heading of a place's facts in its document."""


@dataclass(frozen=True, slots=True)
class Material:
    """What an answer is written from; `weights` are from 0 to 1 by aspect.

    `sources` are those of `sources_of` for the places; `language` is the answer's: en, ko or ja.
    """

    query: CatalogueQuery
    weights: Mapping[str, float]
    places: tuple[FoundPlace, ...]
    sources: tuple[Source, ...]
    description: CatalogueDescription
    language: str = "en"

    def sources_about(self, found: FoundPlace) -> list[Source]:
        """The sources out of that place's document, in their order."""
        return [one for one in self.sources if one.document_id == found.place.document_id]


def sources_of(
    places: Sequence[FoundPlace],
    passages: Sequence[tuple[StoredDocument, Passage]],
    weights: Mapping[str, float],
) -> tuple[Source, ...]:
    """The passages that an answer may cite, numbered from 1: those of the best place first.

    Of each of the first five places that with its facts, those with the quotes of its patterns
    (the aspects that weigh most first), and of the others that which fits the question best.

    Args:
        places: The places found, best first.
        passages: All passages of at least those five places' documents.
        weights: 0 to 1 by aspect.
    """
    chosen = [
        (document, passage)
        for found in places[:SHOWN_PLACES]
        for document, passage in _of_place(found, passages, weights)
    ]
    return tuple(_source(n, *one) for n, one in enumerate(chosen, start=1))


def by_wish(patterns: Sequence[Pattern], weights: Mapping[str, float]) -> list[Pattern]:
    """The patterns, those of the aspects that weigh most first, else in their order."""
    return sorted(patterns, key=lambda one: (-weights.get(one.aspect, NEUTRAL), one.rank))


def holds(source: Source, quote: Quote) -> bool:
    """Whether the whole quote stands in the source."""
    return source.start <= quote.start and quote.end <= source.start + len(source.text)


def is_facts(source: Source) -> bool:
    """Whether the source is the facts of a place."""
    return source.heading_path[-1:] == (FACTS,)


def fit(found: FoundPlace, passage_id: str) -> int:
    """The passage's place, from 0, among those that the question found; others come behind."""
    ids = [passage.id for passage in found.passages]
    return ids.index(passage_id) if passage_id in ids else len(ids)


def _of_place(
    found: FoundPlace,
    passages: Sequence[tuple[StoredDocument, Passage]],
    weights: Mapping[str, float],
) -> list[tuple[StoredDocument, Passage]]:
    own = [one for one in passages if one[0].id == found.place.document_id]
    facts = [one for one in own if one[1].heading_path[-1:] == (FACTS,)][:1]
    quoting: dict[str, tuple[StoredDocument, Passage]] = {}
    for quote in _quotes(by_wish(found.patterns, weights)):
        if len(quoting) < REVIEWS_OF_A_PLACE and (one := _with_quote(own, quote)):
            quoting.setdefault(one[1].id, one)
    others = [one for one in own if one not in facts and one[1].id not in quoting]
    best = sorted(others, key=lambda one: fit(found, one[1].id))[:1]
    return [*facts, *quoting.values(), *best]


def _quotes(patterns: Sequence[Pattern]) -> Iterator[Quote]:
    """The clearest of each pattern, then the next clearest of each, and so on."""
    most = max((len(one.quotes) for one in patterns), default=0)
    for place in range(most):
        yield from (one.quotes[place] for one in patterns if place < len(one.quotes))


def _with_quote(
    own: Sequence[tuple[StoredDocument, Passage]], quote: Quote
) -> tuple[StoredDocument, Passage] | None:
    around = (one for one in own if one[1].start <= quote.start and quote.end <= one[1].end)
    return next(around, None)


def _source(n: int, document: StoredDocument, passage: Passage) -> Source:
    return Source(
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
    )
