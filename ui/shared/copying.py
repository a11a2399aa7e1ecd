"""Buttons that copy a text."""

import streamlit as st

from ui.shared.safe_html import escape, run_script
from ui.text import words


def allow_copying() -> None:
    """Add the script of the copy buttons."""
    run_script("copying")


def show_copy_button(text: str) -> None:
    """Show a button that copies the text."""
    label = escape(words.COPY)
    st.html(
        f'<button type="button" class="fn-copy" title="{label}" data-copy="{escape(text)}">'
        f'<span class="fn-before">{label}</span>'
        f'<span class="fn-after" role="status">{escape(words.COPIED)}</span></button>',
        width="content",
    )
