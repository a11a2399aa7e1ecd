"""Draws the charts of the retrieval lab."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

# Altair uses pandas if it is loaded, and fails if another thread has only partly imported it.
# Importing it here waits until that import is complete.
import pandas  # type: ignore[import-untyped]  # noqa: F401

from ui.text import words

if TYPE_CHECKING:
    from services.evaluation.label_sets import ModeFigures
    from services.search.lab_service import Comparison, LabHit

# Readable in light and dark mode; the style sheet has the same colors as fn-p0 to fn-p7.
PALETTE = ("#0a828d", "#bc5825", "#7a5cd6", "#2a854f", "#cd3e7e", "#947000", "#3976c8", "#b5473c")
GREY = "#8a979e"
ROW, BAR = 34, 26
COLUMNS = alt.Axis(
    labelAngle=-30, labelOverlap=False, title=None, orient="top", domain=False, ticks=False
)

Letters = Mapping[str, str]
"""A letter for each passage that more than one mode found."""


def letters_of(shared: Sequence[str]) -> dict[str, str]:
    """A letter for each passage in order; from the 27th on, its number."""
    return {
        id_: chr(ord("A") + place) if place < 26 else str(place + 1)
        for place, id_ in enumerate(shared)
    }


def rank_chart(comparison: "Comparison", letters: Letters) -> alt.LayerChart:
    """Each mode's ranking as a column; lines connect a passage across modes."""
    rows = _data(_rows(comparison, letters))
    base = alt.Chart(rows).encode(
        x=alt.X("mode:N", sort=_modes(comparison), axis=COLUMNS),
        y=alt.Y("rank:O", title=words.RANK, axis=alt.Axis(domain=False, ticks=False)),
        color=_color(letters),
        tooltip=_tooltip(),
    )
    lines = base.mark_line(strokeWidth=3, opacity=0.55).transform_filter("datum.letter != ''")
    points = base.mark_circle(size=420, opacity=1)
    names = base.mark_text(fontWeight="bold").encode(text="letter:N", color=alt.value("white"))
    layers = [lines.encode(detail="id:N"), points, names]
    return alt.LayerChart(layer=layers, height=ROW * comparison.k + 40)


def score_chart(comparison: "Comparison", letters: Letters) -> alt.Chart:
    """Each mode's scores along a line, relative to its best score."""
    x = alt.X(
        "share:Q",
        title=words.SHARE_OF_BEST,
        scale=alt.Scale(domain=[0, 1], clamp=True),
        axis=alt.Axis(format="%", tickCount=5),
    )
    y = alt.Y("mode:N", sort=_modes(comparison), title=None)
    chart = alt.Chart(
        _data(_rows(comparison, letters)), height=ROW * len(comparison.results) + 50
    ).mark_circle(size=190, opacity=0.8)
    encoded: alt.Chart = chart.encode(x=x, y=y, color=_color(letters), tooltip=_tooltip())
    return encoded


def quality_chart(rows: Sequence["ModeFigures"], figure: str) -> alt.LayerChart:
    """A mean in [0, 1] per mode as a bar, with its 95% confidence interval as a line."""
    base = alt.Chart(_data([_estimate(row, figure) for row in rows])).encode(
        y=alt.Y("mode:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False)),
        tooltip=["mode:N", *(alt.Tooltip(f"{end}:Q", format=".3f") for end in ENDS)],
    )
    bars = base.mark_bar(color=PALETTE[0], opacity=0.75, height=BAR - 8, cornerRadiusEnd=3)
    lines = base.mark_rule(strokeWidth=3, color=PALETTE[1]).encode(x="low:Q", x2="high:Q")
    bars = bars.encode(x=alt.X("mean:Q", scale=alt.Scale(domain=[0, 1]), title=None))
    return alt.LayerChart(layer=[bars, lines], height=BAR * len(rows) + 50)


ENDS = ("mean", "low", "high")


def _estimate(row: "ModeFigures", figure: str) -> dict[str, Any]:
    estimate = getattr(row, figure)
    return {"mode": words.SHORT_MODES[row.mode], **{end: getattr(estimate, end) for end in ENDS}}


def _data(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _modes(comparison: "Comparison") -> list[str]:
    return [words.SHORT_MODES[result.mode] for result in comparison.results]


def _rows(comparison: "Comparison", letters: Letters) -> list[dict[str, Any]]:
    return [
        _row(words.SHORT_MODES[result.mode], hit, result.hits[0].explanation.score, letters)
        for result in comparison.results
        for hit in result.hits
    ]


def _row(mode: str, hit: "LabHit", best: float, letters: Letters) -> dict[str, Any]:
    score = hit.explanation.score
    return {
        "mode": mode,
        "rank": hit.rank,
        "id": hit.passage_id,
        "letter": letters.get(hit.passage_id, ""),
        "title": hit.document.metadata["title"],
        "score": score,
        "share": score / best if best > 0 else 0.0,
    }


def _color(letters: Letters) -> alt.Color:
    colors = [PALETTE[place % len(PALETTE)] for place in range(len(letters))]
    scale = alt.Scale(domain=[*letters.values(), ""], range=[*colors, GREY])
    return alt.Color("letter:N", scale=scale, legend=None)


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("title:N", title=words.PASSAGE),
        alt.Tooltip("mode:N", title=words.SEARCH_MODE),
        alt.Tooltip("rank:O", title=words.RANK),
        alt.Tooltip("score:Q", title=words.SCORE, format=".3f"),
    ]
