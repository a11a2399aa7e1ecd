"""What a page shows before the first question."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import Progress
from errors import AppError
from ui import words
from ui.again import Again
from ui.answer import ASSISTANT, show_question
from ui.errors import show_error, show_problem
from ui.import_progress import share
from ui.literal import literal
from ui.services import principal

if TYPE_CHECKING:
    from services.library import LibraryStatus

PENDING, SUGGESTED = "pending_question", "suggested_questions"
IMPORT_PAGE = "pages/imports.py"


def show_library(services: Services) -> "LibraryStatus":
    """Show the library's notices, and how to fill it where it is empty."""
    status = services.library.status(principal())
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents:
        _show_empty_library(services)
    return status


def _show_empty_library(services: Services) -> None:
    st.subheader(words.LIBRARY_EMPTY, anchor=False)
    st.write(words.EMPTY_HOW)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(IMPORT_PAGE, label=words.EMPTY_IMPORT, icon=":material/upload_file:")
        wanted = st.button(words.EMPTY_SAMPLES, key="import-samples", icon=":material/school:")
        st.button(words.CHECK_AGAIN, icon=":material/refresh:", type="tertiary")
    if wanted and _import_samples(services):
        st.rerun()


def _import_samples(services: Services) -> bool:
    """Whether the samples were imported; where not, the reason is on the page."""
    bar = st.progress(0.0, words.SAMPLES_LISTING)

    def show(progress: Progress) -> None:
        if progress.total:
            text = words.SAMPLES_IMPORTING.format(done=progress.done, total=progress.total)
            bar.progress(share(progress), text)

    try:
        services.directories.import_samples(principal(), on_progress=show)
    except AppError as error:
        bar.empty()
        show_error(error)
        return False
    return True


def told_of_empty_library(services: Services, asked: str | Again) -> bool:
    """Answer by where documents come from while there are none; whether that was so.

    Asked of the library as it is now: files that were just dropped may have filled it.
    """
    if services.library.status(principal()).documents:
        return False
    show_question(asked if isinstance(asked, str) else asked.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        show_problem(words.EMPTY_ASKED, severe=False)
        st.page_link(IMPORT_PAGE, label=words.EMPTY_IMPORT, icon=":material/upload_file:")
    return True


def show_welcome(place: DeltaGenerator, services: Services, library: "LibraryStatus") -> None:
    """Show how to begin, in a place that an answer can clear."""
    with place.container():
        st.subheader(words.WELCOME, anchor=False)
        if library.has_samples:
            _show_questions(words.WELCOME_SAMPLES, words.SAMPLE_QUESTIONS)
            return
        suggested = _suggested(services, library)
        told = words.SUGGESTED if suggested else words.WELCOME_OWN
        documents = words.count(words.DOCUMENTS, library.documents)
        _show_questions(told.format(documents=documents), suggested)


def _show_questions(caption: str, questions: "tuple[str, ...] | list[str]") -> None:
    st.caption(caption)
    for question in questions:
        label = literal(question)
        st.button(label, key=f"sample-{question}", on_click=_choose, args=(question,))


def _suggested(services: Services, library: "LibraryStatus") -> list[str]:
    """Worked out anew on another day and for another library."""
    day = datetime.now(UTC).date()
    state = (day, library.documents, library.passages)
    known: tuple[object, list[str]] = st.session_state.get(SUGGESTED, (None, []))
    if known[0] != state:
        known = (state, services.suggestions.suggest(principal(), day))
        st.session_state[SUGGESTED] = known
    return known[1]


def _choose(question: str) -> None:
    st.session_state[PENDING] = question


def chosen_question() -> str | None:
    """The sample question that was just pressed, once."""
    question: str | None = st.session_state.pop(PENDING, None)
    return question
