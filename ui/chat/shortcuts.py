"""The keyboard shortcuts of the chat page, and their list."""

import streamlit as st

from ui.shared.safe_html import escape, run_script
from ui.text import words


def show_shortcuts() -> None:
    """Enable the shortcuts, and show the button with their list."""
    run_script("shortcuts")
    label = words.SHORTCUTS
    with st.popover(
        label, icon=":material/keyboard:", help=label, type="tertiary", key="shortcuts"
    ):
        st.html(f"<h2>{escape(label)}</h2><dl class='fn-keys'>{_rows()}</dl>")


def _rows() -> str:
    return "".join(
        f"<dt>{_keys_html(keys)}</dt><dd>{escape(what)}</dd>"
        for keys, what in words.SHORTCUT_KEYS.items()
    )


def _keys_html(keys: str) -> str:
    return " ".join(f"<kbd>{escape(key)}</kbd>" for key in keys.split())
