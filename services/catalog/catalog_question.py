"""Answers one question about a catalog, from the analysis to the checked citations."""

import time
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from domain import CatalogQuery, Citation, PlaceHit, RetrievedPassage
from domain.logs import elapsed_ms, get_logger
from domain.messages import _
from services.catalog.answer_material import SHOWN_PLACES, Material, numbered_passages
from services.catalog.catalog_scope import is_about_places
from services.catalog.catalogs import Catalog, Catalogs
from services.catalog.composed_answer import refusal_text
from services.catalog.model_analyzer import ModelAnalyzer
from services.catalog.place_answer import AnswerWriter
from services.catalog.place_match import is_recognized
from services.catalog.place_search import PlacesRanked, SearchEngine
from services.catalog.preferences import all_weights, mentioned_weights
from services.catalog.quote_translation import translate

if TYPE_CHECKING:
    from chains.citations.answer_check import CheckedAnswer
    from models.chat_choice import AnsweringModel


@dataclass(frozen=True, slots=True)
class QuestionAnalyzed:
    """The analysis of the question, and the weight of each aspect, 0 to 1, for this person."""

    query: CatalogQuery
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the answer's Markdown, with plain [n] as markers and other brackets escaped."""

    text: str


@dataclass(frozen=True, slots=True)
class CatalogAnswer:
    """The complete result of a question; the citations refer to `sources` by number.

    `model` is the name of the answerer, and `language` is that of the answer: en, ko, or ja. If
    `is_refusal`, the question is not about the catalog, and the answer says what can be asked.
    """

    catalogue_id: str
    query: CatalogQuery
    weights: Mapping[str, float]
    places: tuple[PlaceHit, ...]
    answer: str
    citations: tuple[Citation, ...] = ()
    sources: tuple[RetrievedPassage, ...] = ()
    unsupported_sentences: int = 0
    notices: tuple[str, ...] = ()
    model: str = ""
    language: str = "en"
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class AnswerCompleted:
    """The last event, with the complete result."""

    answer: CatalogAnswer


CatalogEvent = QuestionAnalyzed | PlacesRanked | AnswerText | AnswerCompleted


_log = get_logger("questions")

BY_WORDS = _(
    "No filter, type, or aspect was recognized in the question, so places are ranked by the"
    " similarity of their texts."
)
NO_WORD = _(
    "Nothing was recognized in the question, and no text of the catalog is similar to it: rephrase"
    " the question."
)
READER_NOTICES = (BY_WORDS, NO_WORD)
"""The notices that help a reader to ask; all others are for the operator."""


def analyze(catalog: Catalog, question: str, answerer: "AnsweringModel") -> CatalogQuery:
    """Analyze a question with the chat model, or by rules if none is set or it fails."""
    model, label = answerer
    if model is None:
        return catalog.rules.analyze(question)
    return ModelAnalyzer(model, label, catalog.rules, catalog.description).analyze(question)


