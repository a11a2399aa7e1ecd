"""A conversation that another person shares by a link: read-only, without the reader's own ones."""

import streamlit as st

from bootstrap import Services
from services.chat.sharing_service import SHARED, SharedConversation
from ui.chat.answer_view import show_shared_turn
from ui.chat.turn_actions import latest_turns
from ui.shared.copying import allow_copying
from ui.shared.frame import name_tab, principal, show_errors, show_name, show_problem
from ui.shared.safe_html import literal
from ui.text import words


def show_if_shared(services: Services) -> None:
    """If the address is that of a shared conversation, show only it, and end the page."""
    if token := st.query_params.get(SHARED):
        show_name(is_start=False)
        allow_copying()
        name_tab(words.SHARED_CONVERSATION)
        with show_errors():
            _show(services, services.sharing.follow(principal(), token))
        st.button(words.LEAVE_SHARED, icon=":material/forum:", key="leave-shared", on_click=_leave)
        st.stop()


def _show(services: Services, shared: SharedConversation) -> None:
    title = shared.title.strip() or words.SHARED_CONVERSATION
    name_tab(title)
    st.subheader(literal(title), anchor=False)
    st.caption(words.SHARED_BY.format(name=literal(shared.owner)))
    turns = latest_turns(list(shared.turns))
    freshness = services.reader.freshness(principal(), turns)
    for turn in turns:
        show_shared_turn(services, turn, freshness)
    if shared.withheld:
        show_problem(words.count(words.SHARED_WITHHELD, shared.withheld), severe=False)
    elif not shared.turns:
        show_problem(words.SHARED_EMPTY, severe=False)


def _leave() -> None:
    st.query_params.pop(SHARED, None)
