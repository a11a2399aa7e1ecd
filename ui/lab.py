"""The retrieval lab: what each search mode finds, side by side, and how good each is."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from errors import InputError
from ui import words
from ui.errors import show_problem
from ui.frame import show_title
from ui.lab_columns import View, show_columns
from ui.lab_form import Asked
from ui.services import principal

if TYPE_CHECKING:
    from services.lab import Comparison
    from services.label_figures import LabelFigures
    from services.labels import LabelService

COMPARISON, FIGURES = "lab_comparison", "lab_figures"
MEASURED_K = 10


def show_lab_title() -> None:
    """Say what the page is for."""
    show_title(words.LAB_TITLE, words.LAB_INTRO)


def compare(services: Services, asked: Asked) -> None:
    """Search, and keep what was found for this session's next runs of the page."""
    st.session_state.pop(COMPARISON, None)
    with st.spinner(words.SEARCHING):
        st.session_state[COMPARISON] = services.lab.compare(principal(), *asked)


def current_comparison() -> "Comparison | None":
    """What was compared last in this session."""
    comparison: Comparison | None = st.session_state.get(COMPARISON)
    return comparison


def show_comparison(comparison: "Comparison", labels: "LabelService") -> None:
    """Show a column for each mode, then the charts over all of them."""
    from ui import lab_charts as charts  # altair is slow to load, and the other page needs none

    letters = charts.letters_of(comparison.shared)
    show_columns(View(comparison, letters, labels))
    if not any(result.hits for result in comparison.results):
        return
    ranks, scores = st.columns(2, gap="medium")
    with ranks:
        _show_chart(words.RANK_CHART, words.RANK_CHART_NOTE, charts.rank_chart(comparison, letters))
    with scores:
        _show_chart(
            words.SCORE_CHART, words.SCORE_CHART_NOTE, charts.score_chart(comparison, letters)
        )


def show_quality(labels: "LabelService") -> None:
    """Show how good each mode is over the person's labelled questions, measured on demand."""
    st.subheader(words.QUALITY, anchor=False)
    st.caption(words.QUALITY_NOTE)
    given = len(labels.list(principal()))
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(words.MEASURE, icon=":material/bar_chart:", disabled=not given)
        st.caption(words.count(words.LABELLED, given))
    if pressed:
        _measure(labels)
    figures: LabelFigures | None = st.session_state.get(FIGURES)
    if figures:
        _show_figures(figures)


def _measure(labels: "LabelService") -> None:
    st.session_state.pop(FIGURES, None)
    try:
        with st.spinner(words.MEASURING):
            st.session_state[FIGURES] = labels.evaluate(principal(), k=MEASURED_K)
    except InputError as error:
        show_problem(str(error), severe=False)


def _show_figures(figures: "LabelFigures") -> None:
    from ui import lab_charts as charts

    for notice in figures.notices:
        show_problem(notice, severe=False)
    note = words.MEASURED.format(queries=figures.rows[0].queries)
    titles = {"ndcg": words.NDCG, "recall": words.RECALL}
    for column, (figure, title) in zip(st.columns(2, gap="medium"), titles.items(), strict=True):
        with column:
            chart = charts.quality_chart(figures.rows, figure)
            _show_chart(title.format(k=figures.rows[0].k), note, chart)


def _show_chart(title: str, note: str, chart: Any) -> None:
    st.html(f'<h4 class="fn-chart">{title}</h4><p class="fn-chart-note">{note}</p>')
    st.altair_chart(chart, width="stretch")
