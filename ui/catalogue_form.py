"""What the page of places is asked: a question, or one again with less of what was understood."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from services.questions import MAX_QUESTION_CHARS
from ui import words
from ui.catalogue_examples import examples_of, placeholder_of
from ui.catalogue_preferences import show_preferences
from ui.literal import literal

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary
    from domain import CatalogueQuery

QUESTION, LAST_QUESTION = "places_question", "places_question_last"
PENDING = "places_pending"


@dataclass(frozen=True, slots=True)
class PlacesAsked:
    """A question; with `understood` it is not read again."""

    question: str
    understood: "CatalogueQuery | None" = None


def places_form(services: Services, catalogue: "CatalogueSummary") -> PlacesAsked | None:
    """Show the question's field and the preferences; what is asked now, if anything is.

    The last question stays in its field while another page is looked at.
    """
    st.session_state.setdefault(QUESTION, st.session_state.get(LAST_QUESTION, ""))
    with (
        st.form("places", border=False),
        st.container(key="places-question", horizontal=True, vertical_alignment="bottom"),
    ):
        question = st.text_input(
            words.PLACES_QUESTION,
            key=QUESTION,
            placeholder=placeholder_of(catalogue),
            max_chars=MAX_QUESTION_CHARS,
        )
        sent = st.form_submit_button(words.PLACES_ASK, type="primary", icon=":material/search:")
    show_preferences(services, catalogue)
    pending: PlacesAsked | None = st.session_state.pop(PENDING, None)
    asked = PlacesAsked(question) if sent else pending
    if asked:
        st.session_state[LAST_QUESTION] = asked.question
    return asked


def show_examples(catalogue: "CatalogueSummary") -> None:
    """Show questions to begin with, if there are any; to press one asks it."""
    examples = examples_of(catalogue)
    if not examples:
        return
    st.caption(words.PLACES_FOR_EXAMPLE)
    with st.container(horizontal=True, key="places-examples"):
        for question in examples:
            st.button(literal(question), key=f"places-{question}", on_click=_ask, args=(question,))


def ask_again(understood: "CatalogueQuery") -> None:
    """Have the same question searched for this when the page runs next."""
    ask_next(PlacesAsked(understood.question, understood))


def ask_next(asked: PlacesAsked) -> None:
    """Have this asked when the page runs next."""
    st.session_state[PENDING] = asked


def _ask(question: str) -> None:
    st.session_state[QUESTION] = question
    ask_next(PlacesAsked(question))
