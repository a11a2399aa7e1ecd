"""Accepts, imports, and lists files dropped on the chat."""

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from bootstrap import Services
from domain import ImportItem, Outcome, Progress
from domain.errors import AppError
from services.sources.upload_archives import Upload
from services.sources.upload_service import UploadResult
from ui.chat.scope_panel import open_begun, search_for_new
from ui.shared.frame import principal, show_error, show_problem
from ui.shared.safe_html import escape, literal
from ui.text import words

PROBLEMS = "file-problems"


class UploadedFile(Protocol):
    """An uploaded file, as Streamlit provides it; `name` is a path if a folder was dropped."""

    name: str

    def getvalue(self) -> bytes:
        """The contents of the file."""


def take_files(
    services: Services, files: Sequence[UploadedFile], conversation_id: str | None, title: str = ""
) -> str:
    """Store the files for the conversation, and import them while showing the progress of each.

    Without a conversation, a new one begins, named after the title or the first file. Problems are
    shown here and later by `show_file_news`.

    Returns:
        The conversation's id.
    """
    id_ = conversation_id
    if not id_:
        name = title.strip() or files[0].name
        id_ = services.conversations.begin(principal(), name, search_for_new()).id
    open_begun(id_)  # now, so that a reload during the import finds the conversation
    uploads = [Upload(file.name, file.getvalue(), has_path=True) for file in files]
    uploaded = services.uploads.add(principal(), uploads, conversation_id=id_)
    with st.status(words.count(words.READING_FILES, len(files)), expanded=True) as status:
        lines = _Lines(uploaded)
        try:
            failed = _import(services, uploaded, lines)
        except AppError as error:  # the files are stored, and the next import includes them
            show_error(error)
            lines.problems.append(error.readers_message)
            failed = True
        ready = not failed and not uploaded.rejections
        label = words.FILES_READY if ready else words.FILES_SOME_FAILED
        status.update(label=label, state="complete" if ready else "error")
    st.session_state[PROBLEMS] = (id_, lines.problems)
    return id_


def _import(services: Services, uploaded: UploadResult, lines: "_Lines") -> bool:
    """Import the accepted files; returns whether any file failed."""
    if not uploaded.accepted or uploaded.source_id is None:
        return False
    job = services.queue.enqueue(principal(), uploaded.source_id)
    services.worker.wait(principal(), job.id, lines.show_progress)
    lines.show_outcomes(services.imports.report(principal(), job.id).items)
    return bool(lines.problems)


class _Lines:
    """One line per file with its state, redrawn when a state changes."""

    def __init__(self, uploaded: UploadResult) -> None:
        self._place = st.empty()
        self._states = dict.fromkeys(uploaded.accepted, words.FILES_WAIT)
        self.problems: list[str] = []
        for name, reason in uploaded.rejections:
            self._states[name] = words.FILE_REJECTION.format(reason=words.translated(reason))
            self.problems.append(f"{name}: {self._states[name]}")
        self._draw()

    def show_progress(self, progress: Progress) -> None:
        if progress.key not in self._states:
            return
        state = words.FILE_STAGES[progress.stage]
        if progress.parts:
            state = words.FILE_EMBEDDING.format(part=progress.part, parts=progress.parts)
        if self._states[progress.key] != state:
            self._states[progress.key] = state
            self._draw()

    def show_outcomes(self, items: Sequence[ImportItem]) -> None:
        outcomes = {item.key: item for item in items}
        for key in [key for key in self._states if key in outcomes]:
            item = outcomes[key]
            self._states[key] = _outcome(item)
            if item.outcome is Outcome.FAILED:
                self.problems.append(f"{key}: {self._states[key]}")
        self._draw()

    def _draw(self) -> None:
        lines = (
            f"<li><span>{escape(name)}</span> <span>{escape(state)}</span></li>"
            for name, state in self._states.items()
        )
        self._place.html(f'<ul class="fn-files">{"".join(lines)}</ul>')


def _outcome(item: ImportItem) -> str:
    match item.outcome:
        case Outcome.FAILED:
            return str(words.FILE_FAILED.format(reason=words.translated(item.reason)))
        case Outcome.UNCHANGED:
            return str(words.FILE_UNCHANGED)
        case _:
            return words.count(words.FILE_READY, item.passages)


def show_files(services: Services, conversation_id: str | None) -> None:
    """Show the conversation's files, if any, each with a button that removes it."""
    if not conversation_id:
        return
    box = services.uploads.box_of(principal(), conversation_id)
    keys = services.uploads.keys(principal(), box.id) if box else []
    if not box or not keys:
        return
    label = words.FILES_OF_CONVERSATION.format(n=len(keys))
    with st.popover(label, icon=":material/attach_file:", type="tertiary"):
        st.caption(words.FILES_NOTE)
        for key in keys:
            _show_file(services, box.id, key)


def _show_file(services: Services, source_id: str, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(key, width="stretch")
        label = words.FILE_DELETE.format(name=literal(key))
        pressed = st.button(
            label,  # the style sheet hides it from all but screen readers
            key=f"take-out-{source_id}-{key}",
            icon=":material/delete:",
            type="tertiary",
            help=label,
        )
    if pressed:
        with st.spinner(words.FILE_STAGES["removing"]):
            _take_out(services, source_id, key)
        st.rerun()


def _take_out(services: Services, source_id: str, key: str) -> None:
    services.uploads.delete(principal(), source_id, key)
    # The user has just confirmed this; one file of a small box is enough for the removal guard.
    job = services.queue.enqueue(principal(), source_id, confirm_removals=True)
    services.worker.wait(principal(), job.id)


def show_file_news(services: Services, conversation_id: str | None) -> None:
    """Show that files of the conversation are still being imported, and the last problems.

    The problems stay until they are dismissed.
    """
    box = services.uploads.box_of(principal(), conversation_id) if conversation_id else None
    if box and services.queue.current(principal(), box.id):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(words.FILES_UNDER_WAY, width="content")
            st.button(
                words.CHECK_AGAIN, key="check-files", icon=":material/refresh:", type="tertiary"
            )
    news: tuple[str, list[str]] = st.session_state.get(PROBLEMS, ("", []))
    if news[0] == conversation_id and news[1]:
        _show_problems(news[1])


def _show_problems(problems: Sequence[str]) -> None:
    with st.container(key="file-problems"):
        for problem in problems:
            show_problem(problem, severe=False)
        st.button(words.FILES_DISMISS, icon=":material/close:", type="tertiary", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state.pop(PROBLEMS, None)
