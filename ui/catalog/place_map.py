"""A map of the results as an SVG image: outlines and numbered points, without map tiles.

Streamlit removes SVG elements from HTML, so the map is a picture in a data address.
"""

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from pathlib import Path

from domain import CatalogQuery, PlaceHit
from services.catalog.place_match import unmet_requests
from ui.catalog.map_outlines import (
    Bounds,
    District,
    Outline,
    Outlines,
    bounds_of,
    outlines_in,
)
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import language, number

STYLE = Path(__file__).with_suffix(".css")
WIDTH, HEIGHT = 480, 380
RADIUS = 13
MARGIN = 36
"""The space in pixels around the points."""
MIN_EXTENT = 0.01
"""The minimum height of the map in degrees, for example around a single place."""
KM_PER_DEGREE = 111.2
ROUNDS = 60
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
MIN_LABELED = 70
"""The minimum width in pixels of the visible part of a district with a name."""
MAX_BAR = 110
"""The maximum length in pixels of the bar that shows the scale."""


@dataclass(slots=True)
class MapPoint:
    """A place on the map; `x` and `y` are in pixels from the top left."""

    rank: int
    hit: PlaceHit
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Projection:
    """Maps degrees to pixels; a degree of longitude is scaled as at the middle of the map."""

    longitude: float
    latitude: float
    pixels: float
    """Pixels per degree of latitude."""

    @property
    def shrinkage(self) -> float:
        """The length of a degree of longitude relative to one of latitude."""
        return max(math.cos(math.radians(self.latitude)), 0.05)

    def to_pixels(self, longitude: float, latitude: float) -> tuple[float, float]:
        """The position of a point, from the top left."""
        x = WIDTH / 2 + (longitude - self.longitude) * self.shrinkage * self.pixels
        return x, HEIGHT / 2 - (latitude - self.latitude) * self.pixels

    @property
    def view(self) -> Bounds:
        """The visible rectangle, slightly enlarged so that cut edges are out of sight."""
        x, y = (WIDTH / 2 + 4) / self.pixels / self.shrinkage, (HEIGHT / 2 + 4) / self.pixels
        return Bounds(self.longitude - x, self.latitude - y, self.longitude + x, self.latitude + y)


def has_map(hits: Sequence[PlaceHit]) -> bool:
    """Whether any of the places has coordinates."""
    return any(map(_has_point, hits))


def map_html(hits: Sequence[PlaceHit], query: CatalogQuery) -> str:
    """The map, with a point for each place that has coordinates and the number of its card."""
    projection = projection_of([one for one in hits if _has_point(one)])
    points = map_points(hits, projection)
    outlines = outlines_in(projection.view)
    encoded = b64encode(_svg(points, outlines, projection, query).encode()).decode()
    credit = escape(words.MAP_CREDIT.format(sources=outlines.credit))
    return (
        f'<img class="fn-map" width="{WIDTH}" height="{HEIGHT}"'
        f' alt="{escape(_alternative_text(points, outlines))}"'
        f' src="data:image/svg+xml;base64,{encoded}"><p class="fn-chart-note">{credit}</p>'
    )


def _svg(
    points: Sequence[MapPoint], outlines: Outlines, projection: Projection, query: CatalogQuery
) -> str:
    # The best place is drawn last, so that overlaps hide whole numbers.
    marks = "".join(_mark(one, query) for one in reversed(points))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
        f"{_background(outlines, projection)}{marks}{_scale_bar(projection)}</svg>"
    )


def projection_of(hits: Sequence[PlaceHit]) -> Projection:
    """The projection that shows all of these places, which must have coordinates."""
    longitudes = [one.place.longitude or 0.0 for one in hits]
    latitudes = [one.place.latitude or 0.0 for one in hits]
    longitude = (min(longitudes) + max(longitudes)) / 2
    latitude = (min(latitudes) + max(latitudes)) / 2
    shrinkage = Projection(longitude, latitude, 1.0).shrinkage
    width = (max(longitudes) - min(longitudes)) * shrinkage
    height = max(max(latitudes) - min(latitudes), MIN_EXTENT)
    pixels = (HEIGHT - 2 * MARGIN) / height
    if width:
        pixels = min(pixels, (WIDTH - 2 * MARGIN) / width)
    return Projection(longitude, latitude, pixels)


def map_points(hits: Sequence[PlaceHit], projection: Projection) -> list[MapPoint]:
    """The points of the places that have coordinates, best first, moved apart if they overlap."""
    points = [
        MapPoint(rank, hit, *projection.to_pixels(hit.place.longitude, hit.place.latitude))
        for rank, hit in enumerate(hits, start=1)
        if hit.place.longitude is not None and hit.place.latitude is not None
    ]
    _separate(points)
    return points


