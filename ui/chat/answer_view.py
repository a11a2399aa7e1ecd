"""Shows a turn on the page, both while it is being written and once it is stored."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import EXTRACTIVE, SearchChoice, Turn, TurnState
from domain.errors import AppError
from services.chat.chat_service import ChatService
from services.chat.conversation_service import Cost
from services.events import (
    CitationVerified,
    Condensing,
    Event,
    PassagesRetrieved,
    ReasoningDelta,
    Searching,
    StepUpdated,
    TextDelta,
    TurnStarted,
)
from services.library.reader_service import Freshness
from ui.chat.citation_view import citation_marker, evidence_html
from ui.chat.conversation_list import note_begun
from ui.chat.feedback import show_rating
from ui.chat.live_answer import LiveAnswer, activity_html
from ui.chat.nothing_found import show_nothing_found
from ui.chat.question_refusal import refuse
from ui.chat.reasoning_view import reasoning_html
from ui.chat.scope_panel import open_begun
from ui.chat.turn_actions import Change, NewVersion, copied_text, latest_turns, show_actions
from ui.shared.copying import show_copy_button
from ui.shared.frame import principal, problem_html, show_error
from ui.shared.safe_html import answer_html, escape, lang, scroll_to, spans_html
from ui.text import words

A_SECOND_MS = 1000
SMALLEST = 0.0001
"""The smallest displayed amount, in currency units; anything less would be displayed as zero."""


def show_cost(services: Services, turn: Turn) -> None:
    """Show a muted line with the answerer, the duration, and the tokens and their cost."""
    if not turn.model:
        return
    cost = services.costs.of([turn])
    name = words.FREE_ANSWERER if turn.model == EXTRACTIVE else turn.model
    _show_line([name, *_times(turn), *_took(cost, free=turn.model == EXTRACTIVE)])


def show_total_cost(services: Services, turns: Sequence[Turn]) -> None:
    """Show a line with the total tokens and cost if a model wrote more than one answer."""
    paid = [turn for turn in turns if turn.usage]
    if len(paid) > 1:
        _show_line([words.CONVERSATION_TOOK, *_took(services.costs.of(paid), free=False)])


def _times(turn: Turn) -> list[str]:
    labels = {"first_token": words.FIRST_WORDS, "total": words.ANSWER_TIME}
    return [
        form.format(seconds=turn.timings_ms[moment] / A_SECOND_MS)
        for moment, form in labels.items()
        if moment in turn.timings_ms
    ]


def _took(cost: Cost, *, free: bool) -> list[str]:
    if free or not cost.input_tokens + cost.output_tokens:
        return []
    took = [words.TOKENS.format(read=cost.input_tokens, written=cost.output_tokens)]
    if cost.amount is not None:
        took.append(_price(cost.currency, cost.amount))
    return took


def _price(currency: str, amount: float) -> str:
    if 0 < amount < SMALLEST:
        return words.COST_LESS.format(currency=currency, amount=SMALLEST)
    return words.COST.format(currency=currency, amount=amount)


def _show_line(parts: Sequence[str]) -> None:
    st.html(f'<p class="fn-cost">{spans_html(parts)}</p>')


QUESTION_CHARACTERS = 2000  # longer questions are truncated on the page
USER, ASSISTANT = ":material/person:", ":material/menu_book:"


def show_turns(services: Services, turns: list[Turn], version: NewVersion | None) -> DeltaGenerator:
    """Show the latest turns, up to the one being repeated; returns the place for the next turn."""
    everything, turns = turns, latest_turns(turns)
    ids = [turn.id for turn in turns]
    before = ids.index(version.turn.id) if version and version.turn.id in ids else len(turns)
    versions = services.turns.versions(principal(), turns[0].conversation_id) if turns else {}
    freshness = services.reader.freshness(principal(), turns)
    opened = st.container(key="opened")  # one fixed place, so that its script runs once per value
    for turn in turns[:before]:
        with st.container():
            is_last = turn is turns[-1]
            _show_turn(services, turn, versions.get(turn.id, ()), freshness, is_last=is_last)
    if before == len(turns) and turns:
        show_total_cost(services, everything)
        with opened:
            _scroll_to_question(f"{turns[0].conversation_id} {len(everything)}")
    with st.container():
        place = st.container()
        st.empty()  # clears the old answer while the new one is written
    for _ in turns[before + 1 :]:
        st.empty()  # clears the turns after it
    return place


def _show_turn(
    services: Services,
    turn: Turn,
    versions: tuple[str, ...],
    freshness: Mapping[str, Freshness],
    *,
    is_last: bool,
) -> None:
    """Show the question, the answer with its actions, and the sources below or beside both.

    The last turn also offers other searches if nothing was found.
    """
    with _turn_frame(services, turn, freshness):
        rating = services.ratings.rating(principal(), turn.id)
        show_actions(services, turn, versions, rating)
        show_rating(services, turn, rating)
        if is_last:
            show_nothing_found(services, turn)


def show_shared_turn(services: Services, turn: Turn, freshness: Mapping[str, Freshness]) -> None:
    """Show the question, the answer, and the sources of another person's turn."""
    with _turn_frame(services, turn, freshness):
        show_copy_button(copied_text(turn))


