"""A search of places on the page: while it goes on, and as it was left."""

import time
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from catalog.events import Answered, CatalogueEvent, Ranked, Understood, Written
from errors import AppError, InputError
from ui import words
from ui.activity import doing_html
from ui.catalogue_answer import answered_html, written_html
from ui.catalogue_cards import cards_html
from ui.catalogue_chips import show_understood
from ui.catalogue_form import PlacesAsked, ask_next, show_examples
from ui.catalogue_patterns import CardView
from ui.catalogue_preferences import ME, kept_preferences, me
from ui.errors import show_error, show_problem
from ui.html import escape
from ui.language import language
from ui.service_text import said
from ui.services import principal
from ui.steps import seconds_html

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary
    from catalog.events import CatalogueAnswer
    from domain import CatalogueQuery, FoundPlace

SHOWN = "places_shown"
REDRAW_S = 0.05


@dataclass
class Search:
    """What is known so far of a search; `answer` and `error` end it.

    `preferences` are those of the person when it began.
    """

    catalogue_id: str
    asked: PlacesAsked
    preferences: Mapping[str, float]
    query: "CatalogueQuery | None" = None
    places: "tuple[FoundPlace, ...] | None" = None
    notices: tuple[str, ...] = ()
    text: str = ""
    answer: "CatalogueAnswer | None" = None
    error: AppError | None = None

    @property
    def again(self) -> PlacesAsked:
        """The same once more; what was understood is not read again."""
        return PlacesAsked(self.asked.question, self.query) if self.query else self.asked

    def take(self, event: CatalogueEvent) -> None:
        """Know what the event tells."""
        match event:
            case Understood(query, _):
                self.query = query
            case Ranked(places, notices):
                self.places, self.notices = places, notices
            case Written(text):
                self.text += text
            case Answered(answer):
                self.answer, self.places, self.notices = answer, answer.places, answer.notices


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
        _search(services, _View(catalogue), search, kept)
    elif kept is None:
        show_examples(catalogue)
    else:
        _offer_again(kept, preferences)
        _View(catalogue).draw(kept)


def _search(services: Services, view: "_View", search: Search, before: Search | None) -> None:
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


def _follow(services: Services, view: "_View", search: Search) -> None:
    view.begin()
    try:
        with closing(_events(services, search)) as events:
            for event in events:
                search.take(event)
                view.follow(event, search)
    except AppError as error:
        search.error = error
        view.draw(search, again=False)


def _events(services: Services, search: Search) -> Generator[CatalogueEvent, None, None]:
    return services.catalogue.search(
        principal(),
        search.asked.question,
        catalogue=search.catalogue_id,
        user_id=ME if me(services) else "",
        understood=search.asked.understood,
    )


class _View:
    """The places on the page where the parts of a search are drawn, in this order."""

    def __init__(self, catalogue: "CatalogueSummary") -> None:
        self._description = catalogue.description
        self._understood = st.empty()
        with st.container(key="places-answer"):
            left, right = st.columns([1.2, 1], gap="medium")
        with left:
            self._activity, self._answer, self._problem = st.empty(), st.empty(), st.empty()
        self._map = right.empty()
        self._places = st.empty()
        self._drawn_at = 0.0

    def begin(self) -> None:
        """Say what is done first; what was found before goes."""
        drawn = (self._understood, self._answer, self._problem, self._map, self._places)
        for place in drawn:
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
        if search.query:
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
