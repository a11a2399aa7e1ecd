"""A question that was refused before it was stored: its text returns to the input."""

from dataclasses import dataclass

import streamlit as st

from domain.errors import AppError
from services.export.transcripts import file_name
from services.texts import MAX_QUESTION_CHARS, title_of
from ui.chat.conversation_list import current_conversation
from ui.shared.frame import show_error
from ui.text import words

INPUT = "question"
"""The key of the input."""
_REFUSAL, _TO_INPUT, _AS_FILE = "question-refusal", "question-to-input", "question-as-file"


@dataclass(slots=True)
class TextFile:
    """A text as an uploaded file."""

    name: str
    text: str

    def getvalue(self) -> bytes:
        """The contents of the file in UTF-8."""
        return self.text.encode(errors="replace")


def refuse(question: str, error: AppError) -> None:
    """Return the question to the input in the next run of the page, with the error above it."""
    st.session_state[_REFUSAL] = (current_conversation(), question, error)
    return_to_input(question)


def return_to_input(question: str) -> None:
    """Return the question to the input in the next run of the page."""
    st.session_state[_TO_INPUT] = question


def discard_return() -> None:
    """Leave the input empty in the next run of the page."""
    st.session_state.pop(_TO_INPUT, None)


def show_refusal() -> None:
    """Show why the last question was refused; a long one can be attached as a file instead.

    Call this before the input.
    """
    if _TO_INPUT in st.session_state:
        st.session_state[INPUT] = st.session_state.pop(_TO_INPUT)
    conversation_id, question, error = st.session_state.get(_REFUSAL, (None, "", None))
    if error is None or conversation_id != current_conversation():
        return
    show_error(error)
    if len(question) > MAX_QUESTION_CHARS:
        st.button(
            words.ATTACH_QUESTION,
            key="attach-question",
            icon=":material/attach_file:",
            on_click=_attach,
            args=(question,),
        )


def forget_refusal() -> None:
    """Stop showing why a question was refused, once another one is asked."""
    st.session_state.pop(_REFUSAL, None)


def question_file() -> list[TextFile]:
    """The refused question as a file if the reader has just asked for that, else nothing."""
    text = st.session_state.pop(_AS_FILE, None)
    return [] if text is None else [TextFile(file_name(title_of(text), "txt"), text)]


def _attach(question: str) -> None:
    st.session_state[_AS_FILE] = question
    return_to_input("")
    forget_refusal()
