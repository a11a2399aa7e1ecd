"""What stands around every page: title, look and navigation."""

from pathlib import Path

import streamlit as st

from ui import words
from ui.html import escape

FRAMED = "framed"
HERE = Path(__file__).parent
STYLE, ICON = HERE / "style.css", HERE / "icon.svg"


def show_frame() -> None:
    """Set the page up, name the program and let every page know that app.py has run."""
    st.set_page_config(page_title=words.APP, page_icon=ICON, layout="wide")
    st.logo(ICON, size="large")
    st.html(STYLE)
    st.html(f'<div class="fn-heading"><h1>{words.APP}</h1><p>{words.TAGLINE}</p></div>')
    st.session_state[FRAMED] = True


def require_frame() -> None:
    """Go to app.py first where a page was opened by its own address on a fresh server."""
    if not st.session_state.get(FRAMED):
        st.switch_page("app.py", query_params=st.query_params.to_dict())


def show_model(label: str) -> None:
    """Say plainly who writes the answers."""
    model = words.MODEL_NOTES.get(label, label)
    st.html(f'<p class="fn-model">{escape(words.ANSWERS_BY.format(model=model))}</p>')
