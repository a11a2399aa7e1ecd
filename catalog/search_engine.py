"""Ranks the places of a catalogue for a question and a person, and tells what each score is of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from catalog.candidates import Candidate, PlaceList, combine, rank_places, wording
from catalog.narrowing import MatchesPlaces, narrowed, why_none
from catalog.place_passages import passages_of, text_to_read
from catalog.praise import notice, praised
from catalog.preferences import preference_text
from catalog.scores import (
    DEFAULT_WEIGHTS,
    PRIOR_WEIGHT,
    Counts,
    PartWeights,
    confidence,
    place_parts,
    total,
    type_match,
)
from domain import CatalogueQuery, Filter, FoundPlace, Place
from errors import ModelError
from retrievers.fusion import min_max
from storage.documents import Documents
from storage.place_contents import Contents

if TYPE_CHECKING:
    from retrievers.rerank import Reranking
    from services.ranking import OpenIndex, SpareList

DENSE_DEPTH, KEYWORD_DEPTH = 10, 2
"""How many passages are ranked at first for each place that is wanted."""


@dataclass(frozen=True)
class EngineOptions:
    """How places are ranked; see the settings that begin with FOOTNOTE_CATALOGUE.

    `candidates` is how many places of each list are judged, `k` how many are found at most.
    """

    weights: PartWeights = DEFAULT_WEIGHTS
    dense_weight: float = 0.9
    candidates: int = 60
    k: int = 20
    prior_weight: float = PRIOR_WEIGHT


class EngineResult(NamedTuple):
    """The places found, best first, and what is to be known of how, such as a missing term."""

    places: tuple[FoundPlace, ...]
    notices: tuple[str, ...] = ()


class OpensIndex(Protocol):
    """The part of `services.library.Library` that is needed."""

    def open_index(self) -> "OpenIndex | None":
        """The index that answers now; None before any import."""
        ...


class ReadsPlaces(MatchesPlaces, Protocol):
    """The part of `storage.places.Places` that is needed."""

    def by_documents(self, document_ids: Sequence[str]) -> dict[str, Place]:
        """The places by the ids of their documents."""
        ...

    def contents(self, catalogue_id: str) -> Contents:
        """What the places of a catalogue hold together."""
        ...


@dataclass(frozen=True)
class SearchEngine:
    """Finds places; `reranking` holds the cross-encoder, None where none is set."""

    library: OpensIndex
    documents: Documents
    places: ReadsPlaces
    options: EngineOptions = field(default_factory=EngineOptions)
    reranking: "Reranking | None" = None

    def search(
        self,
        catalogue_id: str,
        scale: float,
        query: CatalogueQuery,
        weights: Mapping[str, float] | None = None,
    ) -> EngineResult:
        """The best places for the question among those that its filters leave, best first.

        The places with the best passages, by words and by vectors, are judged. The score of each
        is the sum of its terms times their weights: hybrid, confidence, type and cross_encoder. A
        term that can't be told is left out: the type where none is desired, the confidence where
        the catalogue has no ratings, the cross-encoder where it is missing, failed or took too
        long, which a notice says. Then, and only then, aspects stands in for it; see
        `catalog.praise`. Ties go to the higher confidence, then by title and id.

        Args:
            catalogue_id: The catalogue, a source.
            scale: The highest rating in it.
            query: The question. The vectors and the cross-encoder see its English wording; BM25
                looks for the words of both.
            weights: 0 to 1 for each aspect that the question or the person speaks of; see
                `catalog.preferences.spoken_of`. None where nothing is known of that.

        Raises:
            StorageError, ModelError: The index can't be read, or the embedding fails.
        """
        condition = narrowed(self.places, catalogue_id, query.filters)
        if condition is None:
            return EngineResult((), (why_none(self.places, catalogue_id, query.filters),))
        found, damage = self._candidates(condition, query)
        held = self.places.contents(catalogue_id)
        by_place, notices = self._read_or_praised(held.aspects, found, query, weights or {})
        judged = [
            self._judged(one, place, by_place, self._confidence(place, held, scale), query)
            for one, place in found.items()
        ]
        best = sorted(judged, key=_order)[: self.options.k]
        return EngineResult(tuple(self._with_passages(best, found)), (*damage, *notices))

    def _candidates(
        self, condition: Filter, query: CatalogueQuery
    ) -> tuple[dict[Candidate, Place], tuple[str, ...]]:
        """Each with its place; documents that are no places (any more) are left out.

        The second part says why one of the two lists is missing.
        """
        index = self.library.open_index()
        if index is None:
            return {}, ()
        from services.ranking import require_one, spare_lists  # slow; the index has loaded it

        allowed = index.matching(condition)  # once, not each time it looks deeper
        dense, sparse = spare_lists(index, lambda _condition: allowed)
        # Deep at once: looking deeper would embed the question again.
        by_vectors = self._ranked(dense, _english(query), condition, DENSE_DEPTH)
        words = wording(query.question, _english(query))
        by_words = self._ranked(sparse, words, condition, KEYWORD_DEPTH)
        require_one(dense, sparse)
        found = combine(by_vectors, by_words, self.options.dense_weight)
        places = self.places.by_documents([one.document_id for one in found])
        candidates = {one: places[one.document_id] for one in found if one.document_id in places}
        return candidates, tuple(str(one.error) for one in (dense, sparse) if one.error)

    def _ranked(self, rank: "SpareList", question: str, condition: Filter, depth: int) -> PlaceList:
        count = self.options.candidates
        return rank_places(
            lambda deep: rank(question, deep, condition),
            self.documents.of_passages,
            count,
            depth * count,
        )

    def _confidence(self, place: Place, held: Contents, scale: float) -> float | None:
        prior, mean = self.options.prior_weight, held.mean_rating
        return confidence(place.rating, place.reviews, mean, scale=scale, prior_weight=prior)

    def _judged(
        self,
        candidate: Candidate,
        place: Place,
        by_place: "_ByPlace",
        sure: float | None,
        query: CatalogueQuery,
    ) -> FoundPlace:
        values = {
            "hybrid": candidate.hybrid,
            "confidence": sure,
            "type": type_match(place.types, query.filters.desired_types),
            **{name: of.get(candidate.document_id) for name, of in by_place.items()},
        }
        parts = place_parts(values, self.options.weights)
        return FoundPlace(place, total(parts), parts)

    def _read_or_praised(
        self,
        told: Counts,
        found: Mapping[Candidate, Place],
        query: CatalogueQuery,
        weights: Mapping[str, float],
    ) -> tuple["_ByPlace", tuple[str, ...]]:
        """The cross-encoder's term, or what stands in for it and a notice of why."""
        is_wanted = bool(found and self.options.weights.cross_encoder)
        failed: ModelError | None = None
        if is_wanted and self.reranking is not None:
            try:
                asked = _asked(query, preference_text(weights))
                return {"cross_encoder": self._cross_encoded(self.reranking, found, asked)}, ()
            except ModelError as error:
                failed = error
        values = self._praised(told, found, weights)
        return {"aspects": values}, (notice(failed, bool(values)),) if is_wanted else ()

    def _praised(
        self, told: Counts, found: Mapping[Candidate, Place], weights: Mapping[str, float]
    ) -> dict[str, float]:
        if not (found and self.options.weights.aspects):
            return {}
        return praised(found.values(), told, weights)

    def _cross_encoded(
        self, reranking: "Reranking", found: Mapping[Candidate, Place], asked: str
    ) -> dict[str, float]:
        """The term by document id, from 0 to 1.

        Raises:
            ModelError: It failed, or took too long.
        """
        passages = passages_of(self.documents, found)
        ids = [one.document_id for one in found]
        texts = [text_to_read(place.title, passages[place.document_id]) for place in found.values()]
        scores = reranking.scores([(asked, text) for text in texts])
        return min_max(list(zip(ids, scores, strict=True)))

    def _with_passages(
        self, best: Sequence[FoundPlace], found: Mapping[Candidate, Place]
    ) -> list[FoundPlace]:
        shown = {one.place.document_id for one in best}
        passages = passages_of(self.documents, [one for one in found if one.document_id in shown])
        return [replace(one, passages=passages[one.place.document_id]) for one in best]


_ByPlace = Mapping[str, Mapping[str, float]]
"""By the name of a term, its value by document id."""


def _english(query: CatalogueQuery) -> str:
    return query.query_en.strip() or query.question


def _asked(query: CatalogueQuery, wishes: str) -> str:
    """What the cross-encoder is asked."""
    return " [PREF] ".join(filter(None, [_english(query), wishes]))


def _order(found: FoundPlace) -> tuple[float, float, str, str]:
    sure = sum(part.value for part in found.parts if part.name == "confidence")
    return -found.score, -sure, found.place.title, found.place.place_id
