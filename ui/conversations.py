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
LISTED = 20
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


def show_conversations(chat: "ChatService") -> None:
    """Show the sidebar: a new conversation, and the latest ones to go back to."""
    with st.sidebar:
        st.button(
            words.NEW_CONVERSATION,
            icon=":material/add:",
            width="stretch",
            on_click=open_conversation,
            args=(None,),
        )
        conversations = chat.conversations(principal(), limit=LISTED)
        if conversations:
            st.caption(words.CONVERSATIONS)
        for conversation in conversations:
            _show_conversation(conversation)


def _show_conversation(conversation: Conversation) -> None:
    st.button(
        _title(conversation),
        key=f"conversation-{conversation.id}",
        type="secondary" if conversation.id == current_conversation() else "tertiary",
        width="stretch",
        on_click=open_conversation,
        args=(conversation.id,),
    )


def _title(conversation: Conversation) -> str:
    title = " ".join(conversation.title.split()) or words.UNTITLED
    cut = title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1] + "…"
    return plain_label(cut)


def plain_label(text: str) -> str:
    """The text as a widget's label, its Markdown not followed."""
    return "".join(f"\\{letter}" if letter in r"\`*_[]<>$~:#|!" else letter for letter in text)
