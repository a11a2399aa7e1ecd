"""How search time grows with the number of passages."""

from collections.abc import Mapping
from itertools import pairwise

from benchmarks.measure import Report

GROWTH = "p50 in ms by passages"
"""In the title of every table made by `add_growth`."""


def add_growth(report: Report, p50: Mapping[int, Mapping[str, float]]) -> None:
    """Add a table of each contender's p50 by size, and its growth from one size to the next.

    Args:
        report: Receives the table.
        p50: Milliseconds by contender for each size, ascending.
    """
    sizes = list(p50)
    steps = list(pairwise(sizes))
    names = dict.fromkeys(name for each in p50.values() for name in each)
    rows = [
        [
            name,
            *(p50[size].get(name) for size in sizes),
            *(_ratio(p50[large].get(name), p50[small].get(name)) for small, large in steps),
        ]
        for name in names
    ]
    ratios = [f"{large:,} / {small:,}" for small, large in steps]
    columns = ["", *(f"{size:,}" for size in sizes), *ratios]
    report.table(f"{report.title}: {GROWTH}", columns, rows)


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
