"""A chart of p50 by number of passages, as SVG: one panel for each part that compares sizes.

Both axes are logarithmic, so that linear growth has the same slope everywhere.
"""

import math
from collections.abc import Sequence
from html import escape

from benchmarks.growth import GROWTH
from benchmarks.measure import Report, Table, shown

PANEL, HEIGHT = 450, 400
LEFT, RIGHT, TOP, BOTTOM = 52, 162, 40, 44
OURS = "#c2410c"
OTHERS = ["#1d4ed8", "#047857", "#7c3aed", "#0e7490", "#a16207", "#be185d", "#4b5563"]
LABEL_GAP = 13


def chart_of(reports: Sequence[Report]) -> str:
    """The SVG; without panels if no part compares sizes."""
    tables = [table for report in reports for table in report.tables if GROWTH in table.title]
    panels = [
        f'<g transform="translate({number * PANEL} 0)">{_panel(table)}</g>'
        for number, table in enumerate(tables)
    ]
    width = max(1, len(tables)) * PANEL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">'
        f'<rect width="{width}" height="{HEIGHT}" fill="white"/>' + "\n".join(panels) + "</svg>\n"
    )


def _panel(table: Table) -> str:
    sizes = [
        int(name.replace(",", "")) for name in table.columns if name.replace(",", "").isdigit()
    ]
    lines = {str(row[0]): _points(sizes, row[1 : 1 + len(sizes)]) for row in table.rows}
    times = [time for points in lines.values() for _, time in points]
    x = _Scale(min(sizes), max(sizes), LEFT, PANEL - RIGHT)
    low, high = (10 ** step(math.log10(limit(times))) for step, limit in _ENDS)
    y = _Scale(low, high, HEIGHT - BOTTOM, TOP)
    title = (
        f'<text x="{LEFT}" y="20" font-size="13" font-weight="bold">{escape(table.title)}</text>'
    )
    return "\n".join([title, *_axes(sizes, x, y), *_lines(lines, x, y)])


_ENDS = ((math.floor, min), (math.ceil, max))


class _Scale:
    """A logarithmic scale from values to coordinates."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        span = math.log(self.high / self.low) or 1.0
        share = math.log(value / self.low) / span
        return round(self._start + share * (self._end - self._start), 1)


def _points(sizes: Sequence[int], times: Sequence[str | float | None]) -> list[tuple[int, float]]:
    return [
        (size, time)
        for size, time in zip(sizes, times, strict=True)
        if isinstance(time, float) and time > 0
    ]


def _axes(sizes: Sequence[int], x: _Scale, y: _Scale) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, PANEL - RIGHT
    shapes = [
        f'<text x="{x(size)}" y="{bottom + 16}" text-anchor="middle">{size:,}</text>'
        for size in sizes
    ]
    shapes.append(f'<text x="{LEFT}" y="{bottom + 34}" fill="#444">passages</text>')
    for power in range(round(math.log10(y.low)), round(math.log10(y.high)) + 1):
        place, value = y(10.0**power), 10.0**power
        shapes.append(f'<path d="M{LEFT} {place}H{right}" stroke="#ddd"/>')
        shapes.append(f'<text x="{LEFT - 6}" y="{place + 4}" text-anchor="end">{value:g}</text>')
    return shapes


def _lines(lines: dict[str, list[tuple[int, float]]], x: _Scale, y: _Scale) -> list[str]:
    shapes: list[str] = []
    held = {name: points for name, points in lines.items() if points}
    labels = _spread({name: y(points[-1][1]) for name, points in held.items()})
    for number, (name, points) in enumerate(held.items()):
        color = OTHERS[(number - 1) % len(OTHERS)] if number else OURS
        path = " ".join(f"{x(size)},{y(time)}" for size, time in points)
        shapes.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" '
            f'stroke-width="{1.5 if number else 3}"/>'
        )
        shapes += [f'<circle cx="{x(s)}" cy="{y(t)}" r="3" fill="{color}"/>' for s, t in points]
        label = f"{name} {shown(points[-1][1])}"
        shapes.append(
            f'<text x="{PANEL - RIGHT + 8}" y="{labels[name] + 4:.1f}" fill="{color}">'
            f"{escape(label)}</text>"
        )
    return shapes


def _spread(places: dict[str, float]) -> dict[str, float]:
    """The heights of the labels, moved down where they would overlap."""
    spread: dict[str, float] = {}
    last = -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        last = max(place, last + LABEL_GAP)
        spread[name] = last
    return spread
