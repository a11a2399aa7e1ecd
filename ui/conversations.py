"""Which conversation the page shows; its id stands in the address, so that a reload keeps it."""

import time
from typing import TYPE_CHECKING

import streamlit as st

from domain import Conversation, Turn, TurnState
from errors import NotFoundError
from ui import words
from ui.errors import show_problem
from ui.services import principal

if TYPE_CHECKING:
    from services.conversations import ConversationService
    from services.turns import TurnService

PARAMETER = "conversation"
OPEN, BEGUN = "open-conversation", "begun-turn"
TITLE_CHARACTERS = 60
KEPT_WITHIN_S, LOOK_S = 2.0, 0.05


def current_conversation() -> str | None:
    """The id in the page's address, None for a new conversation."""
    return st.query_params.get(PARAMETER)


def open_conversation(conversation_id: str | None) -> None:
    """Put the id, or none, into the page's address; the script runs on."""
    st.session_state[OPEN] = conversation_id
    if conversation_id == current_conversation():
        return
    if conversation_id:
        st.query_params[PARAMETER] = conversation_id
    else:
        del st.query_params[PARAMETER]


def current_turns(turns: "TurnService") -> list[Turn]:
    """The turns of the conversation in the address; where there is none such, says so."""
    conversation_id = st.session_state[OPEN] = current_conversation()
    if not conversation_id:
        return []
    try:
        return _kept_turns(turns, conversation_id)
    except NotFoundError:
        open_conversation(None)
        show_problem(words.LOST_CONVERSATION, severe=False)
        return []


def note_begun(turn: Turn) -> None:
    """Remember that this window has the turn answered."""
    st.session_state[BEGUN] = turn.id


def _kept_turns(turns: "TurnService", conversation_id: str) -> list[Turn]:
    """The turns, once the answer is kept that a press of this window's reader has ended.

    The run that answered learns of the press when the next words come; this one begins at once.
    """
    begun = st.session_state.pop(BEGUN, "")
    kept = turns.list(principal(), conversation_id)
    until = time.monotonic() + KEPT_WITHIN_S
    while _is_answering(kept, begun) and time.monotonic() < until:
        time.sleep(LOOK_S)
        kept = turns.list(principal(), conversation_id)
    return kept


def _is_answering(turns: list[Turn], turn_id: str) -> bool:
    return any(turn.id == turn_id and turn.state is TurnState.RUNNING for turn in turns)


def shown_conversation(conversations: "ConversationService") -> Conversation | None:
    """The conversation in the address, None for a new one; for after `current_turns`."""
    conversation_id = current_conversation()
    return conversations.get(principal(), conversation_id) if conversation_id else None


def short_title(title: str) -> str:
    """The title in one line that fits the sidebar."""
    line = " ".join(title.split()) or words.UNTITLED
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"
