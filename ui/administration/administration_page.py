"""The frame of the administration page: its title, its notices, and its views."""

import streamlit as st

from bootstrap import Services
from ui.shared.frame import Notices, name_tab, show_title
from ui.text import words

VIEW = "administration_view"
PEOPLE, GROUPS, SOURCES = "people", "groups", "sources"
WHY, KEYS, AUDIT = "why", "keys", "audit"
NOTICES = Notices("administration_notices")


def show_administration_title(services: Services) -> None:
    """Show the heading and the notices; without sign-in, those of the API keys."""
    if services.sign_in is None:
        name_tab(words.API_KEYS)
        show_title(words.API_KEYS, words.API_KEYS_NOTE_ALONE)
    else:
        name_tab(words.ADMINISTRATION_PAGE)
        show_title(words.ADMINISTRATION_PAGE, words.ADMINISTRATION_INTRO)
    NOTICES.show()


def administration_view(services: Services) -> str:
    """Show the switch between the views, and return the selected one; keys without sign-in."""
    if services.sign_in is None:
        return KEYS
    chosen: str | None = st.segmented_control(
        words.ADMINISTRATION_VIEW,
        [PEOPLE, GROUPS, SOURCES, WHY, KEYS, AUDIT],
        default=PEOPLE,
        required=True,
        key=VIEW,
        format_func=words.ADMINISTRATION_VIEWS.__getitem__,
        label_visibility="collapsed",
    )
    return chosen or PEOPLE


def tell(text: str) -> None:
    """Show a notice at the top of the page, which is rerun."""
    NOTICES.forget()
    NOTICES.say(text)
    st.rerun()