@dataclass
class QuestionRun:
    """Answers one question; `person_weights` are 0 to 1 for the aspects with a preference.

    If there is an `analysis`, the question is not analyzed again.
    """

    question: str
    catalog: Catalog
    person_weights: Mapping[str, float]
    language: str
    analysis: CatalogQuery | None
    catalogs: Catalogs
    engine: SearchEngine
    answerer: "AnsweringModel"
    _timings: dict[str, float] = field(default_factory=dict, init=False)
    _started: float = field(default_factory=time.perf_counter, init=False)

    def events(self) -> Generator[CatalogEvent, None, None]:
        """Yield the steps of the answer; closing the generator closes the model's stream.

        Raises:
            ModelError: The chat model failed while answering. If the analysis or translation fails,
                there is only a notice.
        """
        query, description = self._query(), self.catalog.description
        aspects = description.aspect_names
        weights = all_weights(query.aspect_weights, self.person_weights, aspects)
        self._record_time("understood")
        yield QuestionAnalyzed(query, weights)
        ranked = self._search(query)
        self._record_time("ranked")
        if self.analysis is None and not is_about_places(query, ranked.places):
            yield from self._refusal(query, weights)
            return
        yield ranked
        places, passages = ranked.places, self._passages(ranked.places, weights)
        material = Material(query, weights, places, passages, description, self.language)
        writer = AnswerWriter(material, *self.answerer)
        with closing(writer.texts()) as texts:
            for text in texts:
                self._record_time("first_token")
                yield AnswerText(text)
        yield AnswerCompleted(self._answer(material, writer, ranked.notices))

    def _refusal(
        self, query: CatalogQuery, weights: Mapping[str, float]
    ) -> Generator[CatalogEvent, None, None]:
        """Says what can be asked instead; an analysis of the same question skips this check."""
        text = refusal_text(self.catalog, self.language)
        self._record_time("total")
        _log.info("catalog question refused", source_id=self.catalog.id)
        yield PlacesRanked(())
        yield AnswerText(text)
        yield AnswerCompleted(
            CatalogAnswer(
                self.catalog.id,
                query,
                weights,
                (),
                text,
                language=self.language,
                timings_ms=self._timings,
                is_refusal=True,
            )
        )

    def _query(self) -> CatalogQuery:
        analysis = self.analysis
        if analysis is None:
            return analyze(self.catalog, self.question, self.answerer)
        # Keep a model's wording: analyzing again could change the filters that the person kept.
        return analysis if analysis.analysed_by else self.catalog.rules.with_english_query(analysis)

    def _search(self, query: CatalogQuery) -> PlacesRanked:
        description, person = self.catalog.description, self.person_weights
        weights = mentioned_weights(query.aspect_weights, person, description.aspect_names)
        ranked = self.engine.search(self.catalog.id, description.rating_scale, query, weights)
        notices = ranked.notices
        if not is_recognized(query):
            notices = (BY_WORDS if ranked.places else NO_WORD, *notices)
        return PlacesRanked(self.catalogs.with_patterns(ranked.places), notices)

    def _passages(
        self, hits: tuple[PlaceHit, ...], weights: Mapping[str, float]
    ) -> tuple[RetrievedPassage, ...]:
        document_ids = [hit.place.document_id for hit in hits[:SHOWN_PLACES]]
        return numbered_passages(hits, self.engine.passages(document_ids), weights)

    def _answer(
        self, material: Material, writer: AnswerWriter, notices: tuple[str, ...]
    ) -> CatalogAnswer:
        checked = writer.check(self.catalogs.text_of)
        places, translation_notice = self._translate(material.places)
        self._record_time("total")
        self._log_answer(checked, places, writer.name)
        return CatalogAnswer(
            catalogue_id=self.catalog.id,
            query=material.query,
            weights=material.weights,
            places=places,
            answer=checked.text,
            citations=checked.citations,
            sources=material.passages,
            unsupported_sentences=checked.unsupported_sentences,
            notices=(*notices, *filter(None, (writer.notice, translation_notice))),
            model=writer.name,
            language=material.language,
            timings_ms=self._timings,
        )

    def _log_answer(
        self, checked: "CheckedAnswer", places: tuple[PlaceHit, ...], model: str
    ) -> None:
        stages: dict[str, Any] = {f"{stage}_ms": ms for stage, ms in self._timings.items()}
        _log.info(
            "catalog question complete",
            source_id=self.catalog.id,
            model=model,
            **stages,
            places=len(places),
            citations=len(checked.citations),
        )
        _log.debug("question text", question=self.question, answer=checked.text)

    def _translate(self, hits: tuple[PlaceHit, ...]) -> tuple[tuple[PlaceHit, ...], str]:
        """Translate the patterns of the places in the answer.

        Returns all hits, and a notice that says why translations are missing, "" if none are.
        """
        shown, others = hits[:SHOWN_PLACES], hits[SHOWN_PLACES:]
        patterns, reason = translate(
            [hit.patterns for hit in shown], self.answerer.model, self.language
        )
        notice = _("Not all quotes could be translated. {notice}").format(notice=reason)
        pairs = zip(shown, patterns, strict=True)
        places = (*(replace(hit, patterns=of_place) for hit, of_place in pairs), *others)
        return places, notice if reason else ""

    def _record_time(self, stage: str) -> None:
        """Record the milliseconds until the stage was first reached."""
        self._timings.setdefault(stage, elapsed_ms(self._started))
