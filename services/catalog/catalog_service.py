"""Answers questions about catalogs, and lists their places."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from domain import CatalogQuery, FilterValue, Person, Principal
from domain.errors import ConflictError
from domain.language.script import script_of
from domain.logs import new_id, with_log_context
from domain.messages import _
from models.chat_choice import ChatModelChoice
from services.catalog.catalog_question import CatalogEvent, QuestionRun, analyze
from services.catalog.catalogs import Catalog, Catalogs, CatalogSummary, PlaceDetails
from services.catalog.place_search import SearchEngine
from services.catalog.preferences import (
    PeopleService,
    as_weights,
    require_language,
    validate_preferences,
)
from services.question_limit import QuestionLimit
from services.texts import checked_question
from storage.ledger.place_store import PlacePage

_LANGUAGES = {"korean": "ko", "japanese": "ja", "chinese": "ja"}
"""A question written only in Han characters is most likely Japanese."""


@dataclass(frozen=True)
class CatalogService:
    """Searches catalogs and explains the results.

    `answer_timeout_s` limits the total time of the chat model's calls for a question.
    """

    finder: Catalogs
    people: PeopleService
    engine: SearchEngine
    chat_choice: ChatModelChoice
    answer_timeout_s: float
    limit: QuestionLimit

    def catalogs(self, principal: Principal) -> list[CatalogSummary]:
        """The catalogs that the person can search, by name."""
        return self.finder.summaries(principal)

    def find(self, principal: Principal, name: str = "") -> Catalog:
        """The catalog with that id or name; "" finds the only one.

        Raises:
            ConflictError: There is no such catalog, or several match.
        """
        return self.finder.find(principal, name)

    def places(
        self,
        principal: Principal,
        catalog: str = "",
        *,
        fields: Mapping[str, FilterValue] | None = None,
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """A page of the matching places, by title.

        Raises:
            ConflictError: There is no such catalog, several match, or the catalog has no such
                filter.
        """
        source, fields = self.find(principal, catalog), fields or {}
        names = [one.name for one in source.description.filters]
        if unknown := sorted(set(fields) - set(names)):
            raise ConflictError(
                _("There is no filter {name}. Known filters: {names}.").format(
                    name=repr(unknown[0]), names=", ".join(names) or "none"
                )
            )
        return self.finder.places.list(
            source.id, fields=fields, types=types, min_rating=min_rating, offset=offset, limit=limit
        )

    def place(self, principal: Principal, place_id: str, catalog: str = "") -> PlaceDetails:
        """A place with its text, reviews, and patterns.

        Raises:
            NotFoundError: The catalog has no place with that id.
            ConflictError: There is no such catalog, or several match.
        """
        return self.finder.details(self.find(principal, catalog), place_id)

    def analyze(self, catalog: Catalog, question: str) -> CatalogQuery:
        """Analyze a question with the chat model, or by rules if none is set or it fails."""
        return analyze(catalog, question, self.chat_choice.answering_model())

    def search(
        self,
        principal: Principal,
        question: str,
        *,
        catalog: str | Catalog = "",
        user_id: str = "",
        preferences: Mapping[str, float] | None = None,
        analysis: CatalogQuery | None = None,
        language: str = "",
    ) -> Generator[CatalogEvent, None, None]:
        """Answer a question step by step. Invalid arguments raise before the first event.

        Closing the generator closes the stream of the chat model.

        Args:
            principal: The caller.
            question: The question as typed.
            catalog: The id or name of a catalog, "" for the only one, or a result of `find`.
            user_id: The person whose preferences apply; "" for none.
            preferences: 0 to 5 by aspect; they override the person's preferences.
            analysis: An earlier analysis, from which filters may have been removed; None to analyze
                the question.
            language: The language of the answer: en, ko, or ja; "" for that of the person, or else
                that of the question.

        Raises:
            InputError: The question is empty, too long, or not text; a preference is not from 0 to
                5; or the language is not supported.
            ConflictError: There is no such catalog, several match, or the catalog has no such
                aspect.
            NotFoundError: There is no such person.
            LimitError: The caller asked too many questions within the last minute.
            ModelError: The chat model failed while answering.
        """
        from models.answer_limits import within_time

        text = checked_question(question)
        if not isinstance(catalog, Catalog):
            catalog = self.find(principal, catalog)
        person = self.people.get(principal, user_id) if user_id else None
        weights = _weights(catalog, preferences, person)
        answer_language = _language(language, person, text)
        self.limit.count(principal)
        run = QuestionRun(
            text,
            catalog,
            weights,
            answer_language,
            analysis,
            self.finder,
            self.engine,
            self.chat_choice.answering_model(),
        )
        events = with_log_context(run.events(), question_id=new_id())
        return within_time(events, self.answer_timeout_s)


def _weights(
    catalog: Catalog, preferences: Mapping[str, float] | None, person: Person | None
) -> dict[str, float]:
    """The person's weights, restricted to the aspects of this catalog."""
    aspects = catalog.description.aspect_names
    stored = person.preferences if person else {}
    known = {name: value for name, value in stored.items() if name in aspects}
    return as_weights(known | validate_preferences(preferences or {}, aspects))


def _language(language: str, person: Person | None, question: str) -> str:
    require_language(language)
    of_person = person.language if person else ""
    return language or of_person or _LANGUAGES.get(script_of(question), "en")
