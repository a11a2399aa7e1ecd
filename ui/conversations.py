"""Which conversation the page shows; its id stands in the address, so that a reload keeps it."""

from typing import TYPE_CHECKING

import streamlit as st

from domain import Conversation, Turn
from errors import NotFoundError
from ui import words
from ui.errors import show_problem
from ui.services import principal

if TYPE_CHECKING:
    from services.chat import ChatService

PARAMETER = "conversation"
TITLE_CHARACTERS = 60


def current_conversation() -> str | None:
    """The id in the page's address, None for a new conversation."""
    return st.query_params.get(PARAMETER)


def open_conversation(conversation_id: str | None) -> None:
    """Put the id, or none, into the page's address; the script runs on."""
    if conversation_id == current_conversation():
        return
    if conversation_id:
        st.query_params[PARAMETER] = conversation_id
    else:
        del st.query_params[PARAMETER]


def current_turns(chat: "ChatService") -> list[Turn]:
    """The turns of the conversation in the address; where there is none such, says so."""
    conversation_id = current_conversation()
    if not conversation_id:
        return []
    try:
        return chat.turns(principal(), conversation_id)
    except NotFoundError:
        open_conversation(None)
        show_problem(words.LOST_CONVERSATION, severe=False)
        return []


def shown_conversation(chat: "ChatService") -> Conversation | None:
    """The conversation in the address, None for a new one; for after `current_turns`."""
    conversation_id = current_conversation()
    return chat.conversation(principal(), conversation_id) if conversation_id else None


def short_title(title: str) -> str:
    """The title in one line that fits the sidebar."""
    line = " ".join(title.split()) or words.UNTITLED
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def plain_label(text: str) -> str:
    """The text as a widget's label, its Markdown not followed."""
    return "".join(f"\\{letter}" if letter in r"\`*_[]<>$~:#|!" else letter for letter in text)
