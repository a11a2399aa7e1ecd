"""Copying an answer with the sources it cites."""

import streamlit as st

from domain import Turn
from services.answer_text import plain_answer
from ui import words
from ui.html import escape
from ui.scripts import run_script


def allow_copying() -> None:
    """Let the copy buttons of this page work."""
    run_script("copying")


def copy_button(turn: Turn) -> None:
    """Show a button that copies the answer, and below it the sources that it cites."""
    st.html(
        f'<button type="button" class="fn-copy" data-copy="{escape(copied_text(turn))}">'
        f'<span class="fn-before">{escape(words.COPY)}</span>'
        f'<span class="fn-after" role="status">{escape(words.COPIED)}</span></button>',
        width="content",
    )


def copied_text(turn: Turn) -> str:
    """The answer, and a line for each source that it cites."""
    cited = {citation.n for citation in turn.citations}
    lines = [
        f"[{source.n}] {source.name} ({source.location})"
        for source in turn.sources
        if source.n in cited
    ]
    answer = plain_answer(turn.answer)
    return "\n".join([answer, "", *lines]) if lines else answer
