"""Shows a search for places: the analysis, the answer, the map, and the cards."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import Turn, TurnState
from domain.errors import AppError, InputError
from services.catalog.catalog_question import (
    READER_NOTICES,
    AnswerCompleted,
    AnswerText,
    CatalogAnswer,
    CatalogEvent,
    QuestionAnalyzed,
)
from services.catalog.place_search import PlacesRanked
from ui.catalog.catalog_form import (
    ME,
    PlaceRequest,
    ask_next,
    me,
    search_again,
    show_analysis,
    show_examples,
    stored_preferences,
)
from ui.catalog.place_cards import CardView, cards_html
from ui.catalog.place_map import has_map, map_html
from ui.chat.citation_view import citation_marker, sources_html, verdict_html
from ui.chat.live_answer import doing_html
from ui.chat.step_view import seconds_html
from ui.shared.frame import principal, show_error, show_problem
from ui.shared.safe_html import answer_html, escape
from ui.text import words

if TYPE_CHECKING:
    from domain import CatalogQuery, PlaceHit
    from services.catalog.catalogs import CatalogSummary


def written_html(text: str) -> str:
    """The unchecked answer so far; its markers are not links yet."""
    return _with_title(answer_html(text, lambda n: f'<span class="fn-cite">{n}</span>', heading=3))


def answered_html(answer: CatalogAnswer) -> str:
    """The answer, with markers that link to the cited words and collapsed evidence below."""
    turn = _as_turn(answer)
    body = _with_title(answer_html(turn.answer, citation_marker(turn), heading=3))
    sources = sources_html(turn)
    evidence = f"<summary>{escape(words.PLACES_PROOF)}</summary>{sources}"
    folded = f'<details class="fn-more">{evidence}</details>' if sources else ""
    return (
        f'{body}<section class="fn-sources" aria-label="{words.SOURCES}">'
        f"{verdict_html(turn)}{folded}</section>"
    )


def _with_title(answer: str) -> str:
    return f'<h2 class="fn-unseen">{escape(words.PLACES_ANSWER)}</h2>{answer}'


def _as_turn(answer: CatalogAnswer) -> Turn:
    """A turn without a conversation, for the functions that render chat answers."""
    return Turn(
        id="",
        conversation_id="",
        question=answer.query.question,
        state=TurnState.COMPLETE,
        created_at=datetime.now(UTC),
        answer=answer.answer,
        model=answer.model,
        sources=answer.sources,
        citations=answer.citations,
        unsupported_sentences=answer.unsupported_sentences,
        timings_ms=answer.timings_ms,
    )


@dataclass
class Search:
    """The state of a search, which ends with an `answer` or an `error`.

    `preferences` are those of the person when the search began.
    """

    catalog_id: str
    request: PlaceRequest
    preferences: Mapping[str, float]
    query: "CatalogQuery | None" = None
    weights: Mapping[str, float] = field(default_factory=dict)
    places: "tuple[PlaceHit, ...] | None" = None
    notices: tuple[str, ...] = ()
    text: str = ""
    answer: CatalogAnswer | None = None
    error: AppError | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the question was found not to be about the catalog."""
        return self.answer is not None and self.answer.is_refusal

    @property
    def repetition(self) -> PlaceRequest:
        """The same request, including the analysis if there is one and it was searched."""
        if self.query is None or self.is_refused:
            return self.request
        return PlaceRequest(self.request.question, self.query)

    def apply(self, event: CatalogEvent) -> None:
        """Update the state from an event."""
        match event:
            case QuestionAnalyzed(query, weights):
                self.query, self.weights = query, weights
            case PlacesRanked(places, notices):
                self.places, self.notices = places, notices
            case AnswerText(text):
                self.text += text
            case AnswerCompleted(answer):
                self.answer, self.places, self.notices = answer, answer.places, answer.notices


