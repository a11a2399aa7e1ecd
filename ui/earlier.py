"""Long conversations: the latest turns, and those before where one asks for them."""

import streamlit as st

from domain import Turn
from ui import words

ASKED_FOR = "earlier-turns"
SHOWN = 30
"""So many turns are on the page at first: each has its sources, its buttons and its form."""


def latest_turns(turns: list[Turn]) -> list[Turn]:
    """The last turns, below a button that shows as many more; all of a conversation not long."""
    if not turns:
        return []
    conversation_id = turns[0].conversation_id
    earlier = len(turns) - _asked_for(conversation_id)
    if earlier <= 0:
        return turns
    st.button(
        words.count(words.EARLIER_TURNS, min(SHOWN, earlier)),
        key="earlier-turns-button",
        icon=":material/history:",
        type="tertiary",
        on_click=_show_more,
        args=(conversation_id,),
    )
    return turns[earlier:]


def _asked_for(conversation_id: str) -> int:
    opened, shown = st.session_state.get(ASKED_FOR, ("", SHOWN))
    return shown if opened == conversation_id else SHOWN


def _show_more(conversation_id: str) -> None:
    st.session_state[ASKED_FOR] = (conversation_id, _asked_for(conversation_id) + SHOWN)
