"""The actions on an answer: copy it, and ask again with changes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import Scope, SearchChoice, SearchMode, Turn
from errors import AppError
from services.export.answer_text import plain_answer
from services.texts import MAX_QUESTION_CHARS
from ui.chat.scope_panel import mode_name, scope_words
from ui.shared.frame import principal, show_error
from ui.shared.safe_html import escape, lang, run_script, scroll_to
from ui.text import words

if TYPE_CHECKING:
    from services.chat.conversation_service import TurnService
    from services.search.relevance_service import NothingFound, Offer
    from services.search.search_choices import Choices


PENDING_VERSION = "pending_version"


class Change(StrEnum):
    """The part of a turn that a new version changes."""

    NOTHING = "nothing"
    QUESTION = "question"
    SEARCH = "search"


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A requested version of a turn; `text` is the changed text, `search` the search if changed."""

    turn: Turn
    change: Change = Change.NOTHING
    text: str = ""
    search: SearchChoice | None = None

    @property
    def question(self) -> str:
        """The question of the new version."""
        return self.text if self.change is Change.QUESTION else self.turn.question


def request_version(version: NewVersion) -> None:
    """Request a version, to be answered in the next run of the page."""
    st.session_state[PENDING_VERSION] = version


def requested_version() -> NewVersion | None:
    """Remove and return the requested version, if any."""
    version: NewVersion | None = st.session_state.pop(PENDING_VERSION, None)
    return version


def allow_copying() -> None:
    """Add the script of the copy buttons."""
    run_script("copying")


def copy_button(turn: Turn) -> None:
    """Show a button that copies the answer and the list of cited passages."""
    st.html(
        f'<button type="button" class="fn-copy" data-copy="{escape(copied_text(turn))}">'
        f'<span class="fn-before">{escape(words.COPY)}</span>'
        f'<span class="fn-after" role="status">{escape(words.COPIED)}</span></button>',
        width="content",
    )


def copied_text(turn: Turn) -> str:
    """The answer, and a line for each cited passage."""
    cited_numbers = {citation.n for citation in turn.citations}
    lines = [
        f"[{source.n}] {source.name} ({source.location})"
        for source in turn.sources
        if source.n in cited_numbers
    ]
    answer = plain_answer(turn.answer)
    return "\n".join([answer, "", *lines]) if lines else answer


DISPLAYED_TURNS = "earlier-turns"
PAGE_TURNS = 30
"""The initial number of turns on the page; each has many elements."""


def latest_turns(turns: list[Turn]) -> list[Turn]:
    """The last turns; shows a button for earlier ones if there are more."""
    if not turns:
        return []
    conversation_id = turns[0].conversation_id
    earlier = len(turns) - _turn_limit(conversation_id)
    if earlier <= 0:
        return turns
    st.button(
        words.count(words.EARLIER_TURNS, min(PAGE_TURNS, earlier)),
        key="earlier-turns-button",
        icon=":material/history:",
        type="tertiary",
        on_click=_show_more,
        args=(conversation_id,),
    )
    return turns[earlier:]


def _turn_limit(conversation_id: str) -> int:
    conversation, limit = st.session_state.get(DISPLAYED_TURNS, ("", PAGE_TURNS))
    return limit if conversation == conversation_id else PAGE_TURNS


def _show_more(conversation_id: str) -> None:
    st.session_state[DISPLAYED_TURNS] = (conversation_id, _turn_limit(conversation_id) + PAGE_TURNS)


EXPLANATIONS = "nothing-found"
LINES_PX = 68  # more would not fit above the input


def show_nothing_found(services: Services, turn: Turn) -> None:
    """Explain an answer without evidence, and offer wider searches; nothing for other answers."""
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


def _explanation(services: Services, turn: Turn) -> "NothingFound | None":
    """The explanation, cached in the session because it may require a search."""
    explanations: dict[tuple[str, str], NothingFound | None] = st.session_state.setdefault(
        EXPLANATIONS, {}
    )
    key = (turn.id, turn.state)
    if key not in explanations:
        explanations[key] = services.relevance.nothing_found(principal(), turn)
    return explanations[key]