def search_events(services: Services, search: Search) -> Generator[CatalogEvent, None, None]:
    """The events of the search, with the person's preferences."""
    return services.catalog.search(
        principal(),
        search.request.question,
        catalog=search.catalog_id,
        user_id=ME if me(services) else "",
        analysis=search.request.analysis,
    )


REDRAW_S = 0.05


class SearchView:
    """The areas of a search on the page, in this order."""

    def __init__(self, catalog: "CatalogSummary", analysis: "CatalogQuery | None") -> None:
        """Create the areas, and draw the analysis if it is already known."""
        self._catalog, self._description = catalog, catalog.description
        self._analysis = self._analysis_area(analysis)
        with st.container(key="places-answer"):
            left, right = st.columns([1.2, 1], gap="medium")
        with left:
            self._activity, self._answer, self._problem = st.empty(), st.empty(), st.empty()
        self._map = right.empty()
        self._places = st.empty()
        self._drawn_at = 0.0

    def _analysis_area(self, analysis: "CatalogQuery | None") -> DeltaGenerator | None:
        """The area for chips that are drawn later; None if the analysis is known and drawn now.

        Clearing known chips and drawing them again would lose the keyboard focus.
        """
        if analysis is None:
            return st.empty()
        with st.container():
            show_analysis(analysis, self._description)
        return None

    def begin(self) -> None:
        """Clear earlier results, and show the first activity."""
        areas = (self._analysis, self._answer, self._problem, self._map, self._places)
        for area in filter(None, areas):
            area.empty()
        self._activity.html(doing_html(words.PLACES_UNDERSTANDING))

    def update(self, event: CatalogEvent, search: Search) -> None:
        """Draw the changes caused by an event."""
        match event:
            case QuestionAnalyzed():
                self._draw_analysis(search)
                self._activity.html(doing_html(words.PLACES_RANKING))
            case PlacesRanked():
                self._draw_map(search)
                self._draw_places(search)
                self._activity.html(doing_html(words.PLACES_ANSWERING))
            case AnswerText() if time.monotonic() - self._drawn_at > REDRAW_S:
                self._drawn_at = time.monotonic()
                self._answer.html(written_html(search.text))
            case AnswerCompleted():
                self.draw(search, is_update=True)

    def draw(self, search: Search, *, is_update: bool = False) -> None:
        """Draw a finished search; an update skips the parts that can't have changed."""
        if not is_update or search.is_refused:
            self._draw_analysis(search)
            self._draw_map(search)
        self._activity.empty()
        if search.answer and not search.is_refused:
            self._activity.html(_outcome(search.answer))
            self._answer.html(answered_html(search.answer))
        elif search.text:
            self._answer.html(written_html(search.text))
        self._draw_problem(search)
        self._draw_places(search)

    def _draw_analysis(self, search: Search) -> None:
        if self._analysis is None or search.query is None:
            return
        self._analysis.empty()
        if not search.is_refused:
            with self._analysis.container():
                show_analysis(search.query, self._description)

    def _draw_problem(self, search: Search) -> None:
        with self._problem.container():
            if search.error:
                show_error(search.error)
            if search.is_refused and search.query:
                self._show_ways_on(search.query)

    def _show_ways_on(self, query: "CatalogQuery") -> None:
        """Offer example questions, and the search that was refused."""
        show_examples(self._catalog)
        st.button(
            words.PLACES_ANYWAY,
            key="places-anyway",
            icon=":material/search:",
            type="tertiary",
            on_click=search_again,
            args=(query,),
        )

    def _draw_places(self, search: Search) -> None:
        if search.places is None or search.query is None:
            return
        with self._places.container():
            notices = [one for one in search.notices if one in READER_NOTICES]
            view = CardView(self._description, search.query, search.weights)
            cards = cards_html(search.places, view)
            if html := _notices(notices) + cards + _details(search):
                st.html(html)
            if not search.places and search.error:  # otherwise, the answer says so
                show_problem(words.PLACES_NOT_FOUND, severe=False)

    def _draw_map(self, search: Search) -> None:
        if search.query is None or not search.places or not has_map(search.places):
            return
        title = f'<h2 class="fn-chart">{escape(words.PLACES_MAP)}</h2>'
        note = f'<p class="fn-chart-note">{escape(words.PLACES_MAP_NOTE)}</p>'
        self._map.html(title + note + map_html(search.places, search.query))


