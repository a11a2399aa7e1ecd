"""Charts of the library: documents by source, language, and passage count; imports per day."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

# Altair fails if another thread has only partly imported pandas; see `ui.lab.lab_charts`.
import pandas  # type: ignore[import-untyped]  # noqa: F401
import streamlit as st

from bootstrap import Services
from domain import ImportDay
from services.library.document_service import LibrarySource
from ui.shared.frame import principal
from ui.shared.safe_html import escape
from ui.text import words

DAYS, FEW_DAYS, MOST_SOURCES = 90, 15, 12
TEAL = "#0b8a96"
COLORS = {"new": "#2e9156", "changed": "#d9662b", "gone": "#8a979e"}
BAR = 26
DATE = "%Y-%m-%d"  # month names would be English in every language


def show_figures(services: Services) -> None:
    """Show the four charts in two columns."""
    contents = services.documents.contents(principal())
    left, right = st.columns(2, gap="medium")
    scripts = {words.SCRIPT_NAMES.get(name, name): n for name, n in contents.scripts.items()}
    groups = passage_groups(services.documents.by_passages(principal()))
    days = services.documents.import_days(principal(), DAYS)
    with left:
        _show(words.SOURCES_CHART, bars(most_of(documents_by_name(contents.sources))))
        _show(words.PASSAGES_CHART, columns(groups))
    with right:
        _show(words.LANGUAGES_CHART, bars(scripts))
        title = words.IMPORTS_CHART.format(days=DAYS)
        _show(title, import_chart(days) if days else None, words.IMPORTS_CHART_NOTE)


def documents_by_name(sources: Iterable[LibrarySource]) -> Counter[str]:
    """The number of documents by source name, without catalogs; sources may share a name."""
    documents: Counter[str] = Counter()
    for one in sources:
        if not one.is_catalog:
            documents[one.name] += one.documents
    return documents


def most_of(sources: Mapping[str, int]) -> dict[str, int]:
    """The `MOST_SOURCES` sources with the most documents; the rest as one entry."""
    ranked = sorted(sources.items(), key=lambda item: -item[1])
    top, others = dict(ranked[:MOST_SOURCES]), ranked[MOST_SOURCES:]
    if others:
        name = words.count(words.OTHER_SOURCES, len(others))
        top[name] = top.get(name, 0) + sum(n for _, n in others)
    return top


def passage_groups(counts: Mapping[int | None, int]) -> dict[str, int]:
    """The number of documents by range of passage counts ("3–5", "> 200"), in order."""
    groups, before = {}, -1
    for bound, documents in counts.items():
        if bound is None:
            groups[words.CHART_MORE_THAN.format(n=before)] = documents
            break
        groups[f"{bound}" if bound == before + 1 else f"{before + 1}–{bound}"] = documents
        before = bound
    return groups


def bars(counts: Mapping[str, int]) -> alt.Chart:
    """A horizontal bar for each name, in the given order."""
    height = BAR * max(2, len(counts)) + 40
    chart: alt.Chart = (
        alt.Chart(_counts_data(counts), height=height)
        .mark_bar(color=TEAL, height=BAR - 8, cornerRadiusEnd=3)
        .encode(
            x=_documents(alt.X, tickCount=5),
            y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=160)),
            tooltip=[alt.Tooltip("name:N", title=" "), _documents_tooltip()],
        )
    )
    return chart


def columns(counts: Mapping[str, int]) -> alt.Chart:
    """A column for each group, in the given order."""
    axis = alt.Axis(labelAngle=0, labelOverlap=True)
    chart: alt.Chart = (
        alt.Chart(_counts_data(counts), height=220)
        .mark_bar(color=TEAL, cornerRadiusEnd=3)
        .encode(
            x=alt.X("name:N", sort=None, title=None, axis=axis),
            y=_documents(alt.Y),
            tooltip=[alt.Tooltip("name:N", title=" "), _documents_tooltip()],
        )
    )
    return chart


def import_chart(days: Sequence[ImportDay]) -> alt.Chart:
    """A stacked column for each day, with colors for new, changed, and removed documents."""
    rows = [
        {"day": one.day.isoformat(), "change": words.CHART_CHANGES[change], "documents": n}
        for one in days
        for change, n in one.counts.items()
    ]
    names = [words.CHART_CHANGES[change] for change in COLORS]
    scale = alt.Scale(domain=names, range=list(COLORS.values()))
    dates = alt.Axis(labelOverlap=True, format=DATE, formatType="time")
    size = 30 if len(days) < FEW_DAYS else alt.Undefined  # otherwise sized to fit
    chart: alt.Chart = (
        alt.Chart(_data(rows), height=220)
        .mark_bar(size=size)
        .encode(
            x=alt.X("day:O", timeUnit="yearmonthdate", title=None, axis=dates),
            y=_documents(alt.Y),
            color=alt.Color("change:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
            tooltip=[
                alt.Tooltip("day:T", title=words.CHART_DAY, format=DATE),
                alt.Tooltip("change:N", title=words.CHART_CHANGE),
                _documents_tooltip(),
            ],
        )
    )
    return chart


def _documents(channel: type[Any], **axis: Any) -> Any:
    return channel("documents:Q", title=None, axis=alt.Axis(tickMinStep=1, format=",d", **axis))


def _documents_tooltip() -> alt.Tooltip:
    return alt.Tooltip("documents:Q", title=words.CHART_DOCUMENTS, format=",d")


def _counts_data(counts: Mapping[str, int]) -> alt.Data:
    return _data([{"name": name, "documents": n} for name, n in counts.items()])


def _data(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _show(title: str, chart: alt.Chart | None, note: str = "") -> None:
    note_html = f'<p class="fn-chart-note">{escape(note)}</p>' if note else ""
    st.html(f'<h4 class="fn-chart">{escape(title)}</h4>{note_html}')
    if chart is None:
        st.caption(words.NO_IMPORTS)
    else:
        st.altair_chart(chart, width="stretch")
