"""Another version of a turn that a person wants, kept from a press to the run after it."""

from dataclasses import dataclass
from enum import StrEnum

import streamlit as st

from domain import SearchChoice, Turn

WANTED = "wanted_again"


class Change(StrEnum):
    """What is to be different in another version of a turn."""

    NOTHING = "nothing"
    QUESTION = "question"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Again:
    """Another version of a turn that a person wants.

    `text` is what it is changed to, `search` how it is searched where that is chosen with it.
    """

    turn: Turn
    change: Change = Change.NOTHING
    text: str = ""
    search: SearchChoice | None = None

    @property
    def question(self) -> str:
        """The question as it is going to be shown."""
        return self.text if self.change is Change.QUESTION else self.turn.question


def want(again: Again) -> None:
    """Have it asked when the page runs next."""
    st.session_state[WANTED] = again


def wanted_again() -> Again | None:
    """What is to be asked again, once."""
    wanted: Again | None = st.session_state.pop(WANTED, None)
    return wanted