def _outcome(answer: CatalogAnswer) -> str:
    """The number of places and the duration."""
    number = escape(words.count(words.PLACES_FOUND, len(answer.places)))
    seconds = seconds_html(answer.timings_ms.get("total", 0.0))
    outcome = words.PLACES_TOOK.format(found=number, seconds=seconds)
    return f'<p class="fn-activity" role="status">{outcome}</p>'


def _notices(notices: Sequence[str]) -> str:
    lines = "".join(
        f'<p class="fn-skipped">{escape(words.translated(notice))}</p>' for notice in notices
    )
    return f'<div class="fn-notices">{lines}</div>' if lines else ""


def _details(search: Search) -> str:
    """What the operator may want to know, collapsed: the analysis, and what was not available."""
    lines = [*_analysis_notes(search.query), *search.notices]
    notices = _notices([line for line in lines if line and line not in READER_NOTICES])
    if not notices:
        return ""
    summary = escape(words.PLACES_DETAILS)
    return f'<details class="fn-more fn-operator"><summary>{summary}</summary>{notices}</details>'


def _analysis_notes(query: "CatalogQuery | None") -> Iterator[str]:
    """The English wording of the question, and what analyzed it."""
    if query is None:
        return
    if query.query_en and query.query_en != query.question:
        yield words.UNDERSTOOD_AS.format(query=query.query_en)
    if query.analysed_by:
        yield words.UNDERSTOOD_BY.format(model=query.analysed_by)
    yield query.notice


LAST_SEARCH = "places_shown"


def show_places(
    services: Services, catalog: "CatalogSummary", request: PlaceRequest | None
) -> None:
    """Run the request and show its progress; without one, show the last search or examples."""
    last: Search | None = st.session_state.get(LAST_SEARCH)
    if last is not None and last.catalog_id != catalog.id:
        last = None
    preferences = stored_preferences(services, catalog)
    if request:
        search = st.session_state[LAST_SEARCH] = Search(catalog.id, request, preferences)
        _search(services, SearchView(catalog, request.analysis), search, last)
    elif last is None:
        show_examples(catalog)
    else:
        _offer_repetition(last, preferences)
        SearchView(catalog, last.repetition.analysis).draw(last)


def _search(services: Services, view: SearchView, search: Search, last: Search | None) -> None:
    _run(services, view, search)
    if last and search.query is None and isinstance(search.error, InputError):
        st.session_state[LAST_SEARCH] = last  # an invalid question does not discard the results
        view.draw(replace(last, error=search.error))


def _offer_repetition(search: Search, preferences: Mapping[str, float]) -> None:
    """Offer to repeat the search if the preferences changed or it was interrupted."""
    changed = preferences != search.preferences
    if not changed and (search.answer or search.error):
        return
    with st.container(key="places-again", horizontal=True, vertical_alignment="center"):
        reason = words.PREFERENCES_CHANGED if changed else words.PLACES_CUT_SHORT
        st.caption(reason, width="content")
        st.button(
            words.ASK_AGAIN,
            key="places-ask-again",
            icon=":material/refresh:",
            on_click=ask_next,
            args=(search.repetition,),
        )


def _run(services: Services, view: SearchView, search: Search) -> None:
    view.begin()
    try:
        with closing(search_events(services, search)) as events:
            for event in events:
                search.apply(event)
                view.update(event, search)
    except AppError as error:
        search.error = error
        view.draw(search, is_update=True)
