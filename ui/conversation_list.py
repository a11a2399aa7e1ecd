"""The sidebar: a new conversation, and all of them by age, to find, open and look after."""

from typing import TYPE_CHECKING

import streamlit as st

from domain import Conversation
from services.conversations import LISTED
from ui import words
from ui.conversation_dialogs import ask_what, show_asked, show_import, show_undo, take_undo_back
from ui.conversations import (
    OPEN,
    current_conversation,
    open_conversation,
    short_title,
)
from ui.language import now
from ui.literal import literal
from ui.services import principal

if TYPE_CHECKING:
    from bootstrap import Services

LIMIT, SOUGHT = "conversations-limit", "conversations-sought"


def reopen_conversation() -> None:
    """Open again what was open before the reader went to another page; no link there names it."""
    comes_from_elsewhere = SOUGHT not in st.session_state  # else the last run had the field
    if comes_from_elsewhere and not current_conversation():
        open_conversation(st.session_state.get(OPEN))


def show_conversations(services: "Services") -> None:
    """Show the sidebar, and the dialog that was asked for in it."""
    with st.sidebar, st.container(key="conversations"):
        with st.container(horizontal=True, key="begin"):
            st.button(
                words.NEW_CONVERSATION,
                key="new-conversation",
                icon=":material/add:",
                width="stretch",
                on_click=_go_to,
                args=(None,),
            )
            show_import(services)
        sought = st.text_input(
            words.SEARCH_CONVERSATIONS,
            type="search",
            key=SOUGHT,
            placeholder=words.SEARCH_CONVERSATIONS,
            label_visibility="collapsed",
            live=True,
            on_change=_list_from_the_top,
        )
        show_undo(services)
        _show_groups(services, sought or "")
    show_asked(services)


def _show_groups(services: "Services", sought: str) -> None:
    limit = st.session_state.get(LIMIT, LISTED)
    groups = services.conversations.grouped(principal(), now(), sought, limit=limit)
    if sought.strip():
        found = words.count(words.CONVERSATIONS_FOUND, groups.total)
        st.caption(found if groups.total else words.NO_CONVERSATION_FOUND)
    # One container for all rows: each element more is a message to the browser, and a rendering.
    with st.container(key="rows"):
        for age, conversations in groups:
            st.caption(words.AGES[age])
            for conversation in conversations:
                _show_conversation(conversation)
    if groups.total > limit:
        st.button(words.MORE_CONVERSATIONS, type="tertiary", width="stretch", on_click=_list_more)


def _show_conversation(conversation: Conversation) -> None:
    title = literal(short_title(conversation.title))
    shown = conversation.id == current_conversation()
    st.button(
        title,
        key=f"conversation-{conversation.id}",
        type="secondary" if shown else "tertiary",
        width="stretch",
        on_click=_go_to,
        args=(conversation.id,),
    )
    action = st.menu_button(
        words.CONVERSATION_MENU.format(title=title),
        list(words.CONVERSATION_ACTIONS),
        format_func=words.CONVERSATION_ACTIONS.__getitem__,
        key=f"menu-{conversation.id}",
        type="tertiary",
        icon=":material/more_horiz:",
    )
    if action:
        ask_what(action, conversation)


def _go_to(conversation_id: str | None) -> None:
    take_undo_back()
    open_conversation(conversation_id)


def _list_more() -> None:
    st.session_state[LIMIT] = 2 * st.session_state.get(LIMIT, LISTED)


def _list_from_the_top() -> None:
    st.session_state.pop(LIMIT, None)
