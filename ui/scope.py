"""What the next question searches: a small panel beside the input, remembered per conversation."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import EXTRACTIVE, Conversation, Scope, SearchChoice
from errors import InputError
from ui import words
from ui.conversations import current_conversation, open_conversation
from ui.errors import show_problem
from ui.scope_fields import (
    field_key,
    note_shown,
    read_fields,
    show_agent_switch,
    show_anew,
    show_fields,
)
from ui.scope_words import scope_label
from ui.services import principal

if TYPE_CHECKING:
    from services.choices import Choices

NEW = "scope-of-the-new-conversation"


def show_scope(services: Services, conversation: Conversation | None) -> SearchChoice:
    """Show what is searched, to be changed; how the next question is to be searched.

    What is chosen is kept with the conversation, and for a new one until it begins. What can't
    be searched is said at once, and not kept.
    """
    id_ = conversation.id if conversation else ""
    choices = services.choices.choices(principal(), id_ or None)
    kept = _kept(conversation)
    edited, is_edited = read_fields(id_, kept, choices.settings)
    problem = _problem(services, (edited if is_edited else kept).scope)
    if is_edited and not problem:
        _keep(services, id_, edited)
        kept = edited
        note_shown(id_, kept, edited)
    if _show_panel(id_, kept, edited, choices, problem):
        _keep(services, id_, _widest(kept))
        show_anew()
        st.rerun()
    show_agent_switch(id_, is_possible=_has_agent(services))
    return _possible(services, kept)


def _show_panel(
    id_: str, kept: SearchChoice, edited: SearchChoice, choices: "Choices", problem: str
) -> bool:
    """Show the panel with its fields; whether everything is to be searched again."""
    label = scope_label(kept, choices)
    with st.popover(label, icon=":material/tune:", type="tertiary", help=words.SCOPE_HELP):
        show_fields(id_, edited, choices)
        if problem:
            show_problem(problem, hint=words.SCOPE_NOT_SEARCHED, severe=False)
        return st.button(
            words.SCOPE_RESET,
            key=field_key(id_, "reset"),
            icon=":material/restart_alt:",
            disabled=kept == edited == _widest(kept),
        )


def _widest(kept: SearchChoice) -> SearchChoice:
    """Everything is searched, as the settings say; by whom stays as it is."""
    return SearchChoice(by_agent=kept.by_agent)


def _has_agent(services: Services) -> bool:
    return services.chat.model_label != EXTRACTIVE


def _possible(services: Services, kept: SearchChoice) -> SearchChoice:
    """What is kept, without the agent where the chat model is gone that it was chosen with."""
    return replace(kept, by_agent=kept.by_agent and _has_agent(services))


def _kept(conversation: Conversation | None) -> SearchChoice:
    return kept_for_new() if conversation is None else conversation.search


def _keep(services: Services, id_: str, search: SearchChoice) -> None:
    if id_:
        services.conversations.remember(principal(), id_, search)
    else:
        st.session_state[NEW] = search


def kept_for_new() -> SearchChoice:
    """What was chosen for the conversation that has not begun yet."""
    kept: SearchChoice = st.session_state.get(NEW, SearchChoice())
    return kept


def open_begun(conversation_id: str) -> None:
    """Open the conversation; where it is the new one, what was chosen for that is its own now."""
    if not current_conversation():
        st.session_state.pop(NEW, None)
    open_conversation(conversation_id)


def kept_search(services: Services, conversation_id: str) -> SearchChoice:
    """How the next question of the conversation is searched, as it was kept last."""
    return _possible(services, services.conversations.get(principal(), conversation_id).search)


def _problem(services: Services, scope: Scope) -> str:
    if scope == Scope():
        return ""
    try:
        services.choices.check(principal(), scope)
    except InputError as error:
        return str(error)
    return ""
