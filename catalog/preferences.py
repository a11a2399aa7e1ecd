"""What a person prefers: from 0 to 5 by aspect as they set it, from 0 to 1 as it is reckoned with.

What is said in a question goes before what the person set, and that before neutral.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from errors import ConflictError, InputError

MOST = 5
"""The highest preference; 0 is the lowest."""

NEUTRAL = 0.5
"""The weight of an aspect that neither the question nor the person says anything of."""

VERY_IMPORTANT = 0.8  # a preference of 4 of 5
_WISHES = {
    "food": "delicious food",
    "service": "friendly service",
    "ambience": "pleasant ambience",
    "price": "reasonable prices",
    "hygiene": "clean place",
    "waiting": "short waiting time",
    "accessibility": "easy access",
}


def checked(given: Mapping[str, Any], aspects: Sequence[str]) -> dict[str, float]:
    """The preferences as numbers, in the order of the aspects.

    Raises:
        ConflictError: One is of no aspect of the catalogue; the message names it.
        InputError: One is no number from 0 to 5; the message names the aspect.
    """
    for aspect, value in given.items():
        if aspect not in aspects:
            raise ConflictError(_unknown(aspect, aspects))
        _require_preference(aspect, value)
    return {aspect: float(given[aspect]) for aspect in aspects if aspect in given}


def as_weights(preferences: Mapping[str, float]) -> dict[str, float]:
    """Preferences from 0 to 5 as weights from 0 to 1: a fifth of each."""
    return {aspect: value / MOST for aspect, value in preferences.items()}


def preferred(given: Mapping[str, float], stored: Mapping[str, float]) -> dict[str, float]:
    """By aspect, what came with the request (`given`), else what is stored for the person."""
    return {**stored, **given}


def merged(
    analysed: Mapping[str, float | None],
    person: Mapping[str, float],
    aspects: Iterable[str],
) -> dict[str, float]:
    """The weight of each aspect, 0 to 1, in their order.

    It is what the question said where it said something (0.0 is something, None is not), else the
    person's weight, else `NEUTRAL`. Other aspects than those of the catalogue are left out.
    """
    names = list(aspects)
    said = spoken_of(analysed, person, names)
    return {aspect: said.get(aspect, NEUTRAL) for aspect in names}


def spoken_of(
    analysed: Mapping[str, float | None], person: Mapping[str, float], aspects: Iterable[str]
) -> dict[str, float]:
    """The same weights of those aspects alone that the question or the person says something of.

    Places are ranked by these: what nobody speaks of must not blur a wish.
    """
    said = {aspect: weight for aspect, weight in analysed.items() if weight is not None}
    known = {**person, **said}
    return {aspect: known[aspect] for aspect in aspects if aspect in known}


def preference_text(weights: Mapping[str, float]) -> str:
    """What matters to the person in English, the most important first; "" where nothing does.

    Only what weighs more than neutral is named: to a cross-encoder, a place whose reviews speak of
    the price fits a text that names the price, even one that says it is of no importance.
    """
    order = sorted(weights, key=lambda aspect: (-weights[aspect], aspect))
    very = [_wish(aspect) for aspect in order if weights[aspect] >= VERY_IMPORTANT]
    rather = [_wish(aspect) for aspect in order if NEUTRAL < weights[aspect] < VERY_IMPORTANT]
    said = (("very important", very), ("important", rather))
    return "; ".join(f"{how}: {', '.join(wishes)}" for how, wishes in said if wishes)


def _require_preference(aspect: str, value: object) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= MOST):  # type: ignore[operator]  # NaN is in no range
        told = f"it is {str(value)[:40]!r}" if not is_number else f"it is {value}"
        raise InputError(f"The preference for {aspect} must be a number from 0 to {MOST}, {told}.")


def _unknown(aspect: object, aspects: Sequence[str]) -> str:
    near = get_close_matches(str(aspect), aspects, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no aspect {str(aspect)[:40]!r}.{meant} The aspects are {', '.join(aspects)}."


def _wish(aspect: str) -> str:
    return _WISHES.get(aspect) or f"good {aspect.replace('_', ' ')}"
