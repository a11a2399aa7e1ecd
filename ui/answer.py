"""A turn on the page: while it is being written, and once it is stored."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from domain import SearchChoice, Source, Turn, TurnState
from errors import AppError
from services.events import Event, Found, Searching, Started, Written
from ui import words
from ui.activity import activity_html, working_html
from ui.again import Again, Change
from ui.conversations import note_begun
from ui.costs import show_cost, show_total_cost
from ui.earlier import latest_turns
from ui.errors import problem_html, show_error
from ui.feedback import show_feedback
from ui.html import answer_html, escape, lang
from ui.nothing_found import show_nothing_found
from ui.scope import open_begun
from ui.scrolling import scroll_to
from ui.services import principal
from ui.sources import citation_marker, evidence_html, plain_marker
from ui.turn_actions import show_actions

if TYPE_CHECKING:
    from services.chat import ChatService
    from services.reader import Freshness

QUESTION_CHARACTERS = 2000  # more of a question than this is not repeated on the page
REDRAW_S = 0.05
USER, ASSISTANT = ":material/person:", ":material/menu_book:"


def show_turns(services: Services, turns: list[Turn], again: Again | None) -> DeltaGenerator:
    """Show the latest turns, or those before the one asked again; where the next one comes."""
    everything, turns = turns, latest_turns(turns)
    ids = [turn.id for turn in turns]
    before = ids.index(again.turn.id) if again and again.turn.id in ids else len(turns)
    versions = services.chat.versions(principal(), turns[0].conversation_id) if turns else {}
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
        show_actions(services.chat, turn, versions)
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
    scroll_to(".fn-question", which=-1, to="start", of=escape(of))


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
    chat = services.chat
    with st.container(key="live"):
        show_question(asked if isinstance(asked, str) else asked.question)
        _scroll_to_question("live")
        with st.chat_message("assistant", avatar=ASSISTANT):
            live = _LiveAnswer(chat)
            try:
                with closing(_events(chat, asked, conversation_id, search)) as events:
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
    return chat.ask_again(
        *of,
        question=asked.text if asked.change is Change.QUESTION else None,
        standalone=asked.text if asked.change is Change.SEARCH else None,
        search=asked.search or search,
    )


def _show_stream(live: "_LiveAnswer", events: Iterator[Event]) -> None:
    for event in events:
        match event:
            case Started(turn):  # a stopped or failed first question has its conversation
                open_begun(turn.conversation_id)
                note_begun(turn)
                live.begin(turn)
            case Searching(question):
                live.search(question)
            case Found(sources):
                live.find(sources)
            case Written(text):
                live.write(text)


class _LiveAnswer:
    """The answer while it is being written, redrawn at most every `REDRAW_S` seconds."""

    def __init__(self, chat: "ChatService") -> None:
        self._chat = chat
        self._activity, self._body = st.empty(), st.empty()
        self.problems, self._actions = st.container(), st.container(key="live-actions")
        self._question, self._text = "", ""
        self._sources: tuple[Source, ...] = ()
        self._drawn_at = 0.0
        self._activity.html(working_html())
        self.draw(stoppable=True)

    def begin(self, turn: Turn) -> None:
        """Draw what can be done once it was stopped or failed: then nothing can be drawn.

        The style sheet shows it as soon as the script no longer runs.
        """
        with self._actions:
            show_actions(self._chat, turn)

    def search(self, question: str) -> None:
        self._question = question
        self._activity.html(working_html(question))

    def find(self, sources: tuple[Source, ...]) -> None:
        self._sources = sources
        self._activity.html(working_html(self._question, sources))

    def write(self, text: str) -> None:
        if not self._text:
            done = working_html(self._question, self._sources, answering=True)
            self._activity.html(done)
        self._text += text
        if time.monotonic() - self._drawn_at > REDRAW_S:
            self._drawn_at = time.monotonic()
            self.draw(stoppable=True)

    def draw(self, *, stoppable: bool = False) -> None:
        """Draw the text so far.

        Once the reader has pressed stop nothing more can be drawn, so the note about it is
        drawn beforehand, and the style sheet shows it as soon as the script no longer runs.
        """
        note = f'<div class="fn-notice fn-stopped">{words.STOPPED}</div>' if stoppable else ""
        self._body.html(answer_html(self._text, plain_marker(self._sources)) + note)
