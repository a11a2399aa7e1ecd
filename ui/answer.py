"""A turn on the page: while it is being written, and once it is stored."""

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import cast

import streamlit as st

from domain import Source, Turn, TurnState
from errors import AppError
from services.chat import Answered, ChatService, Event, Found, Searching, Written
from ui import words
from ui.errors import show_error, show_problem
from ui.html import answer_html, escape
from ui.services import principal
from ui.sources import citation_marker, evidence_html, plain_marker

QUESTION_CHARACTERS = 2000  # more of a question than this is not repeated on the page
REDRAW_S = 0.05
USER, ASSISTANT = ":material/person:", ":material/menu_book:"
NOTICES = {
    TurnState.STOPPED: words.STOPPED,
    TurnState.RUNNING: words.RUNNING,
    TurnState.INCOMPLETE: words.INCOMPLETE,
}


def show_turn(turn: Turn) -> None:
    """Show a stored turn: question, answer, what became of it, and its sources."""
    show_question(turn.question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        if turn.standalone_question:
            st.html(_activity(turn.standalone_question, turn.sources))
        if turn.answer:
            st.html(answer_html(turn.answer, citation_marker(turn)))
        if turn.error or turn.state in NOTICES:
            notice = NOTICES.get(turn.state, "")
            show_problem(turn.error or notice, hint=notice if turn.error else "")
        st.html(evidence_html(turn))


def show_question(question: str) -> None:
    """Show the question as it was typed; of a very long one only the beginning."""
    more = len(question) - QUESTION_CHARACTERS
    cut = " " + words.QUESTION_CUT.format(more=more) if more > 0 else ""
    with st.chat_message("user", avatar=USER):
        text = escape(question[:QUESTION_CHARACTERS] + cut)
        st.html(f'<div class="fn-question">{text}</div>')


def ask(chat: ChatService, question: str, conversation_id: str | None) -> Turn | None:
    """Show the answer while it is written; None where it failed, with the reason on the page.

    The service's generator is closed when the reader presses stop, so that it keeps the
    partial answer before the page goes on.
    """
    show_question(question)
    with st.chat_message("assistant", avatar=ASSISTANT):
        events = chat.stream(principal(), question, conversation_id)
        try:
            with closing(cast("Generator[Event]", events)):
                return _show_stream(events)
        except AppError as error:
            show_error(error)
            return None


def _show_stream(events: Iterator[Event]) -> Turn | None:
    activity, body = st.empty(), st.empty()
    activity.html(f'<p class="fn-activity">{words.SEARCHING}</p>')
    searched, text, drawn = "", "", 0.0
    sources: tuple[Source, ...] = ()
    turn = None
    try:
        for event in events:
            match event:
                case Searching(question):
                    searched = question
                    activity.html(_activity(searched, None))
                case Found(sources):
                    activity.html(_activity(searched, sources))
                case Written(piece):
                    text += piece
                    if time.monotonic() - drawn > REDRAW_S:
                        body.html(answer_html(text, plain_marker(sources)))
                        drawn = time.monotonic()
                case Answered(turn):
                    pass
    except AppError:
        body.html(answer_html(text, plain_marker(sources)))
        raise
    return turn


def _activity(searched: str, sources: tuple[Source, ...] | None) -> str:
    found = "" if sources is None else f" · {_found(sources)}"
    question = f"<strong>{escape(searched)}</strong>"
    return f'<p class="fn-activity">{words.SEARCHED_FOR} {question}{found}</p>'


def _found(sources: tuple[Source, ...]) -> str:
    if not sources:
        return words.NOTHING_FOUND
    documents = len({source.document_id for source in sources})
    return words.FOUND.format(
        passages=words.count(words.PASSAGES, len(sources)),
        documents=words.count(words.DOCUMENTS, documents),
    )
