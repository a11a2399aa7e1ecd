"""Where the places are that were found: numbered points, without any tiles from the network."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import altair as alt

# As in `ui.lab_charts`: altair looks at pandas where it is loaded.
import pandas  # type: ignore[import-untyped]  # noqa: F401

from ui import words
from ui.catalogue_cards import SHOWN, rating_text

if TYPE_CHECKING:
    from domain import CatalogueDescription, FoundPlace

HEIGHT = 380
MARGIN = 0.08  # of the places' extent, left free around them
LEAST = 0.004  # degrees around a place that is alone
APART = {"longitude": 0.075, "latitude": 0.085}
"""How wide and high a point is, as a share of the map, on a screen where that is small."""
ROUNDS = 60
FIRST, OTHERS = "#0b6e78", "#6b7f88"


def has_map(found: Sequence["FoundPlace"]) -> bool:
    """Whether any of the places has coordinates."""
    return any(map(_has_point, found))


def place_map(found: Sequence["FoundPlace"], description: "CatalogueDescription") -> alt.LayerChart:
    """A point for each place that has coordinates, with the number of its card."""
    rows = [_row(n, one, description) for n, one in enumerate(found, start=1) if _has_point(one)]
    _move_apart(rows)
    axes = {
        "x": _axis("longitude", words.LONGITUDE, [row["longitude"] for row in rows]),
        "y": _axis("latitude", words.LATITUDE, [row["latitude"] for row in rows]),
    }
    # Each number with its own point, the best on top: what still overlaps hides whole numbers.
    layers = [layer for row in reversed(rows) for layer in _marks(row, axes)]
    return alt.LayerChart(layer=layers, height=HEIGHT, description=_described(rows))


def _described(rows: Sequence[Mapping[str, Any]]) -> str:
    """The map for who cannot see it: the places that are on it, by the numbers of their cards."""
    return f"{words.PLACES_MAP}: " + ", ".join(f"{row['rank']} {row['title']}" for row in rows)


def _marks(row: dict[str, Any], axes: Mapping[str, Any]) -> Iterator[alt.Chart]:
    base = alt.Chart(alt.Data(values=[row])).encode(  # type: ignore[no-untyped-call]
        **axes,
        tooltip=[
            alt.Tooltip("title:N", title=words.PLACE),
            alt.Tooltip("rank:O", title=words.RANK),
            alt.Tooltip("rating:N", title=words.PARTS["confidence"]),
        ],
    )
    colour = FIRST if row["rank"] <= SHOWN else OTHERS
    yield base.mark_circle(size=460, opacity=1, stroke="white", strokeWidth=1.5, color=colour)
    yield base.mark_text(fontWeight="bold", fontSize=12, color="white").encode(text="rank:O")


def _row(n: int, found: "FoundPlace", description: "CatalogueDescription") -> dict[str, Any]:
    place = found.place
    return {
        "rank": n,
        "title": place.title,
        "rating": rating_text(found, description),
        "latitude": place.latitude,
        "longitude": place.longitude,
    }


def _move_apart(rows: Sequence[dict[str, Any]]) -> None:
    """Move points that would hide each other's numbers so far that they touch, as far as may be."""
    across, up = (_extent([row[axis] for row in rows]) * APART[axis] for axis in APART)
    for _ in range(ROUNDS):
        for one, other in combinations(rows, 2):
            x = (other["longitude"] - one["longitude"]) / across
            y = (other["latitude"] - one["latitude"]) / up
            distance = math.hypot(x, y)
            if distance >= 1:
                continue
            # Two at the same place part along the longitude.
            x, y = (x / distance, y / distance) if distance else (1.0, 0.0)
            for row, sign in ((one, -1), (other, 1)):
                row["longitude"] += sign * x * (1 - distance) / 2 * across
                row["latitude"] += sign * y * (1 - distance) / 2 * up


def _extent(values: Sequence[float]) -> float:
    return max(max(values) - min(values), LEAST)


def _has_point(found: "FoundPlace") -> bool:
    return found.place.latitude is not None and found.place.longitude is not None


def _axis(field: str, title: str, values: Sequence[float]) -> Any:
    margin = _extent(values) * MARGIN
    scale = alt.Scale(domain=[min(values) - margin, max(values) + margin], zero=False, nice=False)
    axis = alt.Axis(title=title, tickCount=5, format=".2f", domain=False, ticks=False)
    kind = alt.X if field == "longitude" else alt.Y
    return kind(f"{field}:Q", scale=scale, axis=axis)
