"""The places that were asked for: searched for now, or as they were found last."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from errors import AppError, InputError
from ui import words
from ui.catalogue_form import PlacesAsked, ask_next, show_examples
from ui.catalogue_preferences import kept_preferences
from ui.catalogue_search import Search, events_of
from ui.catalogue_view import SearchView

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary

SHOWN = "places_shown"


def show_places(
    services: Services, catalogue: "CatalogueSummary", asked: PlacesAsked | None
) -> None:
    """Search for what is asked while showing what comes; else show what was found last."""
    kept: Search | None = st.session_state.get(SHOWN)
    if kept is not None and kept.catalogue_id != catalogue.id:
        kept = None
    preferences = kept_preferences(services, catalogue)
    if asked:
        search = st.session_state[SHOWN] = Search(catalogue.id, asked, preferences)
        _search(services, SearchView(catalogue, asked.understood), search, kept)
    elif kept is None:
        show_examples(catalogue)
    else:
        _offer_again(kept, preferences)
        SearchView(catalogue, kept.again.understood).draw(kept)


def _search(services: Services, view: SearchView, search: Search, before: Search | None) -> None:
    _follow(services, view, search)
    if before and search.query is None and isinstance(search.error, InputError):
        st.session_state[SHOWN] = before  # a question that is refused takes nothing away
        view.draw(replace(before, error=search.error))


def _offer_again(search: Search, preferences: Mapping[str, float]) -> None:
    """Where the search does not count what is preferred now, or was cut short, offer another."""
    changed = preferences != search.preferences
    if not changed and (search.answer or search.error):
        return
    with st.container(key="places-again", horizontal=True, vertical_alignment="center"):
        told = words.PREFERENCES_CHANGED if changed else words.PLACES_CUT_SHORT
        st.caption(told, width="content")
        st.button(
            words.ASK_AGAIN,
            key="places-ask-again",
            icon=":material/refresh:",
            on_click=ask_next,
            args=(search.again,),
        )


def _follow(services: Services, view: SearchView, search: Search) -> None:
    view.begin()
    try:
        with closing(events_of(services, search)) as events:
            for event in events:
                search.take(event)
                view.follow(event, search)
    except AppError as error:
        search.error = error
        view.draw(search, again=False)
