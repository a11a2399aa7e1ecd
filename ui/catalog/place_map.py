"""A map of the results: numbered points, without map tiles from the network."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import altair as alt

# Altair checks for pandas when it is loaded; see `ui.lab.lab_charts`.
import pandas  # type: ignore[import-untyped]  # noqa: F401

from ui.catalog.place_cards import SHOWN, rating_text
from ui.text import words

if TYPE_CHECKING:
    from domain import CatalogDescription, PlaceHit

HEIGHT = 380
MARGIN = 0.08  # share of the extent that is left free around the points
MIN_EXTENT = 0.004  # degrees, for example around a single place
POINT_SIZE = {"longitude": 0.075, "latitude": 0.085}
"""The size of a point as a share of the map's width and height on a small screen."""
ROUNDS = 60
FIRST, OTHERS = "#0b6e78", "#6b7f88"


def has_map(hits: Sequence["PlaceHit"]) -> bool:
    """Whether any of the places has coordinates."""
    return any(map(_has_point, hits))


def place_map(hits: Sequence["PlaceHit"], description: "CatalogDescription") -> alt.LayerChart:
    """A point for each place that has coordinates, with the number of its card."""
    rows = [_row(n, hit, description) for n, hit in enumerate(hits, start=1) if _has_point(hit)]
    _separate(rows)
    axes = {
        "x": _axis("longitude", words.LONGITUDE, [row["longitude"] for row in rows]),
        "y": _axis("latitude", words.LATITUDE, [row["latitude"] for row in rows]),
    }
    # One layer per point with its number, the best on top, so that overlaps hide whole numbers.
    layers = [layer for row in reversed(rows) for layer in _marks(row, axes)]
    return alt.LayerChart(layer=layers, height=HEIGHT, description=_alternative_text(rows))


def _alternative_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The places on the map, with the numbers of their cards, for screen readers."""
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
    color = FIRST if row["rank"] <= SHOWN else OTHERS
    yield base.mark_circle(size=460, opacity=1, stroke="white", strokeWidth=1.5, color=color)
    yield base.mark_text(fontWeight="bold", fontSize=12, color="white").encode(text="rank:O")


def _row(n: int, hit: "PlaceHit", description: "CatalogDescription") -> dict[str, Any]:
    place = hit.place
    return {
        "rank": n,
        "title": place.title,
        "rating": rating_text(hit, description),
        "latitude": place.latitude,
        "longitude": place.longitude,
    }


def _separate(rows: Sequence[dict[str, Any]]) -> None:
    """Move overlapping points apart until they only touch, in at most `ROUNDS` rounds."""
    width, height = (
        _extent([row[axis] for row in rows]) * size for axis, size in POINT_SIZE.items()
    )
    for _ in range(ROUNDS):
        for one, other in combinations(rows, 2):
            x = (other["longitude"] - one["longitude"]) / width
            y = (other["latitude"] - one["latitude"]) / height
            distance = math.hypot(x, y)
            if distance >= 1:
                continue
            # Points with the same coordinates are separated along the longitude.
            x, y = (x / distance, y / distance) if distance else (1.0, 0.0)
            for row, sign in ((one, -1), (other, 1)):
                row["longitude"] += sign * x * (1 - distance) / 2 * width
                row["latitude"] += sign * y * (1 - distance) / 2 * height


def _extent(values: Sequence[float]) -> float:
    return max(max(values) - min(values), MIN_EXTENT)


def _has_point(hit: "PlaceHit") -> bool:
    return hit.place.latitude is not None and hit.place.longitude is not None


def _axis(field: str, title: str, values: Sequence[float]) -> Any:
    margin = _extent(values) * MARGIN
    scale = alt.Scale(domain=[min(values) - margin, max(values) + margin], zero=False, nice=False)
    axis = alt.Axis(title=title, tickCount=5, format=".2f", domain=False, ticks=False)
    kind = alt.X if field == "longitude" else alt.Y
    return kind(f"{field}:Q", scale=scale, axis=axis)
