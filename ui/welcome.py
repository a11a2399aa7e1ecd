"""What a page shows before the first question."""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from ui import words
from ui.errors import show_problem
from ui.services import principal

if TYPE_CHECKING:
    from services.library import LibraryStatus

PENDING = "pending_question"


def show_library(services: Services) -> "LibraryStatus":
    """Show the library's notices, and how to fill it where it is empty."""
    status = services.library.status(principal())
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents:
        _show_empty_library()
    return status


def _show_empty_library() -> None:
    st.subheader(words.LIBRARY_EMPTY, anchor=False)
    st.write(words.LIBRARY_HOW)
    st.code(words.IMPORT_COMMAND, language="bash")
    st.button(words.CHECK_AGAIN, icon=":material/refresh:")


def show_welcome(place: DeltaGenerator, library: "LibraryStatus") -> None:
    """Show how to begin, in a place that an answer can clear."""
    with place.container():
        st.subheader(words.WELCOME, anchor=False)
        if not library.has_samples:
            documents = words.count(words.DOCUMENTS, library.documents)
            st.caption(words.WELCOME_OWN.format(documents=documents))
            return
        st.caption(words.WELCOME_SAMPLES)
        for question in words.SAMPLE_QUESTIONS:
            st.button(question, key=f"sample-{question}", on_click=_choose, args=(question,))


def _choose(question: str) -> None:
    st.session_state[PENDING] = question


def chosen_question() -> str | None:
    """The sample question that was just pressed, once."""
    question: str | None = st.session_state.pop(PENDING, None)
    return question
