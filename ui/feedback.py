"""Thumbs under an answer: they label the passages it cites."""

from typing import TYPE_CHECKING

import streamlit as st

from domain import Turn, TurnState
from ui import words
from ui.errors import errors_shown
from ui.services import principal

if TYPE_CHECKING:
    from bootstrap import Services


def show_feedback(services: "Services", turn: Turn) -> None:
    """Show thumbs for a finished answer, as they were pressed; pressed again they are let go.

    An answer without a verified citation has none: there is no passage to say it of.
    """
    if turn.state is not TurnState.COMPLETE or not services.labels.is_ratable(turn):
        return
    key = f"feedback-{turn.id}"
    if key not in st.session_state:
        st.session_state[key] = services.labels.rating(principal(), turn)
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = st.feedback("thumbs", key=key, on_change=_rate, args=(services, turn, key))
        kept = {None: words.RATE, 1: words.RATED_RIGHT, 0: words.RATED_WRONG}
        st.caption(kept[chosen])


def _rate(services: "Services", turn: Turn, key: str) -> None:
    with errors_shown():
        services.labels.rate(principal(), turn, st.session_state[key])
        return
    del st.session_state[key]  # not kept: the thumbs are to say what is
