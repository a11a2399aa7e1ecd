"""What can be done with an answer: copy it, ask again, in other words, or for something else."""

from typing import TYPE_CHECKING

import streamlit as st

from domain import Turn
from errors import AppError
from services.questions import MAX_QUESTION_CHARS
from ui import words
from ui.again import Again, Change, want
from ui.copying import copy_button
from ui.errors import show_error
from ui.scrolling import scroll_to
from ui.services import principal

if TYPE_CHECKING:
    from services.turns import TurnService

EDITED = "edited_turn"
LINES_PX = 100


def show_actions(turns: "TurnService", turn: Turn, versions: tuple[str, ...] = ()) -> None:
    """Show the buttons under an answer; `versions` are the ids of the turn's, oldest first."""
    edited = st.session_state.get(EDITED, ())
    if edited[:1] == (turn.id,):
        _show_editor(turn, edited[1])
    with st.container(
        key=f"actions-{turn.id}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if len(versions) > 1:
            _show_versions(turns, turn, versions)
        if turn.answer:
            copy_button(turn)
        _button("again", turn, words.ASK_AGAIN, ":material/refresh:", Change.NOTHING)
        _button("edit", turn, words.EDIT_QUESTION, ":material/edit:", Change.QUESTION)
        if turn.standalone_question:
            _button("search", turn, words.SEARCH_AGAIN, ":material/search:", Change.SEARCH)


def _button(name: str, turn: Turn, label: str, icon: str, change: Change) -> None:
    press = _want if change is Change.NOTHING else _edit
    st.button(
        label,
        key=f"{name}-{turn.id}",
        icon=icon,
        type="tertiary",
        on_click=press,
        args=(turn, change),
    )


def _show_versions(turns: "TurnService", turn: Turn, versions: tuple[str, ...]) -> None:
    """The switch between the versions of a turn: ‹ 2/3 ›."""
    place = versions.index(turn.id)
    _step(turns, turn, versions, place - 1, words.PREVIOUS_VERSION, ":material/chevron_left:")
    told = words.VERSION.format(n=place + 1, total=len(versions))
    html = f'<span class="fn-version" title="{told}">{place + 1}/{len(versions)}</span>'
    st.html(html, width="content")
    _step(turns, turn, versions, place + 1, words.NEXT_VERSION, ":material/chevron_right:")


def _step(
    turns: "TurnService", turn: Turn, versions: tuple[str, ...], to: int, label: str, icon: str
) -> None:
    is_there = 0 <= to < len(versions)
    st.button(
        label,
        key=f"{'previous' if 'left' in icon else 'next'}-{turn.id}",
        icon=icon,
        type="tertiary",
        disabled=not is_there,
        on_click=_show_version,
        args=(turns, turn.conversation_id, versions[to] if is_there else ""),
    )


def _show_version(turns: "TurnService", conversation_id: str, turn_id: str) -> None:
    try:
        turns.show(principal(), conversation_id, turn_id)
    except AppError as error:
        show_error(error)


def _show_editor(turn: Turn, change: Change) -> None:
    """Show what is to be changed in a box, with a button to ask and one to leave it."""
    key = f"editor-{change}-{turn.id}"
    is_question = change is Change.QUESTION
    with st.form(f"form-{key}"):
        st.text_area(
            words.YOUR_QUESTION if is_question else words.SEARCHED_QUESTION,
            value=turn.question if is_question else turn.standalone_question,
            key=key,
            height=LINES_PX,
            max_chars=MAX_QUESTION_CHARS,  # what is too long would be refused, and lost
        )
        st.caption(words.EDIT_NOTE if is_question else words.SEARCH_NOTE)
        with st.container(horizontal=True):
            label = words.ASK if is_question else words.SEARCH
            st.form_submit_button(label, type="primary", on_click=_want, args=(turn, change, key))
            st.form_submit_button(words.CANCEL, on_click=_stop_editing)
    scroll_to('[data-testid="stForm"]', of=key)


def _edit(turn: Turn, change: Change) -> None:
    st.session_state[EDITED] = (turn.id, change)


def _stop_editing() -> None:
    st.session_state.pop(EDITED, None)


def _want(turn: Turn, change: Change, key: str = "") -> None:
    text = str(st.session_state[key]).strip() if key else ""
    if key and not text:  # nothing to ask: the box stays
        return
    _stop_editing()
    want(Again(turn, change, text))
