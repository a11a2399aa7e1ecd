"""What was searched for an answer without evidence, and other ways to search."""

import streamlit as st

from bootstrap import Services
from domain import SearchChoice, SearchMode, Turn
from services.search.relevance_service import NothingFound, Offer
from services.search.search_scope import Choices
from services.texts import MAX_QUESTION_CHARS
from ui.chat.scope_panel import mode_name, scope_words
from ui.chat.turn_actions import Change, NewVersion, request_version
from ui.shared.frame import principal
from ui.shared.safe_html import escape, lang
from ui.text import words

EXPLANATIONS = "nothing-found"
LINES_PX = 68  # more would not fit above the input


def show_nothing_found(services: Services, turn: Turn) -> None:
    """Show what was searched for an answer without support, and offer other searches.

    Shows nothing for other answers. The answer itself and the result of the citation check say
    whether anything was found.
    """
    explanation = _explanation(services, turn)
    if explanation is None:
        return
    choices = services.choices.choices(principal(), turn.conversation_id)
    with st.container(key=f"nothing-{turn.id}", border=True):
        st.html(_explanation_html(explanation, choices))
        with st.container(horizontal=True):
            for offer in explanation.offers:
                _show_offer(turn, offer)
            _show_edit(turn, explanation)


def _explanation(services: Services, turn: Turn) -> NothingFound | None:
    """The explanation, cached in the session because it may require a search."""
    explanations: dict[tuple[str, str], NothingFound | None] = st.session_state.setdefault(
        EXPLANATIONS, {}
    )
    key = (turn.id, turn.state)
    if key not in explanations:
        explanations[key] = services.relevance.nothing_found(principal(), turn)
    return explanations[key]


def _explanation_html(explanation: NothingFound, choices: Choices) -> str:
    where = words.SCOPE_COMMA.join(scope_words(explanation.search.scope, choices))
    searched = ((words.NOTHING_SEARCHED, explanation.question),)
    rows = (
        *(() if explanation.search.by_agent else searched),  # the agent's steps show its searches
        (words.NOTHING_WHERE, where or words.NOTHING_EVERYWHERE),
        (words.NOTHING_HOW, _how(explanation.search)),
        *_best(explanation),
    )
    lines = "".join(
        f"<dt>{escape(name)}</dt><dd{lang(value)}>{escape(value)}</dd>" for name, value in rows
    )
    return f'<div class="fn-nothing"><p>{escape(words.NOTHING_TITLE)}</p><dl>{lines}</dl></div>'


def _how(search: SearchChoice) -> str:
    note = words.MODE_NOTES[search.mode or SearchMode.CONVEX]
    return str(words.NOTHING_MODE.format(mode=mode_name(search.mode), note=note))


def _best(explanation: NothingFound) -> tuple[tuple[str, str], ...]:
    """The row with the closest passage, only if the minimum relevance excluded it."""
    if explanation.best is None:
        return ()
    threshold = explanation.search.score_threshold or 0.0
    text = words.BEST_BELOW.format(best=f"{explanation.best:.2f}", threshold=f"{threshold:.2f}")
    return ((words.NOTHING_BEST, text),)


def _show_offer(turn: Turn, offer: Offer) -> None:
    label, icon = _label(offer)
    st.button(
        label,
        key=f"widen-{offer.widening}-{offer.search.mode}-{turn.id}",
        icon=icon,
        on_click=request_version,
        args=(NewVersion(turn, search=offer.search),),
    )


def _label(offer: Offer) -> tuple[str, str]:
    search = offer.search
    if offer.widening == "scope":
        return words.WIDEN_SCOPE, ":material/zoom_out_map:"
    if offer.widening == "threshold":
        label = words.WIDEN_THRESHOLD.format(threshold=f"{search.score_threshold:.2f}")
        return label, ":material/vertical_align_bottom:"
    return words.WIDEN_MODE.format(mode=mode_name(search.mode)), ":material/manage_search:"


def _show_edit(turn: Turn, explanation: NothingFound) -> None:
    with st.popover(words.WIDEN_EDIT, icon=":material/edit:"):
        key = f"widen-question-{turn.id}"
        st.text_area(
            words.YOUR_QUESTION if explanation.search.by_agent else words.NOTHING_SEARCHED,
            explanation.question,
            key=key,
            height=LINES_PX,
            max_chars=MAX_QUESTION_CHARS,
        )
        st.button(
            words.WIDEN_ASK,
            key=f"widen-edit-{turn.id}",
            type="primary",
            on_click=_choose_edited,
            args=(turn, explanation.search, key),
        )


def _choose_edited(turn: Turn, search: SearchChoice, key: str) -> None:
    """Request a version with the edited search; an agent words its own, so edit its question."""
    change = Change.QUESTION if search.by_agent else Change.SEARCH
    if text := st.session_state[key].strip():
        request_version(NewVersion(turn, change, text, search))
