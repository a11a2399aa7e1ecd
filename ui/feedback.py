"""Thumbs under an answer, and why it was not good."""

from typing import TYPE_CHECKING

import streamlit as st

from domain import Turn, TurnState
from ui import words
from ui.errors import errors_shown
from ui.services import principal

if TYPE_CHECKING:
    from bootstrap import Services
    from services.ratings import Rating

UP, DOWN = 1, 0
COMMENT_CHARACTERS = 2000


def show_feedback(services: "Services", turn: Turn) -> None:
    """Show thumbs for an answer, as they were pressed; pressed again they are let go.

    A thumb down asks for the reason. A turn without an answer has no thumbs.
    """
    if turn.state is TurnState.RUNNING or not turn.answer:
        return
    rating = services.ratings.rating(principal(), turn.id)
    key = f"feedback-{turn.id}"
    if key not in st.session_state:
        st.session_state[key] = rating and rating.grade
    with st.container(horizontal=True, vertical_alignment="center"):
        st.feedback("thumbs", key=key, on_change=_rate, args=(services, turn, key))
        st.caption(_told(rating))
    if rating and rating.grade == DOWN:
        _ask_why(services, turn, rating)


def _told(rating: "Rating | None") -> str:
    if rating is None:
        return words.RATE
    told: str = words.RATED_UP if rating.grade == UP else words.RATED_DOWN
    return told


def _ask_why(services: "Services", turn: Turn, rating: "Rating") -> None:
    """A form that stands open until a reason or a comment was given, and then tells it."""
    told = words.REASONS[rating.reason] if rating.reason else words.WHY_NOT
    unknown = rating.reason is None and not rating.comment
    key = f"why-{turn.id}"
    with st.expander(told, expanded=unknown), st.form(key, border=False):
        reasons = list(words.REASONS)
        st.pills(
            words.WHY_NOT,
            reasons,
            default=rating.reason,
            format_func=words.REASONS.__getitem__,
            key=f"{key}-reason",
            label_visibility="collapsed",
        )
        st.text_area(
            words.COMMENT,
            rating.comment,
            max_chars=COMMENT_CHARACTERS,
            placeholder=words.COMMENT_HERE,
            key=f"{key}-comment",
            height=80,
        )
        st.form_submit_button(words.KEEP_REASON, on_click=_tell_why, args=(services, turn, key))


def _rate(services: "Services", turn: Turn, key: str) -> None:
    with errors_shown():
        services.ratings.rate(principal(), turn.id, st.session_state[key])
        return
    del st.session_state[key]  # not kept: the thumbs are to say what is


def _tell_why(services: "Services", turn: Turn, key: str) -> None:
    from services.ratings import Reason

    reason, comment = st.session_state[f"{key}-reason"], st.session_state[f"{key}-comment"]
    with errors_shown():
        services.ratings.rate(
            principal(), turn.id, DOWN, Reason(reason) if reason else None, comment
        )
