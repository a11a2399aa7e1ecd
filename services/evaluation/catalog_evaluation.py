"""Compares several ways of searching a catalog, measured with labeled questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from domain import CatalogQuery, Principal
from services.catalog.catalogs import Catalog
from services.catalog.place_scores import PartWeights
from services.catalog.preferences import mentioned_weights
from services.evaluation.catalog_figures import (
    CatalogQuestion,
    LanguageFigures,
    Outcome,
    figures_by_language,
    load_catalog_questions,
)

if TYPE_CHECKING:
    from services.catalog.catalog_service import CatalogService
    from services.catalog.place_search import SearchEngine

HYBRID, FILTERED, FULL = "hybrid", "filtered", "full"
ASPECTS, CROSS_ENCODED = "aspects", "cross_encoded"
"""The ways of searching that are compared; see `CatalogEvaluation`."""
_HYBRID_ALONE = PartWeights(confidence=0, type=0, cross_encoder=0, aspects=0)

Analyze = Callable[[str], CatalogQuery]


@dataclass(frozen=True)
class CatalogEvaluation:
    """Searches one catalog for labeled questions, without personal preferences.

    Each question is searched in these ways:

    - hybrid: the question as typed, by words and vectors only;
    - filtered: the same, among the places that match the filters found in the question;
    - full: the English wording, filters, types, and confidence, without a cross-encoder;
    - aspects: full plus the praise of reviewers, the fallback if no cross-encoder is set;
    - cross_encoded: full plus the cross-encoder, only if one is set.
    """

    catalog: Catalog
    engine: "SearchEngine"
    analyze: Analyze

    def measure(self, file: Path) -> list[LanguageFigures]:
        """Compute the figures for each language in the file of questions, then for all questions.

        Raises:
            InputError: The file can't be read as labeled questions.
            StorageError, ModelError: The index can't be read, or a model fails.
        """
        fields = [one.name for one in self.catalog.description.filters]
        return figures_by_language(self.outcomes(load_catalog_questions(file)), fields)

    def outcomes(self, questions: Sequence[CatalogQuestion]) -> list[Outcome]:
        """Analyze and search each question; returns the outcomes in the same order."""
        return [self._outcome(question) for question in questions]

    def _outcome(self, question: CatalogQuestion) -> Outcome:
        query = self.analyze(question.text)
        plain = CatalogQuery(question.text, query_en="")
        filtered = replace(plain, filters=query.filters)
        weights = self.engine.options.weights
        hybrid, full = self._alone(_HYBRID_ALONE), self._alone(weights._replace(aspects=0))
        rankings = {
            HYBRID: self._search(hybrid, plain),
            FILTERED: self._search(hybrid, filtered),
            FULL: self._search(full, query),
            ASPECTS: self._search(self._alone(weights), query),
        }
        if self.engine.reranking is not None:
            rankings[CROSS_ENCODED] = self._search(self.engine, query)
        return Outcome(question, query, rankings)

    def _alone(self, weights: PartWeights) -> "SearchEngine":
        """The engine with these weights and without a cross-encoder."""
        options = replace(self.engine.options, weights=weights)
        return replace(self.engine, options=options, reranking=None)

    def _search(self, engine: "SearchEngine", query: CatalogQuery) -> list[str]:
        description = self.catalog.description
        weights = mentioned_weights(query.aspect_weights, {}, description.aspect_names)
        results = engine.search(self.catalog.id, description.rating_scale, query, weights)
        return [one.place.place_id for one in results.places]


def evaluation_of(
    service: "CatalogService", principal: Principal, catalog: str = ""
) -> CatalogEvaluation:
    """Create the evaluation of the catalog with that id or name, with the configured models.

    Raises:
        ConflictError: There is no such catalog, or several match.
    """
    source = service.find(principal, catalog)
    return CatalogEvaluation(source, service.engine, partial(service.analyze, source))
