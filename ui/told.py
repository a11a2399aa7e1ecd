"""What a page says of what was just done."""

import time

import streamlit as st

SHOWN_S = 10.0


class Told:
    """The lines at the top of one page, for some seconds however often it runs meanwhile."""

    def __init__(self, key: str) -> None:
        """The key names the lines in the session: another one for each page."""
        self._key = key

    def say(self, *texts: str) -> None:
        """Say these beside what is said already, which then stays as long."""
        st.session_state[self._key] = ([*self.lines(), *texts], time.monotonic())

    def lines(self) -> list[str]:
        """What is to be said now, in the order it was said."""
        texts, since = st.session_state.get(self._key, ([], 0.0))
        return texts if time.monotonic() - since < SHOWN_S else []

    def forget(self) -> None:
        """Say nothing of all that any more."""
        st.session_state.pop(self._key, None)
