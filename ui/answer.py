"""A turn on the page: while it is being written, and once it is stored."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import streamlit as st

from domain import Source, Turn, TurnState
from errors import AppError
from services.events import Event, Found, Searching, Started, Written
from ui import words
from ui.conversations import open_conversation
from ui.errors import problem_html, show_error
from ui.html import answer_html, escape, lang
from ui.services import principal
from ui.sources import citation_marker, evidence_html, plain_marker

if TYPE_CHECKING:
    from services.chat import ChatService

QUESTION_CHARACTERS = 2000  # more of a question than this is not repeated on the page
REDRAW_S = 0.05
USER, ASSISTANT = ":material/person:", ":material/menu_book:"


def show_turn(turn: Turn) -> None:
    """Show a stored turn: question, answer, what became of it, and its sources."""
    show_question(turn.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        searched = turn.standalone_question
        activity = _activity(searched, turn.sources) if searched else ""
        answer = answer_html(turn.answer, citation_marker(turn)) if turn.answer else ""
        main = f'<div class="fn-main">{activity}{answer}{_notice(turn)}</div>'
        st.html(f'<div class="fn-turn"><div>{main}{evidence_html(turn)}</div></div>')


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


def ask(chat: "ChatService", question: str, conversation_id: str | None) -> bool:
    """Show the answer while it is written; False where it failed, with the reason on the page.

    The service's generator is closed when the reader presses stop, so that it keeps the
    partial answer before the page goes on.
    """
    show_question(question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        try:
            with closing(chat.stream(principal(), question, conversation_id)) as events:
                _show_stream(events)
        except AppError as error:
            show_error(error)
            return False
    return True


def _show_stream(events: Iterator[Event]) -> None:
    live = _LiveAnswer()
    try:
        for event in events:
            match event:
                case Started(turn):  # a stopped or failed first question has its conversation
                    open_conversation(turn.conversation_id)
                case Searching(question):
                    live.search(question)
                case Found(sources):
                    live.find(sources)
                case Written(text):
                    live.write(text)
    except Exception:  # whatever failed, the reader did not stop it
        live.draw()
        raise


class _LiveAnswer:
    """The answer while it is being written, redrawn at most every `REDRAW_S` seconds."""

    def __init__(self) -> None:
        self._activity, self._body = st.empty(), st.empty()
        self._question, self._text = "", ""
        self._sources: tuple[Source, ...] = ()
        self._drawn_at = 0.0
        self._activity.html(f'<p class="fn-activity">{words.SEARCHING}</p>')
        self.draw(stoppable=True)

    def search(self, question: str) -> None:
        self._question = question
        self._activity.html(_activity(question, None))

    def find(self, sources: tuple[Source, ...]) -> None:
        self._sources = sources
        self._activity.html(_activity(self._question, sources))

    def write(self, text: str) -> None:
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


def _activity(searched: str, sources: tuple[Source, ...] | None) -> str:
    found = "" if sources is None else f" · {_found(sources)}"
    question = f"<strong{lang(searched)}>{escape(searched)}</strong>"
    return f'<p class="fn-activity">{words.SEARCHED_FOR} {question}{found}</p>'


def _found(sources: tuple[Source, ...]) -> str:
    if not sources:
        return words.NOTHING_FOUND
    documents = len({source.document_id for source in sources})
    return words.FOUND.format(
        passages=words.count(words.PASSAGES, len(sources)),
        documents=words.count(words.DOCUMENTS, documents),
    )