def _separate(points: Sequence[MapPoint]) -> None:
    """Move overlapping points apart within the picture, in at most `ROUNDS` rounds."""
    _scatter(points)
    for _ in range(ROUNDS):
        for one, other in combinations(points, 2):
            _push_apart(one, other)
        for point in points:
            point.x = min(max(point.x, RADIUS), WIDTH - RADIUS)
            point.y = min(max(point.y, RADIUS), HEIGHT - RADIUS)


def _scatter(points: Sequence[MapPoint]) -> None:
    """Move points at the same position by some pixels, on a spiral; otherwise, they form a row."""
    occupied: Counter[tuple[float, float]] = Counter()
    for point in points:
        position = point.x, point.y
        pixels = occupied[position]
        point.x += pixels * math.cos(GOLDEN_ANGLE * (pixels - 1))
        point.y += pixels * math.sin(GOLDEN_ANGLE * (pixels - 1))
        occupied[position] += 1


def _push_apart(one: MapPoint, other: MapPoint) -> None:
    """Move two points that overlap until they only touch."""
    x, y = (other.x - one.x) / (2 * RADIUS), (other.y - one.y) / (2 * RADIUS)
    distance = math.hypot(x, y)
    if distance >= 1:
        return
    x, y = (x / distance, y / distance) if distance else (1.0, 0.0)
    for point, sign in ((one, -1), (other, 1)):
        point.x += sign * x * (1 - distance) * RADIUS
        point.y += sign * y * (1 - distance) * RADIUS


def _alternative_text(points: Sequence[MapPoint], outlines: Outlines) -> str:
    """The districts and the places with the numbers of their cards, for screen readers."""
    places = ", ".join(f"{one.rank} {one.hit.place.title}" for one in points)
    districts = ", ".join(_name(one) for one in outlines.districts)
    title = f"{words.PLACES_MAP} ({districts})" if districts else words.PLACES_MAP
    return f"{title}: {places}"


def _mark(point: MapPoint, query: CatalogQuery) -> str:
    kind = "part" if unmet_requests(point.hit.place, query) else "all"
    x, y = f"{point.x:.1f}", f"{point.y:.1f}"
    return (
        f'<g class="{kind}"><circle cx="{x}" cy="{y}" r="{RADIUS - 1}"/>'
        f'<text x="{x}" y="{y}" dy="0.36em">{point.rank}</text></g>'
    )


def _background(outlines: Outlines, projection: Projection) -> str:
    land = _path(outlines.land, projection, "Z")
    borders = _path(outlines.borders, projection, "")
    districts = "".join(
        f'<path class="district" d="{_path(one.outlines, projection, "Z")}"/>'
        for one in outlines.districts
    )
    labels = "".join(_label(one, projection) for one in outlines.districts)
    return (
        f'<rect class="sea" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<path class="land" d="{land}"/>'
        f'<path class="border" d="{borders}"/>{districts}{labels}'
    )


def _label(district: District, projection: Projection) -> str:
    """The name in the middle of the largest visible part; "" if that is too small for it."""
    largest = max(map(bounds_of, district.outlines), key=attrgetter("area"))
    left, bottom = projection.to_pixels(largest.west, largest.south)
    right, top = projection.to_pixels(largest.east, largest.north)
    if right - left < MIN_LABELED or bottom - top < MIN_LABELED / 2:
        return ""
    x, y = (left + right) / 2, (top + bottom) / 2
    return f'<text class="district-name" x="{x:.0f}" y="{y:.0f}">{escape(_name(district))}</text>'


def _name(district: District) -> str:
    names: Mapping[str, str] = district.names
    return names.get(language()) or names["en"]


def _path(outlines: Sequence[Outline], projection: Projection, end: str) -> str:
    return "".join(f"M{' '.join(_positions(one, projection))}{end}" for one in outlines)


def _positions(outline: Outline, projection: Projection) -> Iterator[str]:
    for longitude, latitude in outline:
        x, y = projection.to_pixels(longitude, latitude)
        yield f"{x:.1f},{y:.1f}"


def _scale_bar(projection: Projection) -> str:
    """A bar of a round length in kilometers or meters, at the bottom left."""
    pixels_per_km = projection.pixels / KM_PER_DEGREE
    power = 10 ** math.floor(math.log10(MAX_BAR / pixels_per_km))
    km = max(step * power for step in (1, 2, 5) if step * power * pixels_per_km <= MAX_BAR)
    label = (
        words.MAP_KM.format(n=number(km)) if km >= 1 else words.MAP_M.format(n=number(1000 * km))
    )
    right, y = 12 + km * pixels_per_km, HEIGHT - 12
    return (
        f'<path class="scale" d="M12,{y - 5}V{y}H{right:.1f}V{y - 5}"/>'
        f'<text class="scale-label" x="14" y="{y - 6}">{escape(label)}</text>'
    )


def _has_point(hit: PlaceHit) -> bool:
    return hit.place.latitude is not None and hit.place.longitude is not None
