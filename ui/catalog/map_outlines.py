"""Outlines of land, countries, and districts for maps, from the files in `outlines`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "outlines"

Point = tuple[float, float]
"""A longitude and a latitude in degrees."""
Outline = Sequence[Point]


class Bounds(NamedTuple):
    """A rectangle in degrees."""

    west: float
    south: float
    east: float
    north: float

    @property
    def area(self) -> float:
        """The area in square degrees."""
        return (self.east - self.west) * (self.north - self.south)

    def contains(self, other: "Bounds") -> bool:
        """Whether the other rectangle is inside."""
        return (
            self.west <= other.west
            and self.south <= other.south
            and self.east >= other.east
            and self.north >= other.north
        )

    def overlaps(self, outline: Outline) -> bool:
        """Whether the rectangle around the outline overlaps this one."""
        around = bounds_of(outline)
        return (
            around.west <= self.east
            and around.east >= self.west
            and around.south <= self.north
            and around.north >= self.south
        )


def bounds_of(outline: Outline) -> Bounds:
    """The rectangle around an outline."""
    longitudes = [longitude for longitude, _ in outline]
    latitudes = [latitude for _, latitude in outline]
    return Bounds(min(longitudes), min(latitudes), max(longitudes), max(latitudes))


@dataclass(frozen=True, slots=True)
class District:
    """A part of a city, with its names by language (en, ko, ja)."""

    names: Mapping[str, str]
    outlines: tuple[Outline, ...]


@dataclass(frozen=True, slots=True)
class Outlines:
    """What a map draws; `credit` names the sources of the data."""

    land: tuple[Outline, ...]
    borders: tuple[Outline, ...]
    districts: tuple[District, ...]
    credit: str


def outlines_in(view: Bounds) -> Outlines:
    """The most detailed outlines for the rectangle, cut off at its edges."""
    data = _smallest(view)
    return Outlines(
        tuple(_clip(_decode(data, "land"), view)),
        tuple(one for one in _decode(data, "borders") if view.overlaps(one)),
        tuple(_districts(data, view)),
        data["credit"],
    )


def _smallest(view: Bounds) -> Mapping[str, Any]:
    """The file with the smallest bounds that contain the rectangle, else that of the world."""
    files = [_read(path) for path in sorted(FOLDER.glob("*.json"))]
    ordered = sorted(files, key=_area)
    return next((one for one in ordered if Bounds(*one["bounds"]).contains(view)), ordered[-1])


def _area(data: Mapping[str, Any]) -> float:
    return Bounds(*data["bounds"]).area


@cache
def _read(path: Path) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def _districts(data: Mapping[str, Any], view: Bounds) -> Iterator[District]:
    for one in data["districts"]:
        outlines = tuple(_clip([_outline(each, data["digits"]) for each in one["rings"]], view))
        if outlines:
            yield District(one["names"], outlines)


def _decode(data: Mapping[str, Any], name: str) -> Iterator[Outline]:
    return (_outline(numbers, data["digits"]) for numbers in data[name])


def _outline(numbers: Sequence[int], digits: int) -> Outline:
    unit = 10**digits
    longitudes = [value / unit for value in accumulate(numbers[::2])]
    latitudes = [value / unit for value in accumulate(numbers[1::2])]
    return list(zip(longitudes, latitudes, strict=True))


def _clip(outlines: Iterable[Outline], view: Bounds) -> Iterator[Outline]:
    """The parts of closed outlines inside the rectangle (Sutherland-Hodgman)."""
    for outline in outlines:
        if not view.overlaps(outline):
            continue
        part = list(outline)
        for axis, limit, sign in (
            (0, view.west, 1), (0, view.east, -1), (1, view.south, 1), (1, view.north, -1),
        ):  # fmt: skip
            part = _cut(part, axis, limit, sign)
        if len(part) > 2:
            yield part


def _cut(outline: list[Point], axis: int, limit: float, sign: int) -> list[Point]:
    """The part of a closed outline on one side of a line."""
    part: list[Point] = []
    for before, point in pairwise([*outline[-1:], *outline]):
        was_inside, is_inside = (sign * (one[axis] - limit) >= 0 for one in (before, point))
        if was_inside != is_inside:
            part.append(_crossing(before, point, axis, limit))
        if is_inside:
            part.append(point)
    return part


def _crossing(one: Point, other: Point, axis: int, limit: float) -> Point:
    share = (limit - one[axis]) / (other[axis] - one[axis])
    crossing = [first + share * (second - first) for first, second in zip(one, other, strict=True)]
    crossing[axis] = limit
    return crossing[0], crossing[1]
