"""The contents of the chat page before the first question."""

from contextlib import suppress
from datetime import UTC, datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import SearchChoice
from domain.errors import NotFoundError
from services.search.searchable_library import LibraryStatus
from ui.chat.answer_view import ASSISTANT, show_question
from ui.chat.conversation_list import current_conversation
from ui.chat.first_import import show_first_import
from ui.chat.turn_actions import NewVersion
from ui.library.sample_documents import show_sample_import, show_sample_removal
from ui.shared.frame import link_to_new_source, may_edit, principal, show_problem
from ui.shared.safe_html import literal
from ui.text import words
from ui.text.reader_language import language, own_language_first

PENDING, SUGGESTED = "pending_question", "suggested_questions"


def show_library(services: Services) -> LibraryStatus:
    """Show the library's notices and, if it is empty, how to fill it."""
    status = services.library.status(principal())
    for notice in status.notices:
        show_problem(notice, severe=False)
    is_empty = not (status.documents or has_files(services, current_conversation()))
    if is_empty and not show_first_import(services):
        _show_empty_library(services)
    return status


def _show_empty_library(services: Services) -> None:
    st.subheader(words.LIBRARY_EMPTY, anchor=False)
    st.write(words.EMPTY_HOW if may_edit() else words.EMPTY_FOR_READERS)
    with st.container(horizontal=True, vertical_alignment="center"):
        link_to_new_source(words.EMPTY_IMPORT)
        st.button(words.CHECK_AGAIN, icon=":material/refresh:", type="tertiary")
    show_sample_import(services)


def has_files(services: Services, conversation_id: str | None) -> bool:
    """Whether the conversation has files of its own."""
    with suppress(NotFoundError):  # the page reports a conversation that does not exist
        return bool(conversation_id and services.uploads.box_of(principal(), conversation_id))
    return False


def show_if_empty(
    services: Services,
    request: str | NewVersion,
    conversation_id: str | None,
    search: SearchChoice | None,
) -> bool:
    """If there is nothing to search, answer with how to import documents; returns whether so.

    The conversation's own files are enough, including those that were just dropped, and so is a
    source that the search names, such as a catalog.
    """
    is_named = search is not None and bool(search.scope.sources or search.scope.collections)
    has_documents = bool(services.library.status(principal()).documents)
    if has_documents or is_named or has_files(services, conversation_id):
        return False
    show_question(request if isinstance(request, str) else request.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        show_problem(words.EMPTY_LIBRARY, severe=False)
        link_to_new_source(words.EMPTY_IMPORT)
    return True


def show_welcome(place: DeltaGenerator, services: Services, library: LibraryStatus) -> None:
    """Show how to begin, in a place that an answer clears."""
    with place.container():
        st.subheader(words.WELCOME, anchor=False)
        questions, additions = st.columns([5, 3], gap="medium")
        with questions:
            _show_questions(services, library)
        with additions, st.container(key="add-documents"):
            _show_additions(services, library)


def _show_questions(services: Services, library: LibraryStatus) -> None:
    if library.has_only_samples:
        caption, questions = words.WELCOME_SAMPLES, own_language_first(words.SAMPLE_QUESTIONS)
    else:
        questions = _suggestions(services, library)
        heading = words.SUGGESTED if questions else words.WELCOME_OWN
        caption = heading.format(documents=words.count(words.DOCUMENTS, library.documents))
    st.caption(caption)
    for question in questions:
        label = literal(question)
        st.button(label, key=f"sample-{question}", on_click=_choose, args=(question,))


def _show_additions(services: Services, library: LibraryStatus) -> None:
    link_to_new_source(words.ADD_DOCUMENTS)
    st.caption(words.DROP_FILES)
    if library.has_samples:
        show_sample_removal(services)


def _suggestions(services: Services, library: LibraryStatus) -> list[str]:
    """Suggested questions, cached until the day, the library, or what is readable changes."""
    day, denied = datetime.now(UTC).date(), services.access.denied(principal())
    state = (principal(), day, language(), library.documents, library.passages, denied)
    cached: tuple[object, list[str]] = st.session_state.get(SUGGESTED, (None, []))
    if cached[0] != state:
        questions = services.suggestions.suggest(principal(), day, language=language())
        cached = (state, questions)
        st.session_state[SUGGESTED] = cached
    return cached[1]


def _choose(question: str) -> None:
    st.session_state[PENDING] = question


def chosen_question() -> str | None:
    """Return the sample question that was just clicked, if any, and forget it."""
    question: str | None = st.session_state.pop(PENDING, None)
    return question
