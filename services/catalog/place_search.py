"""Ranks the places of a catalog for a question, with the terms of each score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from domain import CatalogFilters, CatalogQuery, Filter, Place, PlaceHit, values_of
from domain.errors import ModelError
from domain.logs import get_logger
from domain.messages import _
from retrievers.rankers import min_max
from services.catalog.candidates import (
    Candidate,
    PlaceList,
    combine,
    keyword_query,
    passages_of,
    rank_places,
    reranked_text,
)
from services.catalog.place_scores import (
    DEFAULT_WEIGHTS,
    PRIOR_WEIGHT,
    Counts,
    PartWeights,
    aspect_scores,
    confidence,
    missing_reranker_notice,
    place_parts,
    total,
    type_match,
)
from services.catalog.preferences import preference_text
from storage.ledger.document_store import Documents
from storage.ledger.place_store import Contents, Places

if TYPE_CHECKING:
    from domain import Passage
    from retrievers.rerank import Reranking
    from services.search.ranking import OpenIndex, OptionalList
    from services.search.searchable_library import Library
    from storage.ledger.document_store import StoredDocument

_log = get_logger("questions")


def passage_filter(places: Places, catalog_id: str, filters: CatalogFilters) -> Filter | None:
    """The filter for passages; None if no place matches.

    Desired types do not exclude any places, but places with a declined type are kept if they also
    have a desired type.
    """
    if not filters.fields and filters.min_rating is None and not filters.declined_types:
        return {"source_id": catalog_id}
    document_ids = places.matching(catalog_id, filters)
    if not document_ids:
        return None
    return {"source_id": catalog_id, "document_id": {"$in": document_ids}}


def no_match_notice(places: Places, catalog_id: str, filters: CatalogFilters) -> str:
    """Names the filters that match no place alone, or all filters if each of them matches some."""
    labeled = _single_filters(filters)
    empty = [
        label for label, one in labeled.items() if passage_filter(places, catalog_id, one) is None
    ]
    if len(empty) == 1:
        return _("No place in the catalog matches the filter {filter}: remove it.").format(
            filter=empty[0]
        )
    if empty:
        return _("No place in the catalog matches any of {filters}: remove all of them.").format(
            filters=", ".join(empty)
        )
    return _("No place in the catalog matches all of {filters}: remove one of them.").format(
        filters=", ".join(labeled)
    )


def _single_filters(filters: CatalogFilters) -> dict[str, CatalogFilters]:
    """Each filter alone, by a label that is the same in all languages."""
    labeled = {
        f"{name} {' / '.join(map(repr, values_of(value)))}": CatalogFilters({name: value})
        for name, value in filters.fields.items()
    }
    if (minimum := filters.min_rating) is not None:
        labeled[f"rating ≥ {minimum:g}"] = CatalogFilters(min_rating=minimum)
    for type_ in filters.declined_types:
        labeled[f"type ≠ {type_!r}"] = CatalogFilters(
            desired_types=filters.desired_types, declined_types=(type_,)
        )
    return labeled


DENSE_DEPTH, KEYWORD_DEPTH = 10, 2
"""Number of passages per requested place that are ranked initially."""


@dataclass(frozen=True)
class EngineOptions:
    """The ranking options; see the settings that begin with FOOTNOTE_CATALOGUE.

    `candidates` is the number of places from each list that are scored, and `k` is the maximum
    number of results.
    """

    weights: PartWeights = DEFAULT_WEIGHTS
    dense_weight: float = 0.9
    candidates: int = 60
    k: int = 20
    prior_weight: float = PRIOR_WEIGHT


@dataclass(frozen=True, slots=True)
class PlacesRanked:
    """The places, best first, and notices, for example about a missing term of the score."""

    places: tuple[PlaceHit, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchEngine:
    """Searches the places of catalogs; `reranking` is None if no cross-encoder is set."""

    library: "Library"
    documents: Documents
    places: Places
    options: EngineOptions = field(default_factory=EngineOptions)
    reranking: "Reranking | None" = None

    def search(
        self,
        catalog_id: str,
        scale: float,
        query: CatalogQuery,
        weights: Mapping[str, float] | None = None,
    ) -> PlacesRanked:
        """Rank the places that match the filters of the question.

        The places with the best passages, by words and by vectors, are scored. The score is the
        weighted sum of the terms hybrid, confidence, type, and cross_encoder. Terms that can't be
        determined are omitted: type if none is desired, confidence if the catalog has no ratings,
        and cross_encoder if none is set, it fails, or it takes too long. If cross_encoder is
        missing, a notice says so, and the aspects term replaces it; see
        `services.catalog.place_scores`. Ties are broken by confidence, then title, then id.

        Args:
            catalog_id: The id of the catalog's source.
            scale: The highest rating in the catalog.
            query: The question. Embeddings and the cross-encoder use its English wording; BM25 uses
                the words of the question and of that wording.
            weights: 0 to 1 for each aspect that the question or the person mentions; see
                `services.catalog.preferences.mentioned_weights`.

        Raises:
            StorageError, ModelError: The index can't be read, or the embedding fails.
        """
        condition = passage_filter(self.places, catalog_id, query.filters)
        if condition is None:
            return PlacesRanked((), (no_match_notice(self.places, catalog_id, query.filters),))
        search = partial(self._candidates, condition, query)
        candidates, index_notices = self.library.search_active(search) or ({}, ())
        contents = self.places.contents(catalog_id)
        terms, notices = self._preference_terms(contents.aspects, candidates, query, weights or {})
        hits = [
            self._score(one, place, terms, self._confidence(place, contents, scale), query)
            for one, place in candidates.items()
        ]
        best = sorted(hits, key=_sort_key)[: self.options.k]
        return PlacesRanked(
            tuple(self._with_passages(best, candidates)), (*index_notices, *notices)
        )

    def passages(self, document_ids: Sequence[str]) -> "list[tuple[StoredDocument, Passage]]":
        """All indexed passages of these documents, each with its document."""
        active = self.library.indexes.active()
        if active is None:
            return []
        return self.library.documents.with_passages(document_ids, active.id)

    def _candidates(
        self, condition: Filter, query: CatalogQuery, index: "OpenIndex"
    ) -> tuple[dict[Candidate, Place], tuple[str, ...]]:
        """The candidates with their places, and why one of the two lists is missing.

        Documents that are not places, or no longer exist as places, are omitted.
        """
        from services.search.ranking import (  # slow, but the index has loaded it already
            optional_lists,
            require_any,
        )

        dense, sparse = optional_lists(index, paired=False)  # they rank different texts
        # Search deep right away, because a second search would embed the question again.
        by_vectors = self._rank(dense, _english(query), condition, DENSE_DEPTH)
        words = keyword_query(query.question, _english(query))
        by_words = self._rank(sparse, words, condition, KEYWORD_DEPTH)
        require_any(dense, sparse)
        ranked = combine(by_vectors, by_words, self.options.dense_weight)
        places = self.places.by_documents([one.document_id for one in ranked])
        candidates = {one: places[one.document_id] for one in ranked if one.document_id in places}
        return candidates, tuple(str(one.error) for one in (dense, sparse) if one.error)

    def _rank(
        self, rank: "OptionalList", question: str, condition: Filter, depth: int
    ) -> PlaceList:
        count = self.options.candidates
        return rank_places(
            lambda passages: rank(question, passages, condition),
            self.documents.of_passages,
            count,
            depth * count,
        )

    def _confidence(self, place: Place, contents: Contents, scale: float) -> float | None:
        prior, mean = self.options.prior_weight, contents.mean_rating
        return confidence(place.rating, place.reviews, mean, scale=scale, prior_weight=prior)

    def _score(
        self,
        candidate: Candidate,
        place: Place,
        terms: "_Terms",
        confidence: float | None,
        query: CatalogQuery,
    ) -> PlaceHit:
        values = {
            "hybrid": candidate.hybrid,
            "confidence": confidence,
            "type": type_match(place.types, query.filters.desired_types),
            **{name: term.get(candidate.document_id) for name, term in terms.items()},
        }
        parts = place_parts(values, self.options.weights)
        return PlaceHit(place, total(parts), parts)

    def _preference_terms(
        self,
        counts: Counts,
        candidates: Mapping[Candidate, Place],
        query: CatalogQuery,
        weights: Mapping[str, float],
    ) -> tuple["_Terms", tuple[str, ...]]:
        """The cross-encoder's term, or its replacement and a notice with the reason."""
        is_enabled = bool(candidates and self.options.weights.cross_encoder)
        failure: ModelError | None = None
        if is_enabled and self.reranking is not None:
            try:
                request = " [PREF] ".join(filter(None, [_english(query), preference_text(weights)]))
                return {"cross_encoder": self._rerank(self.reranking, candidates, request)}, ()
            except ModelError as error:
                _log.warning("reranking skipped", reason=str(error))
                failure = error
        scores = (
            aspect_scores(candidates.values(), counts, weights)
            if self.options.weights.aspects
            else {}
        )
        notices = (missing_reranker_notice(failure, bool(scores)),) if is_enabled else ()
        return {"aspects": scores}, notices

    def _rerank(
        self, reranking: "Reranking", candidates: Mapping[Candidate, Place], request: str
    ) -> dict[str, float]:
        """The cross-encoder's term by document id, from 0 to 1.

        Raises:
            ModelError: The cross-encoder failed or took too long.
        """
        passages = passages_of(self.documents, candidates)
        texts = [
            reranked_text(place.title, passages[place.document_id]) for place in candidates.values()
        ]
        scores = reranking.scores([(request, text) for text in texts])
        ids = [one.document_id for one in candidates]
        return min_max(list(zip(ids, scores, strict=True)))

    def _with_passages(
        self, hits: Sequence[PlaceHit], candidates: Mapping[Candidate, Place]
    ) -> list[PlaceHit]:
        ids = {hit.place.document_id for hit in hits}
        passages = passages_of(
            self.documents, [one for one in candidates if one.document_id in ids]
        )
        return [replace(hit, passages=passages[hit.place.document_id]) for hit in hits]


_Terms = Mapping[str, Mapping[str, float]]
"""The values of terms by name and document id."""


def _english(query: CatalogQuery) -> str:
    return query.query_en.strip() or query.question


def _sort_key(hit: PlaceHit) -> tuple[float, float, str, str]:
    confidence = sum(part.value for part in hit.parts if part.name == "confidence")
    return -hit.score, -confidence, hit.place.title, hit.place.place_id
