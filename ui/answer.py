"""A turn on the page: while it is being written, and once it is stored."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import SearchChoice, Turn, TurnState
from errors import AppError
from services.events import Condensing, Event, Found, Searching, Started, Stepped, Written
from ui import words
from ui.activity import activity_html
from ui.again import Again, Change
from ui.conversations import note_begun
from ui.costs import show_cost, show_total_cost
from ui.earlier import latest_turns
from ui.errors import problem_html, show_error
from ui.feedback import show_feedback
from ui.html import answer_html, escape, lang
from ui.live_answer import LiveAnswer
from ui.nothing_found import show_nothing_found
from ui.scope import open_begun
from ui.scrolling import scroll_to
from ui.services import principal
from ui.sources import citation_marker, evidence_html
from ui.turn_actions import show_actions

if TYPE_CHECKING:
    from services.chat import ChatService
    from services.reader import Freshness

QUESTION_CHARACTERS = 2000  # more of a question than this is not repeated on the page
USER, ASSISTANT = ":material/person:", ":material/menu_book:"


def show_turns(services: Services, turns: list[Turn], again: Again | None) -> DeltaGenerator:
    """Show the latest turns, or those before the one asked again; where the next one comes."""
    everything, turns = turns, latest_turns(turns)
    ids = [turn.id for turn in turns]
    before = ids.index(again.turn.id) if again and again.turn.id in ids else len(turns)
    versions = services.turns.versions(principal(), turns[0].conversation_id) if turns else {}
    freshness = services.reader.freshness(principal(), turns)
    opened = st.container(key="opened")  # one place, so that its script runs once for each
    for turn in turns[:before]:
        with st.container():
            _show_turn(services, turn, versions.get(turn.id, ()), freshness)
    if before == len(turns) and turns:
        show_nothing_found(services, turns[-1])
        show_total_cost(services, everything)
        with opened:
            _scroll_to_question(f"{turns[0].conversation_id} {len(everything)}")
    with st.container():
        place = st.container()
        st.empty()  # else the old answer stands below the new one while that is written,
    for _ in turns[before + 1 :]:
        st.empty()  # as do the turns after it
    return place


def _show_turn(
    services: Services,
    turn: Turn,
    versions: tuple[str, ...],
    freshness: "Mapping[str, Freshness]",
) -> None:
    """Question, answer, what became of it, its sources, and what can be done with it."""
    show_question(turn.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        answer = answer_html(turn.answer, citation_marker(turn)) if turn.answer else ""
        main = f'<div class="fn-main">{activity_html(turn)}{answer}{_notice(turn)}</div>'
        st.html(f'<div class="fn-turn"><div>{main}{evidence_html(turn, freshness)}</div></div>')
        show_actions(services.turns, turn, versions)
        show_feedback(services, turn)
        show_cost(services, turn)


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
    """Show the question as it was typed; of a very long one only the beginning."""
    more = len(question) - QUESTION_CHARACTERS
    cut = " " + words.QUESTION_CUT.format(more=more) if more > 0 else ""
    with st.chat_message("user", avatar=USER):
        text = escape(question[:QUESTION_CHARACTERS] + cut)
        st.html(f'<div class="fn-question"{lang(question)}>{text}</div>')


def _scroll_to_question(of: str) -> None:
    """Bring the last question to the top, with the answer and what proves it in sight below it."""
    scroll_to(".fn-question", which=-1, to="start", of=of)


def show_stop() -> None:
    """Offer to stop an answer that was asked for by a button: the input stops only its own.

    To press any button ends what the page is at, and the service keeps what was written.
    """
    st.button(words.STOP, key="stop", icon=":material/stop_circle:")


def ask(
    services: Services,
    asked: str | Again,
    conversation_id: str | None,
    search: SearchChoice | None = None,
) -> bool:
    """Show the answer while it is written; False where it failed, with the reason on the page.

    The service's generator is closed when the reader presses stop, so that it keeps the
    partial answer before the page goes on.
    """
    with st.container(key="live"):
        show_question(asked if isinstance(asked, str) else asked.question)
        _scroll_to_question("live")
        with st.chat_message("assistant", avatar=ASSISTANT):
            live = LiveAnswer(services.turns)
            try:
                with closing(_events(services.chat, asked, conversation_id, search)) as events:
                    _show_stream(live, events)
            except Exception as error:  # whatever failed, the reader did not stop it
                live.draw()
                if not isinstance(error, AppError):
                    raise
                with live.problems:
                    show_error(error)
                return False
    return True


def _events(
    chat: "ChatService",
    asked: str | Again,
    conversation_id: str | None,
    search: SearchChoice | None,
) -> Generator[Event, None, None]:
    if isinstance(asked, str):
        return chat.stream(principal(), asked, conversation_id, search=search)
    of = (principal(), asked.turn.conversation_id, asked.turn.id)
    search = asked.search or search
    if search and asked.change is Change.SEARCH:  # one search for those words, which needs no agent
        search = replace(search, by_agent=False)
    return chat.ask_again(
        *of,
        question=asked.text if asked.change is Change.QUESTION else None,
        standalone=asked.text if asked.change is Change.SEARCH else None,
        search=search,
    )


def _show_stream(live: LiveAnswer, events: Iterator[Event]) -> None:
    for event in events:
        match event:
            case Started(turn):  # a stopped or failed first question has its conversation
                open_begun(turn.conversation_id)
                note_begun(turn)
                live.begin(turn)
            case Condensing():
                live.wait()
            case Searching(question):
                live.search(question)
            case Stepped(step):
                live.step(step)
            case Found(sources):
                live.find(sources)
            case Written(text):
                live.write(text)
