"""The rating of an answer: thumbs, and the reason for a negative one."""

import streamlit as st

from bootstrap import Services
from domain import Turn
from services.evaluation.rating_service import Rating, Reason
from ui.shared.frame import principal, show_errors
from ui.text import words

UP, DOWN = 1, 0
COMMENT_CHARACTERS = 2000


def show_thumbs(services: Services, turn: Turn, rating: Rating | None) -> None:
    """Show thumbs up and down for an answer; clicking the selected one again clears the rating."""
    key = f"feedback-{turn.id}"
    if key not in st.session_state:
        st.session_state[key] = rating and rating.grade
    st.feedback("thumbs", key=key, on_change=_rate, args=(services, turn, key))


def show_rating(services: Services, turn: Turn, rating: Rating | None) -> None:
    """Show that the answer is rated; a thumbs-down shows a form for the reason."""
    if rating is None:
        return
    st.caption(words.RATED_UP if rating.grade == UP else words.RATED_DOWN)
    if rating.grade == DOWN:
        _ask_why(services, turn, rating)


def _ask_why(services: Services, turn: Turn, rating: Rating) -> None:
    """Show the form for a reason and a comment; it is collapsed once there is either."""
    label = words.REASONS[rating.reason] if rating.reason else words.WHY_NOT
    unknown = rating.reason is None and not rating.comment
    key = f"why-{turn.id}"
    with st.expander(label, expanded=unknown), st.form(key, border=False):
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


def _rate(services: Services, turn: Turn, key: str) -> None:
    with show_errors():
        services.ratings.rate(principal(), turn.id, st.session_state[key])
        return
    del st.session_state[key]  # the rating was not stored, so show the stored one


def _tell_why(services: Services, turn: Turn, key: str) -> None:
    reason, comment = st.session_state[f"{key}-reason"], st.session_state[f"{key}-comment"]
    with show_errors():
        services.ratings.rate(
            principal(), turn.id, DOWN, Reason(reason) if reason else None, comment
        )
