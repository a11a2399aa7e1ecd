"""The choice of a person among thousands: a search, and the first people that it finds."""

import streamlit as st

from bootstrap import Services
from domain import Account
from ui.administration.reader_texts import person_name
from ui.shared.frame import principal
from ui.text import words

_SHOWN = 50


def choose_person(
    services: Services, key: str, label: str, *, placeholder: str = ""
) -> Account | None:
    """Show the search and the choice, and return the chosen person, if any.

    `placeholder` is shown while nobody is chosen.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}-person"):
        text = st.text_input(
            words.WHY_FIND_PERSON,
            key=f"{key}-words",
            placeholder=words.FIND_PEOPLE_PLACEHOLDER,
            icon=":material/search:",
        )
        found = services.accounts.page(principal(), text, limit=_SHOWN).accounts
        people = {one.id: one for one in found}
        chosen = st.selectbox(
            label,
            list(people),
            index=0 if len(people) == 1 else None,
            format_func=lambda id_: person_name(people[id_]),
            placeholder=(placeholder or label) if people else words.NO_PEOPLE_MATCH,
            key=f"{key}-chosen-{text}",
        )
    return people.get(chosen) if chosen else None