def _explanation_html(explanation: "NothingFound", choices: "Choices") -> str:
    searched = ((words.NOTHING_SEARCHED, explanation.question),)
    rows = (
        *(() if explanation.search.by_agent else searched),  # the agent's steps show its searches
        (words.NOTHING_WHERE, _where(explanation.search.scope, choices)),
        (words.NOTHING_HOW, _how(explanation.search)),
        (words.NOTHING_BEST, _best(explanation)),
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


def _best(explanation: "NothingFound") -> str:
    if explanation.best is None:
        return str(words.BEST_UNKNOWN)
    threshold = explanation.search.score_threshold or 0.0
    sentence = words.BEST_BELOW if explanation.best < threshold else words.BEST_ABOVE
    return str(sentence.format(best=f"{explanation.best:.2f}", threshold=f"{threshold:.2f}"))


def _show_offer(turn: Turn, offer: "Offer") -> None:
    label, icon = _label(offer)
    st.button(
        label,
        key=f"widen-{offer.widening}-{offer.search.mode}-{turn.id}",
        icon=icon,
        on_click=request_version,
        args=(NewVersion(turn, search=offer.search),),
    )


def _label(offer: "Offer") -> tuple[str, str]:
    search = offer.search
    if offer.widening == "scope":
        return words.WIDEN_SCOPE, ":material/zoom_out_map:"
    if offer.widening == "threshold":
        label = words.WIDEN_THRESHOLD.format(threshold=f"{search.score_threshold:.2f}")
        return label, ":material/vertical_align_bottom:"
    return words.WIDEN_MODE.format(mode=mode_name(search.mode)), ":material/manage_search:"


def _show_edit(turn: Turn, explanation: "NothingFound") -> None:
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


EDITED = "edited_turn"
EDIT_LINES_PX = 100


def show_actions(turns: "TurnService", turn: Turn, versions: tuple[str, ...] = ()) -> None:
    """Show the buttons below an answer; `versions` are the ids of its versions, oldest first."""
    edited = st.session_state.get(EDITED, ())
    if edited[:1] == (turn.id,):
        _show_editor(turn, edited[1])
    with st.container(
        key=f"actions-{turn.id}", horizontal=True, vertical_alignment="center", gap="small"
    ):
        if len(versions) > 1:
            _show_versions(turns, turn, versions)
        if turn.answer:
            copy_button(turn)
        _button("again", turn, words.ASK_AGAIN, ":material/refresh:", Change.NOTHING)
        _button("edit", turn, words.EDIT_QUESTION, ":material/edit:", Change.QUESTION)
        if turn.standalone_question:
            _button("search", turn, words.SEARCH_AGAIN, ":material/search:", Change.SEARCH)


def _button(name: str, turn: Turn, label: str, icon: str, change: Change) -> None:
    press = _request_version if change is Change.NOTHING else _edit
    st.button(
        label,
        key=f"{name}-{turn.id}",
        icon=icon,
        type="tertiary",
        on_click=press,
        args=(turn, change),
    )


def _show_versions(turns: "TurnService", turn: Turn, versions: tuple[str, ...]) -> None:
    """The switch between the versions of a turn: ‹ 2/3 ›."""
    index = versions.index(turn.id)
    _step(turns, turn, versions, index - 1, words.PREVIOUS_VERSION, ":material/chevron_left:")
    title = words.VERSION.format(n=index + 1, total=len(versions))
    html = f'<span class="fn-version" title="{title}">{index + 1}/{len(versions)}</span>'
    st.html(html, width="content")
    _step(turns, turn, versions, index + 1, words.NEXT_VERSION, ":material/chevron_right:")


def _step(
    turns: "TurnService", turn: Turn, versions: tuple[str, ...], to: int, label: str, icon: str
) -> None:
    exists = 0 <= to < len(versions)
    st.button(
        label,
        key=f"{'previous' if 'left' in icon else 'next'}-{turn.id}",
        icon=icon,
        type="tertiary",
        disabled=not exists,
        on_click=_show_version,
        args=(turns, turn.conversation_id, versions[to] if exists else ""),
    )


def _show_version(turns: "TurnService", conversation_id: str, turn_id: str) -> None:
    try:
        turns.show(principal(), conversation_id, turn_id)
    except AppError as error:
        show_error(error)


def _show_editor(turn: Turn, change: Change) -> None:
    """Show the text to change, with buttons to ask and to cancel."""
    key = f"editor-{change}-{turn.id}"
    is_question = change is Change.QUESTION
    with st.form(f"form-{key}"):
        st.text_area(
            words.YOUR_QUESTION if is_question else words.SEARCHED_QUESTION,
            value=turn.question if is_question else turn.standalone_question,
            key=key,
            height=EDIT_LINES_PX,
            max_chars=MAX_QUESTION_CHARS,  # longer text would be rejected and lost
        )
        st.caption(words.EDIT_NOTE if is_question else words.SEARCH_NOTE)
        with st.container(horizontal=True):
            label = words.ASK if is_question else words.SEARCH
            st.form_submit_button(
                label, type="primary", on_click=_request_version, args=(turn, change, key)
            )
            st.form_submit_button(words.CANCEL, on_click=_stop_editing)
    scroll_to('[data-testid="stForm"]', of=key)


def _edit(turn: Turn, change: Change) -> None:
    st.session_state[EDITED] = (turn.id, change)


def _stop_editing() -> None:
    st.session_state.pop(EDITED, None)


def _request_version(turn: Turn, change: Change, key: str = "") -> None:
    text = str(st.session_state[key]).strip() if key else ""
    if key and not text:  # the form stays open
        return
    _stop_editing()
    request_version(NewVersion(turn, change, text))
