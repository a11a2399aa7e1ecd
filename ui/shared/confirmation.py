"""The question before an action that takes something away."""

import streamlit as st

from ui.shared.frame import show_problem
from ui.shared.safe_html import scroll_to


def is_confirmed(
    key: str, state: str, question: str, *, hint: str, agree: str, cancel: str, of: str
) -> bool:
    """Ask the question, and return whether the person has just agreed.

    Either answer removes `state` from the session, where the caller has recorded that the action
    was requested. `of` is what the action is about; the page scrolls to the question once for it.
    """
    with st.container(border=True, key=key):
        show_problem(question, hint=hint, severe=False)
        with st.container(horizontal=True):
            agreed = st.button(agree, type="primary")
            st.button(cancel, on_click=_forget, args=(state,))
    scroll_to(f".st-key-{key}", of=of)
    if agreed:
        _forget(state)
    return agreed


def _forget(state: str) -> None:
    st.session_state.pop(state, None)
