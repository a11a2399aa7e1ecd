"""What stands around every page: title, look and navigation."""

from functools import cache
from pathlib import Path

import streamlit as st

from domain import Answerer
from ui import words
from ui.html import escape
from ui.language import settle_language
from ui.scripts import run_script
from ui.service_text import said

FRAMED, OPENED = "framed", "opened"
HERE = Path(__file__).parent
STYLE, ICON = HERE / "style", HERE / "icon.svg"


def show_frame() -> None:
    """Set the page up, name the program and let every page know that app.py has run."""
    spoken = settle_language()
    st.set_page_config(page_title=words.APP, page_icon=ICON, layout="wide")
    st.logo(ICON, size="large")
    st.html(f"<style>{_style()}</style>")
    run_script("frame", language=spoken)
    st.session_state[FRAMED] = True


@cache
def _style() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(STYLE.glob("*.css")))


def require_frame(page: str) -> None:
    """Go to app.py first, and back, where a page was opened by its own address.

    On a fresh server such a page runs without app.py, so without its title and style.
    """
    if not st.session_state.get(FRAMED):
        st.session_state[OPENED] = page
        st.switch_page("app.py", query_params=st.query_params.to_dict())


def return_to_opened_page() -> None:
    """Go back to the page that `require_frame` came from; once navigation is set up."""
    if page := st.session_state.pop(OPENED, ""):
        st.switch_page(page, query_params=st.query_params.to_dict())


def show_name(*, is_start: bool) -> None:
    """Name the program: in sight where a conversation starts, else for screen readers alone."""
    if is_start:
        show_title(words.APP, words.TAGLINE)
    else:
        st.html(f'<h1 class="fn-unseen">{escape(words.APP)}</h1>')


def show_title(title: str, note: str) -> None:
    """Show the page's own heading, and what the page is for or holds."""
    told = f"<h1>{escape(title)}</h1><p>{escape(note)}</p>"
    st.html(f'<div class="fn-heading">{told}</div>')


def show_model(answerer: Answerer) -> None:
    """Say plainly who writes the answers, and why where the settings leave that open."""
    model = words.MODEL_NOTES.get(answerer.label, answerer.label)
    lines = [words.ANSWERS_BY.format(model=model), *filter(None, [said(answerer.notice)])]
    st.html("".join(f'<p class="fn-model">{escape(line)}</p>' for line in lines))
