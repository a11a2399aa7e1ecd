"""Chance that falls the same way every time, and for each purpose apart from all others."""

from collections.abc import Mapping
from random import Random
from typing import TypeVar

_T = TypeVar("_T")


def chance(*purpose: object) -> Random:
    """Random numbers for a purpose: what is added for another purpose leaves them as they are."""
    return Random("/".join(["footnote", *map(str, purpose)]))  # noqa: S311 - not for secrets


def drawn(random: Random, weights: Mapping[_T, float]) -> _T:
    """One of the keys, each as likely as its weight among all."""
    return random.choices(list(weights), list(weights.values()))[0]


def between(value: float, lowest: float, highest: float) -> float:
    """The value, or the bound that it exceeds."""
    return min(max(value, lowest), highest)