@contextmanager
def _turn_frame(
    services: Services, turn: Turn, freshness: Mapping[str, Freshness]
) -> Iterator[None]:
    """Show the question and the answer, then what the block shows, the cost, and the sources."""
    show_question(turn.question)
    with (
        st.chat_message("assistant", avatar=ASSISTANT),
        st.container(key=f"turn-{turn.id}"),
    ):
        with st.container(key=f"main-{turn.id}"):
            answer = answer_html(turn.answer, citation_marker(turn)) if turn.answer else ""
            above = activity_html(turn) + reasoning_html(turn)
            st.html(f'<div class="fn-turn">{above}{answer}{_notice(turn)}</div>')
            yield
            show_cost(services, turn)
        if evidence := evidence_html(turn, freshness):
            st.html(evidence)


def _notice(turn: Turn) -> str:
    notices = {
        TurnState.STOPPED: words.STOPPED,
        TurnState.RUNNING: words.RUNNING,
        TurnState.INCOMPLETE: words.INCOMPLETE,
    }
    notice = notices.get(turn.state, "")
    if turn.error:
        return problem_html(turn.error, hint=notice)
    return problem_html(notice, severe=False) if notice else ""


def show_question(question: str) -> None:
    """Show the question as typed, truncated to `QUESTION_CHARACTERS`."""
    more = len(question) - QUESTION_CHARACTERS
    cut = " " + words.QUESTION_CUT.format(more=more) if more > 0 else ""
    with st.chat_message("user", avatar=USER):
        text = escape(question[:QUESTION_CHARACTERS] + cut)
        st.html(f'<div class="fn-question"{lang(question)}>{text}</div>')


def _scroll_to_question(of: str) -> None:
    """Scroll the last question to the top, with its answer and evidence visible below it."""
    scroll_to(".fn-question", which=-1, to="start", of=of)


def show_stop() -> None:
    """Show a stop button for an answer that a button requested; the chat input has its own.

    Clicking any button interrupts the page's run, and the service stores the partial answer.
    """
    st.button(words.STOP, key="stop", icon=":material/stop_circle:")


def ask(
    services: Services,
    request: str | NewVersion,
    conversation_id: str | None,
    search: SearchChoice | None = None,
) -> bool:
    """Show the answer while it is written; returns False, after showing the error, if it failed.

    A typed question that is refused returns to the input.

    If the reader stops the answer, the service's generator is closed and stores the partial
    answer before the page continues.
    """
    with st.container(key="live"):
        show_question(request if isinstance(request, str) else request.question)
        _scroll_to_question("live")
        with st.chat_message("assistant", avatar=ASSISTANT):
            live = LiveAnswer(services)
            try:
                with closing(_events(services.chat, request, conversation_id, search)) as events:
                    _show_stream(live, events)
            except Exception as error:  # a failure, unlike a stop by the reader
                live.draw()
                if not isinstance(error, AppError):
                    raise
                if isinstance(request, str) and not live.has_begun:  # nothing was stored
                    refuse(request, error)
                    st.rerun()
                with live.problems:
                    show_error(error)
                return False
    return True


def _events(
    chat: ChatService,
    request: str | NewVersion,
    conversation_id: str | None,
    search: SearchChoice | None,
) -> Generator[Event, None, None]:
    if isinstance(request, str):
        return chat.stream(principal(), request, conversation_id, search=search)
    of = (principal(), request.turn.conversation_id, request.turn.id)
    search = request.search or search
    if search and request.change is Change.SEARCH:  # a single search for that text needs no agent
        search = replace(search, by_agent=False)
    return chat.ask_again(
        *of,
        question=request.text if request.change is Change.QUESTION else None,
        standalone=request.text if request.change is Change.SEARCH else None,
        search=search,
    )


def _show_stream(live: LiveAnswer, events: Iterator[Event]) -> None:
    for event in events:
        match event:
            case TurnStarted(turn):  # even a stopped or failed first question has one
                open_begun(turn.conversation_id)
                note_begun(turn)
                live.begin(turn)
            case Condensing():
                live.wait()
            case Searching(question):
                live.search(question)
            case StepUpdated(step):
                live.step(step)
            case PassagesRetrieved(sources):
                live.find(sources)
            case ReasoningDelta(text):
                live.reason(text)
            case TextDelta(text):
                live.write(text)
            case CitationVerified(citation):
                live.cite(citation)
