"""The contents of the chat page before the first question."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import Progress
from errors import AppError
from ui.chat.answer_view import ASSISTANT, show_question
from ui.chat.first_import import show_first_import
from ui.chat.turn_actions import NewVersion
from ui.shared.frame import principal, show_error, show_problem
from ui.shared.safe_html import literal
from ui.text import words

if TYPE_CHECKING:
    from services.search.search_service import LibraryStatus

PENDING, SUGGESTED = "pending_question", "suggested_questions"
IMPORT_PAGE = "pages/imports.py"


def show_library(services: Services) -> "LibraryStatus":
    """Show the library's notices and, if it is empty, how to fill it."""
    status = services.library.status(principal())
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents and not show_first_import(services):
        _show_empty_library(services)
    return status


def _show_empty_library(services: Services) -> None:
    st.subheader(words.LIBRARY_EMPTY, anchor=False)
    st.write(words.EMPTY_HOW)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(IMPORT_PAGE, label=words.EMPTY_IMPORT, icon=":material/upload_file:")
        pressed = st.button(words.EMPTY_SAMPLES, key="import-samples", icon=":material/school:")
        st.button(words.CHECK_AGAIN, icon=":material/refresh:", type="tertiary")
    if pressed and _import_samples(services):
        st.rerun()


def _import_samples(services: Services) -> bool:
    """Import the samples; returns False, after showing the error, if that failed."""
    bar = st.progress(0.0, words.SAMPLES_LISTING)

    def show(progress: Progress) -> None:
        if progress.total:
            text = words.SAMPLES_IMPORTING.format(done=progress.done, total=progress.total)
            bar.progress(progress.share, text)

    try:
        services.directories.import_samples(principal(), on_progress=show)
    except AppError as error:
        bar.empty()
        show_error(error)
        return False
    return True


def show_if_empty(services: Services, request: str | NewVersion) -> bool:
    """If the library is empty, answer with how to import documents; returns whether it was.

    Reads the current status, because files that were just dropped may have filled the library.
    """
    if services.library.status(principal()).documents:
        return False
    show_question(request if isinstance(request, str) else request.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        show_problem(words.EMPTY_LIBRARY, severe=False)
        st.page_link(IMPORT_PAGE, label=words.EMPTY_IMPORT, icon=":material/upload_file:")
    return True


def show_welcome(place: DeltaGenerator, services: Services, library: "LibraryStatus") -> None:
    """Show how to begin, in a place that an answer clears."""
    with place.container():
        st.subheader(words.WELCOME, anchor=False)
        if library.has_samples:
            _show_questions(words.WELCOME_SAMPLES, words.SAMPLE_QUESTIONS)
            return
        suggested = _suggested(services, library)
        heading = words.SUGGESTED if suggested else words.WELCOME_OWN
        documents = words.count(words.DOCUMENTS, library.documents)
        _show_questions(heading.format(documents=documents), suggested)


def _show_questions(caption: str, questions: "tuple[str, ...] | list[str]") -> None:
    st.caption(caption)
    for question in questions:
        label = literal(question)
        st.button(label, key=f"sample-{question}", on_click=_choose, args=(question,))


def _suggested(services: Services, library: "LibraryStatus") -> list[str]:
    """Suggested questions, cached until the day or the library changes."""
    day = datetime.now(UTC).date()
    state = (day, library.documents, library.passages)
    cached: tuple[object, list[str]] = st.session_state.get(SUGGESTED, (None, []))
    if cached[0] != state:
        cached = (state, services.suggestions.suggest(principal(), day))
        st.session_state[SUGGESTED] = cached
    return cached[1]


def _choose(question: str) -> None:
    st.session_state[PENDING] = question


def chosen_question() -> str | None:
    """Return the sample question that was just clicked, if any, and forget it."""
    question: str | None = st.session_state.pop(PENDING, None)
    return question
