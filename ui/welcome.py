"""What a page shows before the first question."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from ui import words
from ui.errors import show_problem
from ui.services import principal

PENDING = "pending_question"


def show_library(services: Services) -> bool:
    """Show the library's notices, and how to fill it where it is empty; True where it is not."""
    status = services.library.status(principal())
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents:
        _show_empty_library()
    return status.documents > 0


def _show_empty_library() -> None:
    st.subheader(words.LIBRARY_EMPTY, anchor=False)
    st.write(words.LIBRARY_HOW)
    st.code(words.IMPORT_COMMAND, language="bash")
    st.button(words.CHECK_AGAIN, icon=":material/refresh:")


def show_welcome(place: DeltaGenerator) -> None:
    """Show first questions to choose from, in a place that an answer can clear."""
    with place.container():
        st.subheader(words.WELCOME, anchor=False)
        st.caption(words.WELCOME_SAMPLES)
        for question in words.SAMPLE_QUESTIONS:
            st.button(question, key=f"sample-{question}", on_click=_choose, args=(question,))


def _choose(question: str) -> None:
    st.session_state[PENDING] = question


def chosen_question() -> str | None:
    """The sample question that was just pressed, once."""
    question: str | None = st.session_state.pop(PENDING, None)
    return question
