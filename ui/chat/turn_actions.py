"""The actions on an answer: copy it, and ask again with changes."""

from dataclasses import dataclass
from enum import StrEnum

import streamlit as st

from bootstrap import Services
from domain import SearchChoice, Turn, TurnState, public_location
from services.chat.conversation_service import TurnService
from services.evaluation.rating_service import Rating
from services.export.answer_text import plain_answer
from services.texts import MAX_QUESTION_CHARS
from ui.chat.feedback import show_thumbs
from ui.shared.copying import show_copy_button
from ui.shared.frame import principal, show_errors
from ui.shared.safe_html import scroll_to
from ui.text import words

PENDING_VERSION = "pending_version"


class Change(StrEnum):
    """The part of a turn that a new version changes."""

    NOTHING = "nothing"
    QUESTION = "question"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A requested version of a turn; `text` is the changed text, `search` the search if changed."""

    turn: Turn
    change: Change = Change.NOTHING
    text: str = ""
    search: SearchChoice | None = None

    @property
    def question(self) -> str:
        """The question of the new version."""
        return self.text if self.change is Change.QUESTION else self.turn.question


def request_version(version: NewVersion) -> None:
    """Request a version, to be answered in the next run of the page."""
    st.session_state[PENDING_VERSION] = version


def requested_version() -> NewVersion | None:
    """Remove and return the requested version, if any."""
    version: NewVersion | None = st.session_state.pop(PENDING_VERSION, None)
    return version


def copied_text(turn: Turn) -> str:
    """The answer, and a line for each cited passage."""
    cited_numbers = {citation.n for citation in turn.citations}
    lines = [
        f"[{source.n}] {source.name} ({public_location(source.location)})"
        for source in turn.sources
        if source.n in cited_numbers
    ]
    answer = plain_answer(turn.answer)
    return "\n".join([answer, "", *lines]) if lines else answer


DISPLAYED_TURNS = "earlier-turns"
PAGE_TURNS = 30
"""The initial number of turns on the page; each has many elements."""


def latest_turns(turns: list[Turn]) -> list[Turn]:
    """The last turns; shows a button for earlier ones if there are more."""
    if not turns:
        return []
    conversation_id = turns[0].conversation_id
    earlier = len(turns) - _turn_limit(conversation_id)
    if earlier <= 0:
        return turns
    st.button(
        words.count(words.EARLIER_TURNS, min(PAGE_TURNS, earlier)),
        key="earlier-turns-button",
        icon=":material/history:",
        type="tertiary",
        on_click=_show_more,
        args=(conversation_id,),
    )
    return turns[earlier:]


def _turn_limit(conversation_id: str) -> int:
    conversation, limit = st.session_state.get(DISPLAYED_TURNS, ("", PAGE_TURNS))
    return limit if conversation == conversation_id else PAGE_TURNS


def _show_more(conversation_id: str) -> None:
    st.session_state[DISPLAYED_TURNS] = (conversation_id, _turn_limit(conversation_id) + PAGE_TURNS)


EDITED = "edited_turn"
EDIT_LINES_PX = 100


def show_actions(
    services: Services,
    turn: Turn,
    versions: tuple[str, ...] = (),
    rating: Rating | None = None,
) -> None:
    """Show the row of actions under an answer; `versions` are the ids of its versions by age."""
    edited = st.session_state.get(EDITED, ())
    if edited[:1] == (turn.id,):
        _show_editor(turn, edited[1])
    with st.container(
        key=f"actions-{turn.id}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if turn.answer and turn.state is not TurnState.RUNNING:
            show_copy_button(copied_text(turn))
            show_thumbs(services, turn, rating)
        _button("again", turn, words.ASK_AGAIN, ":material/refresh:", Change.NOTHING)
        _button("edit", turn, words.EDIT_QUESTION, ":material/edit:", Change.QUESTION)
        if turn.standalone_question:
            _button("search", turn, words.SEARCH_AGAIN, ":material/search:", Change.SEARCH)
        if len(versions) > 1:
            _show_versions(services.turns, turn, versions)


def _button(name: str, turn: Turn, label: str, icon: str, change: Change) -> None:
    press = _request_version if change is Change.NOTHING else _edit
    st.button(
        label,
        key=f"{name}-{turn.id}",
        icon=icon,
        help=label,  # narrow screens show only the icon
        type="tertiary",
        on_click=press,
        args=(turn, change),
    )


def _show_versions(turns: TurnService, turn: Turn, versions: tuple[str, ...]) -> None:
    """The switch between the versions of a turn: ‹ 2/3 ›."""
    index = versions.index(turn.id)
    _step(turns, turn, versions, index - 1, words.PREVIOUS_VERSION, ":material/chevron_left:")
    title = words.VERSION.format(n=index + 1, total=len(versions))
    html = f'<span class="fn-version" title="{title}">{index + 1}/{len(versions)}</span>'
    st.html(html, width="content")
    _step(turns, turn, versions, index + 1, words.NEXT_VERSION, ":material/chevron_right:")


def _step(
    turns: TurnService, turn: Turn, versions: tuple[str, ...], to: int, label: str, icon: str
) -> None:
    exists = 0 <= to < len(versions)
    st.button(
        label,
        key=f"{'previous' if 'left' in icon else 'next'}-{turn.id}",
        icon=icon,
        type="tertiary",
        disabled=not exists,
        on_click=_show_version,
        args=(turns, turn.conversation_id, versions[to] if exists else ""),
    )


@show_errors()
def _show_version(turns: TurnService, conversation_id: str, turn_id: str) -> None:
    turns.show(principal(), conversation_id, turn_id)


def _show_editor(turn: Turn, change: Change) -> None:
    """Show the text to change, with buttons to ask and to cancel."""
    key = f"editor-{change}-{turn.id}"
    is_question = change is Change.QUESTION
    with st.form(f"form-{key}"):
        st.text_area(
            words.YOUR_QUESTION if is_question else words.SEARCHED_QUESTION,
            value=turn.question if is_question else turn.standalone_question,
            key=key,
            height=EDIT_LINES_PX,
            max_chars=MAX_QUESTION_CHARS,  # longer text would be rejected and lost
        )
        st.caption(words.EDIT_NOTE if is_question else words.SEARCH_NOTE)
        with st.container(horizontal=True):
            label = words.ASK if is_question else words.SEARCH
            st.form_submit_button(
                label, type="primary", on_click=_request_version, args=(turn, change, key)
            )
            st.form_submit_button(words.CANCEL, on_click=_stop_editing)
    scroll_to('[data-testid="stForm"]', of=key)


def _edit(turn: Turn, change: Change) -> None:
    st.session_state[EDITED] = (turn.id, change)


def _stop_editing() -> None:
    st.session_state.pop(EDITED, None)


def _request_version(turn: Turn, change: Change, key: str = "") -> None:
    text = str(st.session_state[key]).strip() if key else ""
    if key and not text:  # the form stays open
        return
    _stop_editing()
    request_version(NewVersion(turn, change, text))
