"""What a page says and offers where an answer proves nothing."""

from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import Scope, SearchChoice, SearchMode, Turn
from services.questions import MAX_QUESTION_CHARS
from ui import words
from ui.again import Again, Change, want
from ui.html import escape, lang
from ui.scope_words import mode_name, scope_words
from ui.services import principal

if TYPE_CHECKING:
    from services.choices import Choices
    from services.relevance import NothingFound, Offer

TOLD = "nothing-found"
LINES_PX = 68  # more would not fit above the input


def show_nothing_found(services: Services, turn: Turn) -> None:
    """Show what was searched and how near it came, and ways to ask again; only without proof."""
    told = _told(services, turn)
    if told is None:
        return
    choices = services.choices.choices(principal(), turn.conversation_id)
    with st.container(key=f"nothing-{turn.id}", border=True):
        st.html(_told_html(told, choices))
        with st.container(horizontal=True):
            for offer in told.offers:
                _show_offer(turn, offer)
            _show_edit(turn, told)


def _told(services: Services, turn: Turn) -> "NothingFound | None":
    """Worked out once: it may have to search."""
    known: dict[tuple[str, str], NothingFound | None] = st.session_state.setdefault(TOLD, {})
    key = (turn.id, turn.state)
    if key not in known:
        known[key] = services.relevance.nothing_found(principal(), turn)
    return known[key]


def _told_html(told: "NothingFound", choices: "Choices") -> str:
    searched = ((words.NOTHING_SEARCHED, told.question),)
    rows = (
        *(() if told.search.by_agent else searched),  # its steps tell each
        (words.NOTHING_WHERE, _where(told.search.scope, choices)),
        (words.NOTHING_HOW, _how(told.search)),
        (words.NOTHING_BEST, _best(told)),
    )
    lines = "".join(
        f"<dt>{escape(name)}</dt><dd{lang(value)}>{escape(value)}</dd>" for name, value in rows
    )
    return f'<div class="fn-nothing"><p>{escape(words.NOTHING_RELEVANT)}</p><dl>{lines}</dl></div>'


def _where(scope: Scope, choices: "Choices") -> str:
    return words.SCOPE_COMMA.join(scope_words(scope, choices)) or words.NOTHING_EVERYWHERE


def _how(search: SearchChoice) -> str:
    note = words.MODE_NOTES[search.mode or SearchMode.CONVEX]
    return str(words.NOTHING_MODE.format(mode=mode_name(search.mode), note=note))


def _best(told: "NothingFound") -> str:
    if told.best is None:
        return str(words.BEST_UNKNOWN)
    threshold = told.search.score_threshold or 0.0
    sentence = words.BEST_BELOW if told.best < threshold else words.BEST_ABOVE
    return str(sentence.format(best=f"{told.best:.2f}", threshold=f"{threshold:.2f}"))


def _show_offer(turn: Turn, offer: "Offer") -> None:
    label, icon = _label(offer)
    st.button(
        label,
        key=f"widen-{offer.widening}-{offer.search.mode}-{turn.id}",
        icon=icon,
        on_click=want,
        args=(Again(turn, search=offer.search),),
    )


def _label(offer: "Offer") -> tuple[str, str]:
    search = offer.search
    if offer.widening == "scope":
        return words.WIDEN_SCOPE, ":material/zoom_out_map:"
    if offer.widening == "threshold":
        label = words.WIDEN_THRESHOLD.format(threshold=f"{search.score_threshold:.2f}")
        return label, ":material/vertical_align_bottom:"
    return words.WIDEN_MODE.format(mode=mode_name(search.mode)), ":material/manage_search:"


def _show_edit(turn: Turn, told: "NothingFound") -> None:
    with st.popover(words.WIDEN_EDIT, icon=":material/edit:"):
        key = f"widen-question-{turn.id}"
        st.text_area(
            words.YOUR_QUESTION if told.search.by_agent else words.NOTHING_SEARCHED,
            told.question,
            key=key,
            height=LINES_PX,
            max_chars=MAX_QUESTION_CHARS,
        )
        st.button(
            words.WIDEN_ASK,
            key=f"widen-edit-{turn.id}",
            type="primary",
            on_click=_choose_edited,
            args=(turn, told.search, key),
        )


def _choose_edited(turn: Turn, search: SearchChoice, key: str) -> None:
    """An agent words its searches itself: it is asked another question."""
    change = Change.QUESTION if search.by_agent else Change.SEARCH
    if text := st.session_state[key].strip():
        want(Again(turn, change, text, search))
