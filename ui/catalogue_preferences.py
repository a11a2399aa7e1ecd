"""What matters to the person: a slider for each aspect of the catalogue, kept on change."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from errors import NotFoundError
from ui import words
from ui.catalogue_words import aspect_name
from ui.literal import literal
from ui.services import principal

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary
    from domain import Person

ME = "me"
"""The id that the person in front of the page is kept under."""

NEUTRAL, MOST, STEP = 2.5, 5.0, 0.5
KEY = "preference-"


def me(services: Services) -> "Person | None":
    """The person in front of the page; None while nothing is kept of them."""
    try:
        return services.people.get(principal(), ME)
    except NotFoundError:
        return None


def kept_preferences(services: Services, catalogue: "CatalogueSummary") -> dict[str, float]:
    """What the person set for the catalogue's aspects, 0 to 5 each."""
    person = me(services)
    kept = person.preferences if person else {}
    return {aspect: kept[aspect] for aspect in catalogue.aspects if aspect in kept}


def show_preferences(services: Services, catalogue: "CatalogueSummary") -> None:
    """Show the sliders; one that was never moved stands in the middle and counts as neutral."""
    person = me(services)
    kept = dict(person.preferences) if person else {}
    with st.expander(words.PREFERENCES, icon=":material/tune:"):
        st.caption(words.PREFERENCES_NOTE)
        with st.container(key="preferences"):
            for aspect in catalogue.aspects:
                _show_slider(services, aspect, aspect_name(catalogue.description, aspect), kept)
        st.button(
            words.PREFERENCES_FORGET,
            icon=":material/undo:",
            type="tertiary",
            disabled=not kept,
            on_click=_forget,
            args=(services, kept),
        )


def _show_slider(services: Services, aspect: str, name: str, kept: Mapping[str, float]) -> None:
    key = KEY + aspect
    st.session_state.setdefault(key, kept.get(aspect, NEUTRAL))
    label = literal(name) if aspect in kept else f"{literal(name)} ({words.PREFERENCES_UNSET})"
    st.slider(
        label,
        0.0,
        MOST,
        step=STEP,
        format="%.1f",
        key=key,
        on_change=_keep,
        args=(services, aspect),
    )


def _keep(services: Services, aspect: str) -> None:
    preference = {aspect: st.session_state[KEY + aspect]}
    services.people.patch(principal(), ME, preferences=preference)


def _forget(services: Services, kept: Mapping[str, float]) -> None:
    services.people.patch(principal(), ME, preferences=dict.fromkeys(kept))
    for aspect in kept:
        st.session_state.pop(KEY + aspect, None)
