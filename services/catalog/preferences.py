"""People's preferences (0 to 5 by aspect), and the weights (0 to 1) of a question and a person.

The question takes precedence over the person's preferences, which take precedence over the neutral
weight.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from domain import ASPECTS, Person, Principal
from domain.errors import ConflictError, InputError
from domain.messages import _
from loaders.catalog.catalog_description import description_of
from services.access import Access
from services.sources.catalog_kind import KIND
from services.texts import require_letters
from storage.ledger.people_store import People

MAX_PREFERENCE = 5
"""The highest preference; 0 is the lowest."""

NEUTRAL = 0.5
"""The weight of an aspect that neither the question nor the person mentions."""

VERY_IMPORTANT = 0.8  # a preference of 4 of 5
_ASPECT_PHRASES = {
    "food": "delicious food",
    "service": "friendly service",
    "ambience": "pleasant ambience",
    "price": "reasonable prices",
    "hygiene": "clean place",
    "waiting": "short waiting time",
    "accessibility": "easy access",
}


def validate_preferences(
    preferences: Mapping[str, Any], aspects: Sequence[str]
) -> dict[str, float]:
    """Validate preferences; returns them as numbers, in the order of the aspects.

    Raises:
        ConflictError: The catalog has no such aspect; the message names it.
        InputError: A value is not a number from 0 to 5; the message names the aspect.
    """
    for aspect, value in preferences.items():
        if aspect not in aspects:
            raise ConflictError(_unknown_aspect(aspect, aspects))
        _require_preference(aspect, value)
    return {aspect: float(preferences[aspect]) for aspect in aspects if aspect in preferences}


def as_weights(preferences: Mapping[str, float]) -> dict[str, float]:
    """Preferences from 0 to 5 as weights from 0 to 1."""
    return {aspect: value / MAX_PREFERENCE for aspect, value in preferences.items()}


def all_weights(
    question: Mapping[str, float | None], person: Mapping[str, float], aspects: Iterable[str]
) -> dict[str, float]:
    """The weight of each aspect, 0 to 1, in the order of the aspects.

    It is the question's weight unless that is None, else the person's weight, else `NEUTRAL`.
    """
    names = list(aspects)
    return dict.fromkeys(names, NEUTRAL) | mentioned_weights(question, person, names)


def mentioned_weights(
    question: Mapping[str, float | None], person: Mapping[str, float], aspects: Iterable[str]
) -> dict[str, float]:
    """The weights of only those aspects that the question or the person mentions.

    Places are ranked by these weights, because other aspects would dilute the preferences.
    """
    mentioned = {aspect: weight for aspect, weight in question.items() if weight is not None}
    weights = {**person, **mentioned}
    return {aspect: weights[aspect] for aspect in aspects if aspect in weights}


def preference_text(weights: Mapping[str, float]) -> str:
    """The important aspects in English, most important first; "" if there are none.

    Only aspects above the neutral weight are named: a cross-encoder prefers places whose reviews
    mention the price even if the text says that the price is unimportant.
    """
    order = sorted(weights, key=lambda aspect: (-weights[aspect], aspect))
    very = [_phrase(aspect) for aspect in order if weights[aspect] >= VERY_IMPORTANT]
    rather = [_phrase(aspect) for aspect in order if NEUTRAL < weights[aspect] < VERY_IMPORTANT]
    levels = (("very important", very), ("important", rather))
    return "; ".join(f"{level}: {', '.join(phrases)}" for level, phrases in levels if phrases)


def _require_preference(aspect: str, value: object) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= MAX_PREFERENCE):  # type: ignore[operator]  # False for NaN
        raise InputError(
            _("The preference for {aspect} must be a number from 0 to {max}, not {value}.").format(
                aspect=aspect,
                max=MAX_PREFERENCE,
                value=value if is_number else repr(str(value)[:40]),
            )
        )


def _unknown_aspect(aspect: object, aspects: Sequence[str]) -> str:
    similar = get_close_matches(str(aspect), aspects, n=1)
    hint = _(" Did you mean {near}?").format(near=repr(similar[0])) if similar else ""
    return _("There is no aspect {aspect}.{hint} The aspects are {aspects}.").format(
        aspect=repr(str(aspect)[:40]), hint=hint, aspects=", ".join(aspects)
    )


def _phrase(aspect: str) -> str:
    return _ASPECT_PHRASES.get(aspect) or f"good {aspect.replace('_', ' ')}"


LANGUAGES = ("en", "ko", "ja")
"""The languages of answers."""

MAX_ID_CHARS = 200


@dataclass(frozen=True)
class PeopleService:
    """Manages the people of a principal; other principals can't see them."""

    people: People
    access: Access

    def get(self, principal: Principal, user_id: str) -> Person:
        """The person with that id.

        Raises:
            NotFoundError: There is no such person yet.
        """
        return self.people.get(principal.user_id, user_id)

    def patch(
        self,
        principal: Principal,
        user_id: str,
        preferences: Mapping[str, float | None] | None = None,
        language: str | None = None,
    ) -> Person:
        """Change a person's preferences, creating the person if necessary.

        Args:
            principal: The owner of the person.
            user_id: The person's id among those of the principal.
            preferences: 0 to 5 by aspect; None removes an aspect, and other aspects are unchanged.
            language: en, ko, or ja, "" for any; None leaves it unchanged.

        Raises:
            ConflictError: No catalog has such an aspect.
            InputError: The id is empty or too long, a preference is not from 0 to 5, or the
                language is not supported.
        """
        _require_id(user_id)
        require_language(language or "")
        change = partial(
            _change,
            preferences=preferences or {},
            language=language,
            aspects=self.aspects(principal),
        )
        return self.people.change(principal.user_id, user_id, change)

    def aspects(self, principal: Principal) -> tuple[str, ...]:
        """The aspects of all catalogs, or the built-in ones if there is no catalog."""
        return tuple(dict.fromkeys(self._aspects(principal))) or ASPECTS

    def _aspects(self, principal: Principal) -> Iterator[str]:
        for source in self.access.own_sources(principal).values():
            if source.kind == KIND:
                yield from description_of(source.options["description"]).aspect_names


def require_language(language: str) -> None:
    """Raise an InputError if answers can't be written in the language; "" means any language."""
    if language and language not in LANGUAGES:
        raise InputError(
            _("Unsupported language {language}: use one of {languages}.").format(
                language=repr(language[:20]), languages=", ".join(LANGUAGES)
            )
        )


def _change(
    person: Person,
    *,
    preferences: Mapping[str, float | None],
    language: str | None,
    aspects: Sequence[str],
) -> Person:
    changes = {aspect: value for aspect, value in preferences.items() if value is not None}
    removed = dict.fromkeys(preferences.keys() - changes.keys(), 0.0)
    # An aspect of a deleted catalog can still be removed, but not set.
    validate_preferences(removed, tuple(dict.fromkeys((*aspects, *person.preferences))))
    others = {name: value for name, value in person.preferences.items() if name not in removed}
    return replace(
        person,
        preferences=others | validate_preferences(changes, aspects),
        language=person.language if language is None else language,
    )


def _require_id(user_id: str) -> None:
    if not user_id.strip() or len(user_id) > MAX_ID_CHARS:
        raise InputError(
            _(
                "The id of a user must have 1 to {max_id_chars} characters that are not all blank."
            ).format(max_id_chars=MAX_ID_CHARS)
        )
    require_letters(user_id, _("id of the user"))
