"""What the places of a catalogue hold all together: what questions may name, and what is usual."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any, NamedTuple


class PlaceColumns(NamedTuple):
    """Some columns of a place's row; `types`, `fields` and `aspects` as the JSON that is stored."""

    types: str
    fields: str
    aspects: str
    rating: float | None


class Contents(NamedTuple):
    """What a catalogue's places hold together.

    `values` has by the name of each filter the values that places have, `types` has theirs; both
    are sorted. `mean_rating` is that of their ratings, None where none is rated. `aspects` has by
    aspect how many of all reviews praise it and how many blame it; what no review judges is left
    out.
    """

    values: Mapping[str, list[str]]
    types: list[str]
    mean_rating: float | None
    aspects: Mapping[str, tuple[int, int]]


NOTHING = Contents({}, [], None, {})


def contents_of(places: Sequence[PlaceColumns]) -> Contents:
    """What these places hold together."""
    ratings = [place.rating for place in places if place.rating is not None]
    return Contents(
        values=_values(_distinct(place.fields for place in places)),
        types=sorted(set(chain.from_iterable(_distinct(place.types for place in places)))),
        mean_rating=fmean(ratings) if ratings else None,
        aspects=_sums(json.loads(f"[{','.join(place.aspects for place in places)}]")),
    )


def _distinct(written: Iterable[str]) -> list[Any]:
    """Each value once: few combinations are in use, so that few are decoded."""
    return [json.loads(one) for one in set(written)]


def _values(each: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for fields in each:
        for name, value in fields.items():
            found.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in sorted(found.items())}


def _sums(counted: Iterable[Mapping[str, Sequence[int]]]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for counts in counted:
        for aspect, (praise, blame) in counts.items():
            praised, blamed = sums.get(aspect, (0, 0))
            sums[aspect] = praised + praise, blamed + blame
    return sums
