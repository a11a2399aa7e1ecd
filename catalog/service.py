"""Answers questions about a catalogue for a person, and shows its places."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

from catalog.asking import Asked, Asker, QuestionRun
from catalog.catalogues import Catalogue, Catalogues, CatalogueSummary
from catalog.events import CatalogueEvent
from catalog.people import PeopleService, require_language
from catalog.places_view import PlaceDetails, PlacesView
from catalog.preferences import as_weights, checked, preferred
from domain import CatalogueQuery, Person, Principal, WantedValue
from language.script import script_of
from services.questions import checked_question
from storage.places import PlacePage

Events = Generator[CatalogueEvent, None, None]

_SCRIPTS = {"korean": "ko", "japanese": "ja", "chinese": "ja"}
"""Han characters alone are far more often a short Japanese question here."""


@dataclass(frozen=True)
class CatalogueService:
    """Searches catalogues and tells why it found what it found.

    `people` keeps what persons prefer; `make_asker` gives what answers, which is slow to load and
    only a question needs; `within_time` gives the events of a question, whose calls of the chat
    model end with the time for one answer.
    """

    known: Catalogues
    view: PlacesView
    people: PeopleService
    make_asker: Callable[[], Asker]
    within_time: Callable[[Events], Events]

    def catalogues(self, principal: Principal) -> list[CatalogueSummary]:
        """Every catalogue that the person may search, by name."""
        return self.known.summaries(principal)

    def places(
        self,
        principal: Principal,
        catalogue: str = "",
        *,
        fields: Mapping[str, WantedValue] | None = None,
        types: Sequence[str] = (),
        min_rating: float | None = None,
        offset: int = 0,
        limit: int = 50,
    ) -> PlacePage:
        """`limit` places that match, after the first `offset`, by title.

        Raises:
            ConflictError: There is no such catalogue, or several and none is named; or the
                catalogue has no such filter.
        """
        found = self.known.find(principal, catalogue)
        return self.view.page(
            found,
            fields=fields or {},
            types=types,
            min_rating=min_rating,
            offset=offset,
            limit=limit,
        )

    def place(self, principal: Principal, place_id: str, catalogue: str = "") -> PlaceDetails:
        """A place with its text, and what its reviews say again and again.

        Raises:
            NotFoundError: There is none of that id in the catalogue.
            ConflictError: There is no such catalogue, or several and none is named.
        """
        return self.view.details(self.known.find(principal, catalogue), place_id)

    def search(
        self,
        principal: Principal,
        question: str,
        *,
        catalogue: str | Catalogue = "",
        user_id: str = "",
        preferences: Mapping[str, float] | None = None,
        understood: CatalogueQuery | None = None,
        language: str = "",
    ) -> Generator[CatalogueEvent, None, None]:
        """Answer a question step by step; what is wrong with it is raised before the first one.

        Closing the events ends what a chat model is still writing.

        Args:
            principal: Who asks.
            question: As it was typed.
            catalogue: The id or the name of one, "" for the only one; or what `known.find` gave.
            user_id: Whose preferences count beside the question; "" nobody's.
            preferences: 0 to 5 by aspect; they go before the person's own.
            understood: Searches again for this, an earlier analysis of which a filter was taken.
            language: Of the answer: en, ko or ja; "" the person's, else the question's.

        Raises:
            InputError: The question is empty, too long or no text; a preference is not between 0
                and 5; or the language is none of the three.
            ConflictError: There is no such catalogue, or several and none is named; or a preference
                is of no aspect of it.
            NotFoundError: There is no such person.
            ModelError: The chat model failed while it answered.
        """
        typed = checked_question(question)
        if not isinstance(catalogue, Catalogue):
            catalogue = self.known.find(principal, catalogue)
        person = self.people.get(principal, user_id) if user_id else None
        asked = Asked(
            question=typed,
            catalogue=catalogue,
            person_weights=_weights(catalogue, preferences, person),
            language=_language(language, person, typed),
            understood=understood,
        )
        return self.within_time(QuestionRun(asked, self.make_asker()).events())


def _weights(
    found: Catalogue, preferences: Mapping[str, float] | None, person: Person | None
) -> dict[str, float]:
    """What the person prefers of the catalogue's aspects, 0 to 1.

    A person's own are kept for every catalogue: those of other aspects are left out.
    """
    aspects = found.description.aspect_names
    given = checked(preferences or {}, aspects)
    stored = person.preferences if person else {}
    known = {name: value for name, value in stored.items() if name in aspects}
    return as_weights(preferred(given, known))


def _language(told: str, person: Person | None, question: str) -> str:
    require_language(told)
    of_person = person.language if person else ""
    return told or of_person or _SCRIPTS.get(script_of(question), "en")
