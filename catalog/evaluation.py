"""Measures with labelled questions how well a catalogue is searched, in several ways."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.catalogues import Catalogue
from catalog.preferences import spoken_of
from catalog.scores import PartWeights
from domain import CatalogueQuery, Principal
from evaluation.catalogue_figures import LanguageFigures, Outcome, figures_by_language
from evaluation.catalogue_questions import CatalogueQuestion, load_catalogue_questions

if TYPE_CHECKING:
    from catalog.search_engine import SearchEngine
    from catalog.service import CatalogueService

HYBRID, FILTERED, FULL = "hybrid", "filtered", "full"
ASPECTS, CROSS_ENCODED = "aspects", "cross_encoded"
"""The ways of searching that are compared; see `CatalogueEvaluation`."""
_HYBRID_ALONE = PartWeights(confidence=0, type=0, cross_encoder=0, aspects=0)

Analyse = Callable[[str], CatalogueQuery]


@dataclass(frozen=True)
class CatalogueEvaluation:
    """Searches one catalogue for labelled questions of nobody in particular, each in these ways.

    - hybrid: the question as typed by words and vectors alone;
    - filtered: the same among the places that the filters leave, as they were understood;
    - full: the English wording, the filters, types and confidence, without a cross-encoder;
    - aspects: the same with what reviewers praise, as it stands in where there is none;
    - cross_encoded: full with the cross-encoder, only where one is set.
    """

    catalogue: Catalogue
    engine: "SearchEngine"
    analyse: Analyse

    def measure(self, file: Path) -> list[LanguageFigures]:
        """The figures over the questions of the file for each language, then for all of them.

        Raises:
            InputError: The file can't be read as labelled questions.
            StorageError, ModelError: The index can't be read, or a model fails.
        """
        fields = [one.name for one in self.catalogue.description.filters]
        return figures_by_language(self.outcomes(load_catalogue_questions(file)), fields)

    def outcomes(self, questions: Sequence[CatalogueQuestion]) -> list[Outcome]:
        """Each question with how it was understood and what each way found for it."""
        return [self._outcome(question) for question in questions]

    def _outcome(self, question: CatalogueQuestion) -> Outcome:
        understood = self.analyse(question.text)
        plain = CatalogueQuery(question.text, query_en="")
        filtered = replace(plain, filters=understood.filters)
        weights = self.engine.options.weights
        hybrid, full = self._alone(_HYBRID_ALONE), self._alone(weights._replace(aspects=0))
        rankings = {
            HYBRID: self._found(hybrid, plain),
            FILTERED: self._found(hybrid, filtered),
            FULL: self._found(full, understood),
            ASPECTS: self._found(self._alone(weights), understood),
        }
        if self.engine.reranking is not None:
            rankings[CROSS_ENCODED] = self._found(self.engine, understood)
        return Outcome(question, understood, rankings)

    def _alone(self, weights: PartWeights) -> "SearchEngine":
        """An engine of these weights without a cross-encoder."""
        options = replace(self.engine.options, weights=weights)
        return replace(self.engine, options=options, reranking=None)

    def _found(self, engine: "SearchEngine", query: CatalogueQuery) -> list[str]:
        told = self.catalogue.description
        weights = spoken_of(query.aspect_weights, {}, told.aspect_names)
        found = engine.search(self.catalogue.id, told.rating_scale, query, weights)
        return [one.place.place_id for one in found.places]


def evaluation_of(
    service: "CatalogueService", principal: Principal, catalogue: str = ""
) -> CatalogueEvaluation:
    """What measures the catalogue of that id or name, with the models that are set.

    Raises:
        ConflictError: There is no such catalogue, or several and none is named.
    """
    found, asker = service.known.find(principal, catalogue), service.make_asker()
    return CatalogueEvaluation(found, asker.engine, partial(asker.analyse, found))
