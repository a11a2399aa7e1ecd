"""The library in figures: documents by source, language and passages; imports day by day."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from domain import ImportDay
from ui import words
from ui.html import escape
from ui.services import principal

if TYPE_CHECKING:
    import altair as alt

DAYS, FEW_DAYS, MOST_SOURCES = 90, 15, 12
TEAL = "#0b8a96"
COLOURS = {"new": "#2e9156", "changed": "#d9662b", "gone": "#8a979e"}
BAR = 26
DATE = "%Y-%m-%d"  # names of months would be English in every language


def show_figures(services: Services) -> None:
    """Show the four charts, two abreast where there is room."""
    contents = services.documents.contents(principal())
    left, right = st.columns(2, gap="medium")
    sources = most_of({one.name: one.documents for one in contents.sources})
    scripts = {words.SCRIPT_NAMES.get(name, name): n for name, n in contents.scripts.items()}
    groups = passage_groups(services.documents.by_passages(principal()))
    days = services.documents.import_days(principal(), DAYS)
    with left:
        _show(words.SOURCES_CHART, bars(sources))
        _show(words.PASSAGES_CHART, columns(groups))
    with right:
        _show(words.LANGUAGES_CHART, bars(scripts))
        _show(words.IMPORTS_CHART.format(days=DAYS), _imports(days), words.IMPORTS_CHART_NOTE)


def most_of(sources: Mapping[str, int]) -> dict[str, int]:
    """The sources with the most documents; the others as one."""
    ranked = sorted(sources.items(), key=lambda item: -item[1])
    kept, others = dict(ranked[:MOST_SOURCES]), ranked[MOST_SOURCES:]
    if others:
        kept[words.count(words.OTHER_SOURCES, len(others))] = sum(n for _, n in others)
    return kept


def passage_groups(counts: Mapping[int | None, int]) -> dict[str, int]:
    """The groups of documents by their passages as "3–5", "> 200" and so on, in order."""
    groups, before = {}, -1
    for bound, documents in counts.items():
        if bound is None:
            groups[words.CHART_MORE_THAN.format(n=before)] = documents
            break
        groups[f"{bound}" if bound == before + 1 else f"{before + 1}–{bound}"] = documents
        before = bound
    return groups


def bars(counts: Mapping[str, int]) -> "alt.Chart":
    """A bar for each name, the longest as the list has them."""
    import altair as alt

    chart = alt.Chart(_named(counts), height=BAR * max(2, len(counts)) + 40).mark_bar(
        color=TEAL, height=BAR - 8, cornerRadiusEnd=3
    )
    encoded: alt.Chart = chart.encode(
        x=alt.X("documents:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=5, format=",d")),
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=160)),
        tooltip=_tooltip(),
    )
    return encoded


def columns(counts: Mapping[str, int]) -> "alt.Chart":
    """A column for each group, in their order."""
    import altair as alt

    chart = alt.Chart(_named(counts), height=220).mark_bar(color=TEAL, cornerRadiusEnd=3)
    encoded: alt.Chart = chart.encode(
        x=alt.X("name:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("documents:Q", title=None, axis=alt.Axis(tickMinStep=1, format=",d")),
        tooltip=_tooltip(),
    )
    return encoded


def import_chart(days: Sequence[ImportDay]) -> "alt.Chart":
    """A column for each day, its colours what was new, changed and gone."""
    import altair as alt

    rows = [
        {"day": one.day.isoformat(), "change": words.CHART_CHANGES[change], "documents": n}
        for one in days
        for change, n in one.counts.items()
    ]
    names = [words.CHART_CHANGES[change] for change in COLOURS]
    scale = alt.Scale(domain=names, range=list(COLOURS.values()))
    dates = alt.Axis(labelOverlap=True, format=DATE, formatType="time")
    size = 30 if len(days) < FEW_DAYS else alt.Undefined  # else as wide as there is room
    chart = alt.Chart(_data(rows), height=220).mark_bar(size=size)
    encoded: alt.Chart = chart.encode(
        x=alt.X("day:O", timeUnit="yearmonthdate", title=None, axis=dates),
        y=alt.Y("documents:Q", title=None, axis=alt.Axis(tickMinStep=1, format=",d")),
        color=alt.Color("change:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
        tooltip=[
            alt.Tooltip("day:T", title=words.CHART_DAY, format=DATE),
            alt.Tooltip("change:N", title=words.CHART_CHANGE),
            alt.Tooltip("documents:Q", title=words.CHART_DOCUMENTS, format=",d"),
        ],
    )
    return encoded


def _imports(days: Sequence[ImportDay]) -> "alt.Chart | None":
    return import_chart(days) if days else None


def _tooltip() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("name:N", title=" "),
        alt.Tooltip("documents:Q", title=words.CHART_DOCUMENTS, format=",d"),
    ]


def _named(counts: Mapping[str, int]) -> "alt.Data":
    return _data([{"name": name, "documents": n} for name, n in counts.items()])


def _data(rows: Sequence[Mapping[str, Any]]) -> "alt.Data":
    import altair as alt

    # Altair looks at pandas where it is loaded, and trips over one that another thread has half
    # imported; importing it here waits for the rest.
    import pandas  # type: ignore[import-untyped]  # noqa: F401

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _show(title: str, chart: "alt.Chart | None", note: str = "") -> None:
    note_html = f'<p class="fn-chart-note">{escape(note)}</p>' if note else ""
    st.html(f'<h4 class="fn-chart">{escape(title)}</h4>{note_html}')
    if chart is None:
        st.caption(words.NO_IMPORTS)
    else:
        st.altair_chart(chart, width="stretch")
