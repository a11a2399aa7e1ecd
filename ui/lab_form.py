"""What the retrieval lab is asked: a question, search modes, how many passages, a filter."""

from datetime import date
from typing import NamedTuple

import streamlit as st

from domain import COMPARED_MODES, Filter, Scope, SearchMode
from ui import words
from ui.literal import literal

QUESTION, SAMPLE = "lab_question", "lab_sample"
MOST = 20


class Asked(NamedTuple):
    """What to compare."""

    question: str
    modes: list[SearchMode]
    k: int
    condition: Filter | None
    rerank: bool


def lab_form(
    question: str = "", *, samples: bool = False, can_rerank: bool = False
) -> Asked | None:
    """Show the form, filled with the question; what it asks when it is sent, else None.

    With `samples` there are questions about the sample documents to begin with.

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
        sent = st.form_submit_button(words.LAB_COMPARE, type="primary", icon=":material/balance:")
    if samples:
        _show_samples()
    if not (sent or st.session_state.pop(SAMPLE, False)):
        return None
    from services.scope import condition_of  # brings SQLAlchemy, which the frame need not wait for

    return Asked(text, list(modes), k, condition_of(scope, ()) or None, rerank)


def _scope() -> Scope:
    with st.expander(words.LAB_NARROW, icon=":material/filter_alt:"):
        formats = st.multiselect(words.LAB_FORMATS, words.FORMATS, placeholder=words.SCOPE_ANY)
        collections = st.text_input(words.LAB_COLLECTIONS)
        labels = st.text_input(words.LAB_LABELS)
        since = st.date_input(words.LAB_SINCE, value=None, max_value="today")
    day = since.isoformat() if isinstance(since, date) else ""
    return Scope((), _listed(collections), formats, _listed(labels), day)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _show_samples() -> None:
    with st.container(horizontal=True):
        for question in words.SAMPLE_QUESTIONS:
            label = literal(question)
            st.button(label, key=f"lab-{question}", on_click=_ask_sample, args=(question,))


def _ask_sample(question: str) -> None:
    st.session_state[QUESTION] = question
    st.session_state[SAMPLE] = True
