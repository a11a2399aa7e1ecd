"""The chat page while the first documents are being imported."""

import streamlit as st

from bootstrap import Services
from domain import ImportKind, ImportRun, ImportState, Progress
from domain.errors import AppError, NotFoundError, SourceError
from domain.public_messages import message_for_everyone
from ui.chat.answer_view import ASSISTANT, show_question
from ui.chat.question_refusal import discard_return, refuse, return_to_input
from ui.chat.turn_actions import NewVersion
from ui.shared.frame import principal, show_errors
from ui.shared.safe_html import run_script
from ui.text import words

_UNFINISHED = (ImportState.QUEUED, ImportState.RUNNING)
SHOW_RETURNED = "show-returned"
"""The key of an invisible button that a script clicks after a stop, to rerun the page."""


def show_first_import(services: Services) -> bool:
    """Show the import that fills an empty library; returns whether there is one.

    The page reruns when the import ends. Questions can be asked in the meantime.
    """
    run = _first_import(services)
    if run is None:
        return False
    st.subheader(words.FIRST_IMPORT, anchor=False)
    st.write(words.FIRST_IMPORT_HOW)
    st.fragment(_show_progress, run_every="1s")(services, run.id)
    return True


def wait_for_first_import(services: Services, request: str | NewVersion) -> None:
    """Show the question until the import that fills an empty library has ended, if there is one.

    If there are still no documents then, a typed question returns to the input with the reason. If
    the reader stops the wait, it returns without one.
    """
    run = _first_import(services)
    if run is None:
        return
    if isinstance(request, str):
        return_to_input(request)
    place = st.empty()
    with place.container():
        st.button(SHOW_RETURNED, key=SHOW_RETURNED)
        run_script("stopped")
        show_question(request if isinstance(request, str) else request.question)
        with st.chat_message("assistant", avatar=ASSISTANT):
            bar = st.progress(0.0, words.FIRST_IMPORT_WAIT)

    def show(progress: Progress) -> None:
        bar.progress(progress.share, words.FIRST_IMPORT_WAIT)

    try:
        problem = _problem(services.worker.wait(principal(), run.id, show))
    except AppError as error:  # such as a source that was removed in the meantime
        problem = _failure(message_for_everyone(error))
    finally:
        place.empty()  # does nothing after a stop, because nothing more can be drawn then
    discard_return()
    if isinstance(request, str) and not services.library.status(principal()).documents:
        refuse(request, SourceError(problem))
        st.rerun()


def _problem(run: ImportRun) -> str:
    """Why a question can't be asked after a run that added no documents."""
    if run.state is ImportState.PAUSED:
        return str(words.FIRST_IMPORT_PAUSED)
    return _failure(run.message) if run.message else str(words.FIRST_IMPORT_EMPTY)


def _failure(reason: str) -> str:
    return words.FIRST_IMPORT_FAILED.format(reason=words.translated(reason))


@show_errors()
def _show_progress(services: Services, import_id: str) -> None:
    try:
        run = services.queue.get(principal(), import_id)
    except NotFoundError:  # its source was removed
        st.rerun()
    if not _is_under_way(run):
        st.rerun()
    st.progress(run.progress.share if run.progress else 0.0)


def _first_import(services: Services) -> ImportRun | None:
    """The import of a source with documents for everyone, if one is under way."""
    for status in services.sources.list(principal()):
        run = status.run
        if run is None or not status.source.is_shared:
            continue
        if run.kind is ImportKind.IMPORT and _is_under_way(run):
            return run
    return None


def _is_under_way(run: ImportRun) -> bool:
    """Whether the run is queued or running, or a worker will resume it at once."""
    is_resumed = run.state is ImportState.INTERRUPTED and run.retry_at is None
    return is_resumed or run.state in _UNFINISHED
