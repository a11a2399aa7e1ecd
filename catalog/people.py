"""The people whose preferences a search knows, each kept by whoever asks for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from catalog.preferences import checked
from domain import ASPECTS, Person, Principal
from errors import InputError
from loaders.catalogue.description import description_of
from services.catalogue_kind import KIND
from services.own_sources import own_sources
from services.questions import require_letters
from storage.people import People
from storage.sources import Sources

LANGUAGES = ("en", "ko", "ja")
"""In which answers can be written."""

MAX_ID_CHARS = 200


@dataclass(frozen=True)
class PeopleService:
    """Keeps people for a principal: nobody else's are seen."""

    people: People
    sources: Sources

    def get(self, principal: Principal, user_id: str) -> Person:
        """The person of that id.

        Raises:
            NotFoundError: There is none yet.
        """
        return self.people.get(principal.user_id, user_id)

    def patch(
        self,
        principal: Principal,
        user_id: str,
        preferences: Mapping[str, float | None] | None = None,
        language: str | None = None,
    ) -> Person:
        """Change what is told of a person, who begins to be one where there was none yet.

        Args:
            principal: Whose person it is.
            user_id: The person's id among the principal's people.
            preferences: 0 to 5 by aspect; None takes the aspect out, others stay as they are.
            language: en, ko or ja, "" for any; None leaves it as it is.

        Raises:
            ConflictError: An aspect is of no catalogue.
            InputError: The id is empty or too long, a preference is not from 0 to 5, or the
                language is not known.
        """
        _require_id(user_id)
        require_language(language or "")
        change = partial(
            _changed,
            given=preferences or {},
            language=language,
            aspects=self.aspects(principal),
        )
        return self.people.change(principal.user_id, user_id, change)

    def aspects(self, principal: Principal) -> tuple[str, ...]:
        """What people may have preferences of: the aspects of all catalogues, each once.

        Without a catalogue they are those that words are known for.
        """
        return tuple(dict.fromkeys(self._aspects(principal))) or ASPECTS

    def _aspects(self, principal: Principal) -> Iterator[str]:
        for source in own_sources(self.sources, principal).values():
            if source.kind == KIND:
                yield from description_of(source.options["description"]).aspect_names


def require_language(told: str) -> None:
    """Refuse a language that no answer is written in; "" is any.

    Raises:
        InputError: It is none of them.
    """
    if told and told not in LANGUAGES:
        raise InputError(f"language is {told[:20]!r}: it can be {', '.join(LANGUAGES)}.")


def _changed(
    person: Person,
    *,
    given: Mapping[str, float | None],
    language: str | None,
    aspects: Sequence[str],
) -> Person:
    told = {aspect: value for aspect, value in given.items() if value is not None}
    taken = dict.fromkeys(given.keys() - told.keys(), 0.0)
    # An aspect of a catalogue that is gone can be taken out, though not be set any more.
    checked(taken, tuple(dict.fromkeys((*aspects, *person.preferences))))
    kept = {aspect: value for aspect, value in person.preferences.items() if aspect not in taken}
    return replace(
        person,
        preferences=kept | checked(told, aspects),
        language=person.language if language is None else language,
    )


def _require_id(user_id: str) -> None:
    if not user_id.strip() or len(user_id) > MAX_ID_CHARS:
        raise InputError(f"The id of a user has 1 to {MAX_ID_CHARS} characters, not only blanks.")
    require_letters(user_id, "id of the user")
