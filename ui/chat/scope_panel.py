"""The panel beside the input that narrows the next search; stored per conversation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import EXTRACTIVE, Conversation, Scope, SearchChoice, SearchMode
from domain.errors import InputError
from services.search.search_scope import Choices
from ui.chat.conversation_list import current_conversation, open_conversation
from ui.shared.frame import principal, show_problem
from ui.shared.safe_html import literal
from ui.text import words


def scope_label(search: SearchChoice, choices: Choices) -> str:
    """A short label for the search: `Search in: 2 collections, pdf, since 2026-01-01`."""
    labels = scope_words(search.scope, choices)
    if search.mode:
        labels.append(mode_name(search.mode))
    if not labels:
        return words.SCOPE_EVERYWHERE
    return words.SCOPE_LABEL.format(what=literal(words.SCOPE_COMMA.join(labels)))


def scope_words(scope: Scope, choices: Choices) -> list[str]:
    """The restrictions of a scope, in words; empty if there are none."""
    names = [source_name(choices, id_) for id_ in scope.sources]
    return [
        *_one_or_count(names, words.SCOPE_N_SOURCES),
        *_one_or_count(scope.collections, words.SCOPE_N_COLLECTIONS),
        *scope.formats,
        *_one_or_count(scope.labels, words.SCOPE_N_LABELS),
        *([words.SCOPE_FROM.format(day=scope.since)] if scope.since else []),
        *([words.SCOPE_TO.format(day=scope.until)] if scope.until else []),
    ]


def source_name(choices: Choices, id_: str) -> str:
    """The displayed name of a source, or a note that it was removed."""
    if id_ == choices.own:
        return words.SCOPE_OWN
    return choices.sources.get(id_, words.SCOPE_DELETED)


def mode_name(mode: SearchMode | None) -> str:
    """The displayed name of a search mode; that of the convex mode if it is None."""
    return str(words.MODES[mode or SearchMode.CONVEX])


def _one_or_count(names: Sequence[str], forms: Any) -> list[str]:
    if len(names) <= 1:
        return list(names)
    return [words.count(forms, len(names))]


SHOWN = "scopes-shown-anew"
MOST_PASSAGES = 50
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2999, 12, 31)
LISTS, DAYS = ("sources", "collections", "formats", "labels"), ("since", "until")
ADVANCED_FIELDS = ("mode", "k", "score_threshold")
AGENT = "by_agent"


def show_anew() -> None:
    """Reset the fields to the stored choice, discarding unsaved input."""
    st.session_state[SHOWN] = st.session_state.get(SHOWN, 0) + 1


def read_fields(id_: str, saved: SearchChoice, settings: SearchChoice) -> tuple[SearchChoice, bool]:
    """The choice in the fields, and whether a person has changed it since they were filled.

    The fields are filled when the page is opened, and when another window has changed the stored
    choice, which this window must not overwrite. They can't represent every scope (a time is
    reduced to its day), so an edit is detected by comparing with the values after filling.
    """
    noted: tuple[SearchChoice, SearchChoice] | None = st.session_state.get(field_key(id_, "noted"))
    is_open = field_key(id_, LISTS[0]) in st.session_state
    if noted and is_open:
        edited = _current_choice(id_, settings)
        if edited != noted[1]:
            return edited, True
        if saved == noted[0]:
            return edited, False
    _fill(id_, saved)
    edited = _current_choice(id_, settings)
    note_shown(id_, saved, edited)
    return edited, False


def note_shown(id_: str, saved: SearchChoice, edited: SearchChoice) -> None:
    """Remember the stored choice and how the fields represent it."""
    st.session_state[field_key(id_, "noted")] = (saved, edited)


def _fill(id_: str, saved: SearchChoice) -> None:
    """Fill the fields with the stored choice."""
    for name in LISTS:
        st.session_state[field_key(id_, name)] = list(getattr(saved.scope, name))
    for name in DAYS:
        st.session_state[field_key(id_, name)] = _day(getattr(saved.scope, name))
    for name in (*ADVANCED_FIELDS, AGENT):
        st.session_state[field_key(id_, name)] = getattr(saved, name)


def _day(text: str) -> date | None:
    """The day of an ISO 8601 date or time, limited to the days that the fields accept."""
    if not text:
        return None
    return min(max(datetime.fromisoformat(text).date(), FIRST_DAY), LAST_DAY)


def _current_choice(id_: str, settings: SearchChoice) -> SearchChoice:
    def value(name: str) -> Any:
        return st.session_state.get(field_key(id_, name))

    scope: dict[str, Any] = {name: tuple(value(name) or ()) for name in LISTS}
    scope |= {name: value(name).isoformat() if value(name) else "" for name in DAYS}
    mode, k, threshold = map(value, ADVANCED_FIELDS)
    threshold = threshold if _has_threshold(mode, settings) else None
    return SearchChoice(Scope(**scope), mode, k, threshold, bool(value(AGENT)))


def _has_threshold(mode: SearchMode | None, settings: SearchChoice) -> bool:
    return (mode or settings.mode) is SearchMode.SIMILARITY_SCORE_THRESHOLD


def field_key(id_: str, name: str) -> str:
    """The key of a widget of the panel, unique to the conversation."""
    return f"scope-{name}-{id_ or 'new'}-{st.session_state.get(SHOWN, 0)}"


def show_agent_switch(id_: str, *, is_possible: bool) -> None:
    """Show the agent switch; without a chat model it is disabled, with the reason as its help."""
    if is_possible:
        st.toggle(words.AGENT, key=field_key(id_, AGENT), help=words.AGENT_HELP)
    else:
        key = field_key(id_, f"no-{AGENT}")
        st.toggle(words.AGENT, key=key, help=words.AGENT_NEEDS_MODEL, disabled=True)


def show_fields(id_: str, edited: SearchChoice, choices: Choices) -> None:
    """Show the fields, which hold the choice `edited`."""
    scope = edited.scope
    _show_list(
        id_, "sources", words.SCOPE_SOURCES, choices.sources, scope.sources,
        lambda source: source_name(choices, source),
        words.SCOPE_CATALOGS if choices.catalogs else None,
    )  # fmt: skip
    _show_list(id_, "collections", words.SCOPE_COLLECTIONS, choices.collections, scope.collections)
    _show_list(id_, "formats", words.SCOPE_FORMATS, choices.formats, scope.formats)
    if choices.labels or scope.labels:
        _show_list(id_, "labels", words.SCOPE_LABELS, choices.labels, scope.labels)
    since, until = st.columns(2)
    for column, name, label in (
        (since, "since", words.SCOPE_SINCE),
        (until, "until", words.SCOPE_UNTIL),
    ):
        # By default, Streamlit offers only the last ten years.
        column.date_input(
            label, None, FIRST_DAY, LAST_DAY, key=field_key(id_, name), format="YYYY-MM-DD"
        )
    with st.expander(words.ADVANCED):
        _show_advanced(id_, edited, choices.settings)


def _show_list(
    id_: str,
    name: str,
    label: str,
    options: Any,
    selected: Sequence[str],
    format_func: Callable[[str], str] = str,
    help_text: str | None = None,
) -> None:
    st.multiselect(
        label,
        # Removed options stay selected until the reader deselects them.
        list(dict.fromkeys([*options, *selected])),
        key=field_key(id_, name),
        format_func=format_func,
        placeholder=words.SCOPE_ANY,
        help=help_text,
    )


def _show_advanced(id_: str, edited: SearchChoice, settings: SearchChoice) -> None:
    as_set = words.AS_SET.format(value=mode_name(settings.mode))
    st.selectbox(
        words.ADVANCED_MODE,
        [None, *SearchMode],
        key=field_key(id_, "mode"),
        format_func=lambda mode: mode_name(mode) if mode else as_set,
        placeholder=as_set,  # which Streamlit shows for None
    )
    st.number_input(
        words.ADVANCED_PASSAGES,
        1,
        max(MOST_PASSAGES, edited.k or 0),  # a command or an import may have set more
        None,
        key=field_key(id_, "k"),
        placeholder=words.AS_SET.format(value=settings.k),
    )
    if _has_threshold(edited.mode, settings):
        st.number_input(
            words.ADVANCED_THRESHOLD,
            0.0,
            1.0,
            None,
            0.05,
            key=field_key(id_, "score_threshold"),
            placeholder=words.AS_SET.format(value=settings.score_threshold),
        )


NEW = "scope-of-the-new-conversation"


def show_scope(services: Services, conversation: Conversation | None) -> SearchChoice:
    """Show the editable search choice, and return the one for the next question.

    The choice is stored with the conversation; that of a new conversation is kept in the session
    until it begins. An impossible choice is reported at once and not stored.
    """
    id_ = conversation.id if conversation else ""
    choices = services.choices.choices(principal(), id_ or None)
    saved = search_for_new() if conversation is None else conversation.search
    edited, is_edited = read_fields(id_, saved, choices.settings)
    problem = _problem(services, (edited if is_edited else saved).scope)
    if is_edited and not problem:
        _keep(services, id_, edited)
        saved = edited
        note_shown(id_, saved, edited)
    if _show_panel(id_, saved, edited, choices, problem):
        _keep(services, id_, _widest(saved))
        show_anew()
        st.rerun()
    show_agent_switch(id_, is_possible=_has_agent(services))
    return _possible(services, saved)


def _show_panel(
    id_: str, saved: SearchChoice, edited: SearchChoice, choices: Choices, problem: str
) -> bool:
    """Show the panel with its fields; returns whether the reset button was clicked."""
    label = scope_label(saved, choices)
    with st.popover(label, icon=":material/tune:", type="tertiary", help=words.SCOPE_HELP):
        show_fields(id_, edited, choices)
        if problem:
            show_problem(problem, hint=words.SCOPE_NOT_SEARCHED, severe=False)
        return st.button(
            words.SCOPE_RESET,
            key=field_key(id_, "reset"),
            icon=":material/restart_alt:",
            disabled=saved == edited == _widest(saved),
        )


def _widest(saved: SearchChoice) -> SearchChoice:
    """The default search over the whole library, without changing the agent switch."""
    return SearchChoice(by_agent=saved.by_agent)


def _has_agent(services: Services) -> bool:
    return services.chat.model_label != EXTRACTIVE


def _possible(services: Services, saved: SearchChoice) -> SearchChoice:
    """The stored choice, without the agent if a chat model is no longer configured."""
    return replace(saved, by_agent=saved.by_agent and _has_agent(services))


def _keep(services: Services, id_: str, search: SearchChoice) -> None:
    if id_:
        services.conversations.remember(principal(), id_, search)
    else:
        set_search_for_new(search)


def set_search_for_new(search: SearchChoice) -> None:
    """Set the choice for the next new conversation."""
    st.session_state[NEW] = search


def search_for_new() -> SearchChoice:
    """The choice for a new conversation that has not begun yet."""
    saved: SearchChoice = st.session_state.get(NEW, SearchChoice())
    return saved


def open_begun(conversation_id: str) -> None:
    """Open the conversation; if it has just begun, discard the copy of its choice in the session.

    The conversation itself stores the choice from then on.
    """
    if not current_conversation():
        st.session_state.pop(NEW, None)
    open_conversation(conversation_id)


def saved_search(services: Services, conversation_id: str) -> SearchChoice:
    """The stored choice for the next question of the conversation."""
    return _possible(services, services.conversations.get(principal(), conversation_id).search)


def _problem(services: Services, scope: Scope) -> str:
    if scope == Scope():
        return ""
    try:
        services.choices.check(principal(), scope)
    except InputError as error:
        return str(error)
    return ""
