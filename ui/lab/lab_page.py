"""The retrieval lab: compares the results and the quality of the search modes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from bootstrap import Services
from domain import COMPARED_MODES, Filter, Scope, SearchMode
from domain.errors import InputError
from services.library.document_style import style_of
from services.search.search_scope import condition_of
from ui.chat.explanation_view import explanation_html, passage_html, snippet_html
from ui.shared.frame import principal, show_problem
from ui.shared.safe_html import escape, literal, spans_html
from ui.text import words
from ui.text.reader_language import own_language_first

if TYPE_CHECKING:
    from services.evaluation.label_service import LabelService
    from services.evaluation.label_sets import LabelFigures
    from services.search.lab_service import Comparison, LabHit, ModeResult


QUESTION, SAMPLE = "lab_question", "lab_sample"
MOST = 20


class LabRequest(NamedTuple):
    """The input of the comparison form."""

    question: str
    modes: list[SearchMode]
    k: int
    condition: Filter | None
    rerank: bool


def lab_form(
    question: str = "", *, samples: bool = False, can_rerank: bool = False
) -> LabRequest | None:
    """Show the form, filled with the question; returns its input once it is submitted, else None.

    With `samples`, sample questions about the sample documents are offered.

    Raises:
        InputError: The filter can't be used.
    """
    st.session_state.setdefault(QUESTION, question)
    with st.form("lab", border=False):
        text = st.text_input(words.LAB_QUESTION, key=QUESTION, placeholder=words.LAB_PLACEHOLDER)
        left, right = st.columns([3, 1], gap="medium")
        modes = left.pills(
            words.LAB_MODES,
            list(SearchMode),
            selection_mode="multi",
            default=list(COMPARED_MODES),
            format_func=lambda mode: words.MODES[mode],
        )
        k = right.slider(words.LAB_K, 1, MOST, 5)
        rerank = can_rerank and right.toggle(words.RERANK)
        scope = _scope()
        submitted = st.form_submit_button(
            words.LAB_COMPARE, type="primary", icon=":material/balance:"
        )
    if samples:
        _show_samples()
    if not (submitted or st.session_state.pop(SAMPLE, False)):
        return None
    return LabRequest(text, list(modes), k, condition_of(scope, ()) or None, rerank)


def _scope() -> Scope:
    with st.expander(words.LAB_NARROW, icon=":material/filter_alt:"):
        formats = st.multiselect(words.LAB_FORMATS, words.FORMATS, placeholder=words.SCOPE_ANY)
        collections = st.text_input(words.LAB_COLLECTIONS)
        labels = st.text_input(words.LAB_LABELS)
        since = st.date_input(words.LAB_SINCE, value=None, max_value="today")
    day = since.isoformat() if isinstance(since, date) else ""
    return Scope((), _split(collections), formats, _split(labels), day)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _show_samples() -> None:
    with st.container(horizontal=True):
        for question in own_language_first(words.SAMPLE_QUESTIONS):
            label = literal(question)
            st.button(label, key=f"lab-{question}", on_click=_ask_sample, args=(question,))


def _ask_sample(question: str) -> None:
    st.session_state[QUESTION] = question
    st.session_state[SAMPLE] = True


ABREAST = 4
COLORS = 8


@dataclass(frozen=True)
class View:
    """The data of the columns; `letters` maps the ids of shared passages to their letters."""

    comparison: "Comparison"
    letters: Mapping[str, str]
    labels: "LabelService"

    @cached_property
    def right(self) -> frozenset[str]:
        """The ids of the passages that the user labeled as answering the question."""
        question = self.comparison.question.strip()
        labels = self.labels.list(principal())
        return frozenset(
            one.passage_id for one in labels if one.question == question and one.grade > 0
        )


def show_columns(view: View) -> None:
    """Show a column for each mode, up to `ABREAST` side by side; stacked on a narrow screen."""
    with st.container(key="lab-columns"):
        for row in _rows(view.comparison.results):
            for column, result in zip(st.columns(len(row)), row, strict=True):
                with column:
                    _show_mode(view, result)


def _rows(results: Sequence["ModeResult"]) -> Iterator[Sequence["ModeResult"]]:
    """The results in rows of similar length, each with at most `ABREAST` results."""
    rows = -(-len(results) // ABREAST)
    length = -(-len(results) // rows)
    return (results[start : start + length] for start in range(0, len(results), length))


def _show_mode(view: View, result: "ModeResult") -> None:
    st.html(_mode_html(result))
    if result.error:
        show_problem(f"{words.MODE_FAILED} {words.translated(result.error)}")
    elif not result.hits:
        st.caption(words.NO_PASSAGE_FOUND)
    for hit in result.hits:
        _show_hit(view, result, hit)


def _mode_html(result: "ModeResult") -> str:
    spent = "" if result.error else words.MILLISECONDS.format(ms=result.milliseconds)
    return (
        f'<header class="fn-mode"><h3>{escape(words.MODES[result.mode])}</h3><span>{spent}</span>'
        f"<p>{escape(words.MODE_NOTES[result.mode])}</p></header>"
    )


def _show_hit(view: View, result: "ModeResult", hit: "LabHit") -> None:
    key = f"{result.mode}-{hit.passage_id}"
    text, matched = hit.document.page_content, hit.explanation.matched_words
    style = style_of(hit.document.metadata["format"])
    with st.container(border=True, gap="small", key=f"lab-hit-{key}"):
        st.html(hit_html(view, hit))
        with st.expander(words.WHY):
            st.html(explanation_html(hit.explanation) + passage_html(text, matched, style))
            _show_label(view, hit, key)


def hit_html(view: View, hit: "LabHit") -> str:
    """The front of a card: rank, title, location, snippet, overlap with other modes, and score."""
    noted = hit.document.metadata
    snippet = snippet_html(hit.document.page_content, hit.explanation.matched_words)
    return (
        f'<article class="fn-hit"><header><span class="fn-n">{hit.rank}</span>'
        f'<span class="fn-title">{escape(noted["title"])}</span>{_letter(view, hit)}</header>'
        f'<div class="fn-where">{_where(hit)}</div>{snippet}<footer>{_overlap(view, hit)}'
        f"<span>{escape(words.SCORE)} {hit.explanation.score:.3f}</span></footer></article>"
    )


def _letter(view: View, hit: "LabHit") -> str:
    letter = view.letters.get(hit.passage_id)
    if letter is None:
        return ""
    color = list(view.letters).index(hit.passage_id) % COLORS
    return f'<span class="fn-letter fn-p{color}">{letter}</span>'


def _where(hit: "LabHit") -> str:
    noted = hit.document.metadata
    page = words.PAGE.format(page=noted["page"]) if noted["page"] else ""
    return spans_html((" › ".join(noted["heading_path"]), page))


def _overlap(view: View, hit: "LabHit") -> str:
    right = _badge("ok", words.RIGHT) if hit.passage_id in view.right else ""
    count, total = len(view.comparison.modes_with(hit.passage_id)), view.comparison.searched
    if total == 1:
        return right
    if count == 1:
        return _badge("lone", words.ONLY_HERE) + right
    return _badge("shared", words.OVERLAP.format(n=count, total=total)) + right


def _badge(kind: str, text: str) -> str:
    return f'<span class="fn-badge fn-{kind}">{escape(text)}</span>'


def _show_label(view: View, hit: "LabHit", key: str) -> None:
    """Show the button that labels the passage as answering the question, or removes the label."""
    question, passage_id = view.comparison.question, hit.passage_id
    if passage_id in view.right:
        if st.button(words.TAKE_BACK, key=f"wrong-{key}", icon=":material/undo:"):
            view.labels.remove(principal(), question, passage_id)
            st.rerun()
    elif st.button(words.RIGHT_PASSAGE, key=f"right-{key}", icon=":material/check:"):
        view.labels.label(principal(), question, passage_id, 1)
        st.rerun()


COMPARISON, FIGURES = "lab_comparison", "lab_figures"
MEASURED_K = 10


def compare(services: Services, request: LabRequest) -> None:
    """Run the comparison, and keep it in the session for the next runs of the page."""
    st.session_state.pop(COMPARISON, None)
    with st.spinner(words.SEARCHING):
        st.session_state[COMPARISON] = services.lab.compare(principal(), *request)


def current_comparison() -> "Comparison | None":
    """The last comparison in this session, if any."""
    comparison: Comparison | None = st.session_state.get(COMPARISON)
    return comparison


def show_comparison(comparison: "Comparison", labels: "LabelService") -> None:
    """Show a column for each mode, then charts of all modes."""
    from ui.lab import lab_charts as charts  # altair is slow to load; other pages do not need it

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
    """Show the quality of each mode on the user's labeled questions, measured on demand."""
    st.subheader(words.QUALITY, anchor=False)
    st.caption(words.QUALITY_NOTE)
    label_count = len(labels.list(principal()))
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(words.MEASURE, icon=":material/bar_chart:", disabled=not label_count)
        st.caption(words.count(words.LABELED, label_count))
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
    from ui.lab import lab_charts as charts

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
