"""The reasoning of a thinking model, folded above its answer."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from domain import Turn
from ui.shared.safe_html import escape, lang
from ui.text import words

LIVE_CHARACTERS = 4000
"""The end of the reasoning that is drawn while it grows, in characters."""


def reasoning_html(turn: Turn) -> str:
    """A line that expands to the reasoning; "" without one."""
    if not turn.reasoning.strip():
        return ""
    summary = f"<summary>{escape(words.REASONING)}</summary>"
    return f'<details class="fn-reasoning">{summary}{_text_html(turn.reasoning)}</details>'


class LiveReasoning:
    """The reasoning while it is written, in an element that stays expanded if it is redrawn."""

    def __init__(self, place: DeltaGenerator) -> None:
        """Draw nothing yet; `place` is an empty element."""
        self._place = place
        self._element: DeltaGenerator | None = None
        self._text = ""

    def add(self, text: str) -> None:
        """Add more of the reasoning, without drawing it."""
        self._text += text

    def draw(self) -> None:
        """Draw the end of the reasoning, if there is any."""
        if not self._text.strip():
            return
        if self._element is None:
            with self._place.container(), st.expander(words.REASONING):
                self._element = st.empty()
        self._element.html(_text_html(self._text[-LIVE_CHARACTERS:]))


def _text_html(text: str) -> str:
    note = f'<p class="fn-thoughts-note">{escape(words.REASONING_NOTE)}</p>'
    return f'{note}<div class="fn-thoughts"{lang(text)}>{escape(text.strip())}</div>'
