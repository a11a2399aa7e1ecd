"""A search of places as it is drawn: what was understood, the answer, the map and the cards."""

import time
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from catalog.events import Answered, CatalogueEvent, Ranked, Understood, Written
from ui import words
from ui.activity import doing_html
from ui.catalogue_answer import answered_html, written_html
from ui.catalogue_cards import cards_html
from ui.catalogue_chips import show_understood
from ui.catalogue_patterns import CardView
from ui.catalogue_search import Search
from ui.errors import show_error, show_problem
from ui.html import escape
from ui.language import language
from ui.service_text import said
from ui.steps import seconds_html

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary
    from catalog.events import CatalogueAnswer
    from domain import CatalogueQuery

REDRAW_S = 0.05


class SearchView:
    """Where the parts of a search are drawn, in this order."""

    def __init__(self, catalogue: "CatalogueSummary", understood: "CatalogueQuery | None") -> None:
        """Draw what is understood already; all else waits."""
        self._description = catalogue.description
        self._understood = self._place_of(understood)
        with st.container(key="places-answer"):
            left, right = st.columns([1.2, 1], gap="medium")
        with left:
            self._activity, self._answer, self._problem = st.empty(), st.empty(), st.empty()
        self._map = right.empty()
        self._places = st.empty()
        self._drawn_at = 0.0

    def _place_of(self, understood: "CatalogueQuery | None") -> DeltaGenerator | None:
        """Where chips are drawn later; None where they are drawn now.

        Emptied for a moment, they would lose the place from which the Tab key continues.
        """
        if understood is None:
            return st.empty()
        with st.container():
            show_understood(understood, self._description)
        return None

    def begin(self) -> None:
        """Say what is done first; what was found before goes."""
        drawn = (self._understood, self._answer, self._problem, self._map, self._places)
        for place in filter(None, drawn):
            place.empty()
        self._activity.html(doing_html(words.PLACES_UNDERSTANDING))

    def follow(self, event: CatalogueEvent, search: Search) -> None:
        """Draw what the event has changed."""
        match event:
            case Understood():
                self._draw_understood(search)
                self._activity.html(doing_html(words.PLACES_RANKING))
            case Ranked():
                self._draw_map(search)
                self._draw_places(search)
                self._activity.html(doing_html(words.PLACES_ANSWERING))
            case Written() if time.monotonic() - self._drawn_at > REDRAW_S:
                self._drawn_at = time.monotonic()
                self._answer.html(written_html(search.text))
            case Answered():
                self.draw(search, again=False)

    def draw(self, search: Search, *, again: bool = True) -> None:
        """Draw all of a search that has ended; without `again` not what can't have changed."""
        if again:
            self._draw_understood(search)
            self._draw_map(search)
        self._activity.empty()
        if search.answer:
            self._activity.html(_outcome(search.answer))
            self._answer.html(answered_html(search.answer))
        elif search.text:
            self._answer.html(written_html(search.text))
        self._draw_problem(search)
        self._draw_places(search)

    def _draw_understood(self, search: Search) -> None:
        if search.query and self._understood:
            with self._understood.container():
                show_understood(search.query, self._description)

    def _draw_problem(self, search: Search) -> None:
        with self._problem.container():
            if search.error:
                show_error(search.error)

    def _draw_places(self, search: Search) -> None:
        if search.places is None:
            return
        with self._places.container():
            if search.notices:
                st.html(_notices(search.notices))
            if not search.places:
                if search.error:  # else the answer says so, and which filters to take out
                    show_problem(words.PLACES_NOT_FOUND, severe=False)
                return
            spoken = search.answer.language if search.answer else language()
            title = f'<h2 class="fn-unseen">{escape(words.PLACES_PAGE)}</h2>'
            st.html(title + cards_html(search.places, CardView(self._description, spoken)))

    def _draw_map(self, search: Search) -> None:
        from ui import catalogue_map  # altair is slow to load

        if not search.places or not catalogue_map.has_map(search.places):
            return
        title = f'<h2 class="fn-chart">{escape(words.PLACES_MAP)}</h2>'
        chart = catalogue_map.place_map(search.places, self._description)
        with self._map.container():
            st.html(f'{title}<p class="fn-chart-note">{escape(words.PLACES_MAP_NOTE)}</p>')
            st.altair_chart(chart, width="stretch", key="places-map")


def _outcome(answer: "CatalogueAnswer") -> str:
    """How many places were found, and in what time."""
    found = escape(words.count(words.PLACES_FOUND, len(answer.places)))
    seconds = seconds_html(answer.timings_ms.get("total", 0.0))
    told = words.PLACES_TOOK.format(found=found, seconds=seconds)
    return f'<p class="fn-activity" role="status">{told}</p>'


def _notices(notices: tuple[str, ...]) -> str:
    lines = "".join(f'<p class="fn-skipped">{escape(said(notice))}</p>' for notice in notices)
    return f'<div class="fn-notices">{lines}</div>'
