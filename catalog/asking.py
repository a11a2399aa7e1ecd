"""One question about a catalogue, from understanding it to the checked answer."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog.answer import CatalogueAnswerer, Material, Writing, sources_of
from catalog.catalogues import Catalogue
from catalog.events import (
    Answered,
    CatalogueAnswer,
    CatalogueEvent,
    Ranked,
    Understood,
    Written,
)
from catalog.material import SHOWN_PLACES
from catalog.places_view import PlacesView
from catalog.preferences import merged, spoken_of
from catalog.query_analyzer import ModelAnalyzer
from catalog.search_engine import EngineResult, SearchEngine
from catalog.translation import translate
from domain import CatalogueQuery, FoundPlace, Source

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from chains.citations import CheckedAnswer
    from domain import Passage
    from storage.documents import StoredDocument

PassagesOf = Callable[[list[str]], "list[tuple[StoredDocument, Passage]]"]
"""All passages of documents as they are searched now, each with its document, by their ids."""


BY_WORDS = (
    "No filter, type or aspect was understood in the question: the places are those whose texts"
    " are most like it."
)
NO_WORD = (
    "Nothing was understood of the question, and no text of the catalogue is like it: ask in"
    " other words."
)


@dataclass(frozen=True)
class Asker:
    """What questions are answered with; `model` is None where no chat model is set."""

    engine: SearchEngine
    view: PlacesView
    passages_of: PassagesOf
    model: "BaseChatModel | None" = None
    model_label: str = ""

    def analyse(self, catalogue: Catalogue, question: str) -> CatalogueQuery:
        """What the question asks for: as the chat model reads it, else as the rules do."""
        if self.model is None:
            return catalogue.rules.analyse(question)
        of = (self.model, self.model_label, catalogue.rules, catalogue.description)
        return ModelAnalyzer(*of).analyse(question)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that can be answered.

    `person_weights` are 0 to 1 by aspect, of those that the person has a preference for;
    `understood` is an analysis that takes the place of a new one.
    """

    question: str
    catalogue: Catalogue
    person_weights: Mapping[str, float] = field(default_factory=dict)
    language: str = "en"
    understood: CatalogueQuery | None = None


class QuestionRun:
    """One question being answered."""

    def __init__(self, asked: Asked, asker: Asker) -> None:
        """Args: what is asked, and what answers it. Nothing happens before `events`."""
        self._asked = asked
        self._with = asker
        self._timings: dict[str, float] = {}
        self._started = time.monotonic()

    def events(self) -> Generator[CatalogueEvent, None, None]:
        """What happens, step by step; closing this ends what a model is still writing.

        Raises:
            ModelError: The chat model failed while it answered; a failed analysis or translation
                is a notice.
        """
        catalogue = self._asked.catalogue
        query = self._understood()
        person, aspects = self._asked.person_weights, catalogue.description.aspect_names
        weights = merged(query.aspect_weights, person, aspects)
        self._time("understood")
        yield Understood(query, weights)
        result = self._rank(query, spoken_of(query.aspect_weights, person, aspects))
        self._time("ranked")
        yield Ranked(result.places, result.notices)
        material = self._material(query, weights, result.places)
        answerer = CatalogueAnswerer(self._with.model, self._with.model_label)
        writing = answerer.write(material)
        yield from self._written(writing)
        yield Answered(self._answer(writing, answerer.name, result.notices))

    def _understood(self) -> CatalogueQuery:
        given, catalogue = self._asked.understood, self._asked.catalogue
        if given is None:
            return self._with.analyse(catalogue, self._asked.question)
        # What a model worded stays: asking it again could change what the person left standing.
        return given if given.analysed_by else catalogue.rules.reworded(given)

    def _rank(self, query: CatalogueQuery, weights: Mapping[str, float]) -> EngineResult:
        catalogue = self._asked.catalogue
        found = self._with.engine.search(
            catalogue.id, catalogue.description.rating_scale, query, weights
        )
        return EngineResult(
            self._with.view.with_patterns(found.places),
            (*_little_known(query, found), *found.notices),
        )

    def _material(
        self,
        query: CatalogueQuery,
        weights: Mapping[str, float],
        places: tuple[FoundPlace, ...],
    ) -> Material:
        return Material(
            query,
            weights,
            places,
            self._sources(places, weights),
            self._asked.catalogue.description,
            self._asked.language,
        )

    def _sources(
        self, places: tuple[FoundPlace, ...], weights: Mapping[str, float]
    ) -> tuple[Source, ...]:
        shown = [one.place.document_id for one in places[:SHOWN_PLACES]]
        return sources_of(places, self._with.passages_of(shown), weights)

    def _written(self, writing: Writing) -> Generator[CatalogueEvent, None, None]:
        texts = writing.texts()
        with closing(texts):
            for text in texts:
                self._time("first_token")
                yield Written(text)

    def _answer(self, writing: Writing, signed: str, notices: tuple[str, ...]) -> CatalogueAnswer:
        material = writing.material
        checked: CheckedAnswer = writing.check(self._with.view.text_of)
        places, untranslated = self._translated(material.places)
        self._time("total")
        return CatalogueAnswer(
            catalogue_id=self._asked.catalogue.id,
            query=material.query,
            weights=material.weights,
            places=places,
            answer=checked.text,
            citations=checked.citations,
            sources=material.sources,
            unsupported_sentences=checked.unsupported_sentences,
            notices=(*notices, *filter(None, (writing.notice, untranslated))),
            model=signed,
            language=material.language,
            timings_ms=self._timings,
        )

    def _translated(self, places: tuple[FoundPlace, ...]) -> tuple[tuple[FoundPlace, ...], str]:
        """The places, the patterns of those that the answer speaks of in its language.

        Those of the other places stay as they are. The second part says why not all could be.
        """
        shown, others = places[:SHOWN_PLACES], places[SHOWN_PLACES:]
        told = translate([one.patterns for one in shown], self._with.model, self._asked.language)
        pairs = zip(shown, told.patterns, strict=True)
        notice = f"Not all quotes could be translated. {told.notice}" if told.notice else ""
        return (*(replace(one, patterns=of) for one, of in pairs), *others), notice

    def _time(self, moment: str) -> None:
        """Know how many milliseconds it took to come; of one that comes again, the first time."""
        elapsed_ms = round(1000 * (time.monotonic() - self._started), 1)
        self._timings.setdefault(moment, elapsed_ms)


def _little_known(query: CatalogueQuery, found: EngineResult) -> tuple[str, ...]:
    """What a person should know where nothing of the question was understood."""
    filters = query.filters
    types = (filters.desired_types, filters.declined_types)
    told = (filters.fields, *types, filters.min_rating is not None)
    if any(told) or any(weight is not None for weight in query.aspect_weights.values()):
        return ()
    return (BY_WORDS if found.places else NO_WORD,)
