"""Files dropped on the chat: taken, imported while one watches, and listed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from bootstrap import Services
from domain import ImportItem, Outcome, Progress
from errors import AppError
from ui import words
from ui.errors import show_error, show_problem
from ui.html import escape
from ui.literal import literal
from ui.scope import kept_for_new, open_begun
from ui.service_text import said
from ui.services import principal

if TYPE_CHECKING:
    from services.uploads import Uploaded

PROBLEMS = "file-problems"


class GivenFile(Protocol):
    """What Streamlit gives for a file."""

    name: str

    def getvalue(self) -> bytes:
        """The whole file."""


def take_files(
    services: Services, files: Sequence[GivenFile], conversation_id: str | None, title: str = ""
) -> str:
    """Keep the files for the conversation, and import them while showing how far each has come.

    Where there is no conversation one begins, called by the title or by the first file. What
    went wrong is told here and afterwards by `show_file_news`.

    Returns:
        The conversation's id.
    """
    id_ = conversation_id or _begin(services, title.strip() or files[0].name)
    open_begun(id_)  # at once: a reload while it imports must find it again
    given = services.uploads.add(
        principal(), [(file.name, file.getvalue()) for file in files], conversation_id=id_
    )
    with st.status(words.count(words.FILES_TAKEN, len(files)), expanded=True) as status:
        lines = _Lines(given)
        try:
            failed = _import(services, given, lines)
        except AppError as error:  # the files are kept: they are imported with the next ones
            show_error(error)
            lines.problems.append(str(error))
            failed = True
        ready = not failed and not given.refused
        label = words.FILES_READY if ready else words.FILES_SOME_FAILED
        status.update(label=label, state="complete" if ready else "error")
    st.session_state[PROBLEMS] = (id_, lines.problems)
    return id_


def _begin(services: Services, title: str) -> str:
    return services.conversations.begin(principal(), title, kept_for_new()).id


def _import(services: Services, given: "Uploaded", lines: "_Lines") -> bool:
    """Import what was accepted; whether any of it failed."""
    if not given.accepted or given.source_id is None:
        return False
    job = services.queue.enqueue(principal(), given.source_id)
    services.queue.wait(principal(), job.id, lines.show_progress)
    lines.show_outcomes(services.imports.report(principal(), job.id).items)
    return bool(lines.problems)


class _Lines:
    """One line for each file, redrawn as it goes."""

    def __init__(self, given: "Uploaded") -> None:
        self._place = st.empty()
        self._states = dict.fromkeys(given.accepted, words.FILES_WAIT)
        self.problems: list[str] = []
        for name, reason in given.refused:
            self._states[name] = words.FILE_REFUSED.format(reason=said(reason))
            self.problems.append(f"{name}: {self._states[name]}")
        self._draw()

    def show_progress(self, progress: Progress) -> None:
        if progress.key not in self._states:
            return
        state = words.FILE_STAGES[progress.stage]
        if progress.parts:
            state = words.FILE_EMBEDDING.format(part=progress.part, parts=progress.parts)
        self._set(progress.key, state)

    def show_outcomes(self, items: Sequence[ImportItem]) -> None:
        outcomes = {item.key: item for item in items}
        for key in [key for key in self._states if key in outcomes]:
            item = outcomes[key]
            self._states[key] = _outcome(item)
            if item.outcome is Outcome.FAILED:
                self.problems.append(f"{key}: {self._states[key]}")
        self._draw()

    def _set(self, key: str, state: str) -> None:
        if self._states[key] != state:
            self._states[key] = state
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
            return str(words.FILE_FAILED.format(reason=said(item.reason)))
        case Outcome.UNCHANGED:
            return str(words.FILE_UNCHANGED)
        case _:
            return words.count(words.FILE_READY, item.passages)


def show_files(services: Services, conversation_id: str | None) -> None:
    """Show the conversation's own files, each with a way to take it out; nothing where none is."""
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
        wanted = st.button(
            label,  # seen by screen readers alone, as the style sheet says
            key=f"take-out-{source_id}-{key}",
            icon=":material/delete:",
            type="tertiary",
            help=label,
        )
    if wanted:
        with st.spinner(words.FILE_STAGES["removing"]):
            _take_out(services, source_id, key)
        st.rerun()


def _take_out(services: Services, source_id: str, key: str) -> None:
    services.uploads.delete(principal(), source_id, key)
    # The person has just said that it goes: a box of a few files is soon emptied by half.
    job = services.queue.enqueue(principal(), source_id, confirm_removals=True)
    services.queue.wait(principal(), job.id)


def show_file_news(services: Services, conversation_id: str | None) -> None:
    """Show that files of the conversation are still imported, and what went wrong with the last.

    The latter until it is dismissed.
    """
    box = services.uploads.box_of(principal(), conversation_id) if conversation_id else None
    if box and services.queue.current(principal(), box.id):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(words.FILES_UNDER_WAY, width="content")
            st.button(
                words.CHECK_AGAIN, key="check-files", icon=":material/refresh:", type="tertiary"
            )
    told: tuple[str, list[str]] = st.session_state.get(PROBLEMS, ("", []))
    if told[0] == conversation_id and told[1]:
        _show_problems(told[1])


def _show_problems(problems: Sequence[str]) -> None:
    with st.container(key="file-problems"):
        for problem in problems:
            show_problem(problem, severe=False)
        st.button(words.FILES_DISMISS, icon=":material/close:", type="tertiary", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state.pop(PROBLEMS, None)
