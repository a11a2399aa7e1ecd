"""What the next question searches: a small panel beside the input, remembered per conversation."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from domain import Conversation, Scope, SearchChoice, SearchMode
from errors import InputError
from ui import words
from ui.conversations import plain_label
from ui.errors import show_problem
from ui.services import principal

if TYPE_CHECKING:
    from services.choices import Choices

NEW, SHOWN = "scope-of-the-new-conversation", "scopes-shown-anew"
MOST_PASSAGES = 50
FIELDS = ("sources", "collections", "formats", "labels", "since", "until")
ADVANCED_FIELDS = ("mode", "k", "score_threshold")


def show_scope(services: Services, conversation: Conversation | None) -> SearchChoice:
    """Show what is searched, to be changed; how the next question is to be searched.

    What is chosen is kept with the conversation, and for a new one until it begins. What can't
    be searched is said at once, and not kept.
    """
    id_ = conversation.id if conversation else ""
    choices = services.choices.choices(principal(), id_ or None)
    kept = _kept(conversation)
    _fill(id_, kept)
    edited = _edited(id_, choices.settings)
    problem = _problem(services, edited.scope)
    if edited != kept and not problem:
        _keep(services, id_, edited)
        kept = edited
    label = scope_label(kept, choices)
    with st.popover(label, icon=":material/tune:", type="tertiary", help=words.SCOPE_HELP):
        _show_fields(id_, edited, choices)
        if problem:
            show_problem(problem, hint=words.SCOPE_NOT_SEARCHED, severe=False)
        is_reset = st.button(
            words.SCOPE_RESET,
            key=_key(id_, "reset"),
            icon=":material/restart_alt:",
            disabled=edited == SearchChoice(),
        )
    if is_reset:
        _keep(services, id_, SearchChoice())
        show_anew()
        st.rerun()
    return kept


def scope_label(search: SearchChoice, choices: "Choices") -> str:
    """What is searched, in a few words: `Search in: 2 collections, pdf, since 2026-01-01`."""
    told = scope_words(search.scope, choices)
    if search.mode:
        told.append(mode_name(search.mode))
    if not told:
        return words.SCOPE_EVERYWHERE
    return words.SCOPE_LABEL.format(what=plain_label(words.SCOPE_COMMA.join(told)))


def scope_words(scope: Scope, choices: "Choices") -> list[str]:
    """What a scope narrows a search to, part by part; nothing where it narrows nothing."""
    names = [source_name(choices, id_) for id_ in scope.sources]
    return [
        *_one_or_count(names, words.SCOPE_N_SOURCES),
        *_one_or_count(scope.collections, words.SCOPE_N_COLLECTIONS),
        *scope.formats,
        *_one_or_count(scope.labels, words.SCOPE_N_LABELS),
        *([words.SCOPE_FROM.format(day=scope.since)] if scope.since else []),
        *([words.SCOPE_TO.format(day=scope.until)] if scope.until else []),
    ]


def source_name(choices: "Choices", id_: str) -> str:
    """How a source is called here; one that is gone says so."""
    if id_ == choices.own:
        return words.SCOPE_OWN
    return choices.sources.get(id_, words.SCOPE_GONE)


def mode_name(mode: SearchMode | None) -> str:
    """How a search mode is called here."""
    return str(words.MODES[mode or SearchMode.CONVEX])


def _one_or_count(names: Sequence[str], forms: Any) -> list[str]:
    if len(names) <= 1:
        return list(names)
    return [words.count(forms, len(names))]


def _kept(conversation: Conversation | None) -> SearchChoice:
    if conversation is None:
        return kept_for_new()
    st.session_state.pop(NEW, None)  # the conversation that it was chosen for has begun
    return conversation.search


def _keep(services: Services, id_: str, search: SearchChoice) -> None:
    if id_:
        services.conversations.remember(principal(), id_, search)
    else:
        st.session_state[NEW] = search


def _key(id_: str, name: str) -> str:
    return f"scope-{name}-{id_ or 'new'}-{st.session_state.get(SHOWN, 0)}"


def kept_for_new() -> SearchChoice:
    """What was chosen for the conversation that has not begun yet."""
    kept: SearchChoice = st.session_state.get(NEW, SearchChoice())
    return kept


def kept_search(services: Services, conversation_id: str) -> SearchChoice:
    """How the next question of the conversation is searched, as it was kept last."""
    return services.chat.conversation(principal(), conversation_id).search


def show_anew() -> None:
    """Let the fields show what is kept, in place of what was typed into them."""
    st.session_state[SHOWN] = st.session_state.get(SHOWN, 0) + 1


def _fill(id_: str, kept: SearchChoice) -> None:
    """Fill the fields from what was kept, where the page has just been opened."""
    if _key(id_, FIELDS[0]) in st.session_state:
        return
    days = ("since", "until")
    for name in FIELDS:
        value = getattr(kept.scope, name)
        st.session_state[_key(id_, name)] = _day(value) if name in days else list(value)
    for name in ADVANCED_FIELDS:
        st.session_state[_key(id_, name)] = getattr(kept, name)


def _day(text: str) -> date | None:
    return date.fromisoformat(text[:10]) if text else None


def _edited(id_: str, settings: SearchChoice) -> SearchChoice:
    def value(name: str) -> Any:
        return st.session_state.get(_key(id_, name))

    def listed(name: str) -> tuple[str, ...]:
        return tuple(value(name) or ())

    def day(name: str) -> str:
        return value(name).isoformat() if value(name) else ""

    scope = Scope(
        sources=listed("sources"),
        collections=listed("collections"),
        formats=listed("formats"),
        labels=listed("labels"),
        since=day("since"),
        until=day("until"),
    )
    mode, k, threshold = map(value, ADVANCED_FIELDS)
    return SearchChoice(scope, mode, k, threshold if _has_threshold(mode, settings) else None)


def _has_threshold(mode: SearchMode | None, settings: SearchChoice) -> bool:
    return (mode or settings.mode) is SearchMode.SIMILARITY_SCORE_THRESHOLD


def _problem(services: Services, scope: Scope) -> str:
    if scope == Scope():
        return ""
    try:
        services.choices.check(principal(), scope)
    except InputError as error:
        return str(error)
    return ""


def _show_fields(id_: str, edited: SearchChoice, choices: "Choices") -> None:
    scope = edited.scope
    _show_list(
        id_, "sources", words.SCOPE_SOURCES, choices.sources, scope.sources,
        lambda source: source_name(choices, source),
    )  # fmt: skip
    _show_list(id_, "collections", words.SCOPE_COLLECTIONS, choices.collections, scope.collections)
    _show_list(id_, "formats", words.SCOPE_FORMATS, choices.formats, scope.formats)
    if choices.labels or scope.labels:
        _show_list(id_, "labels", words.SCOPE_LABELS, choices.labels, scope.labels)
    since, until = st.columns(2)
    since.date_input(words.SCOPE_SINCE, None, key=_key(id_, "since"), format="YYYY-MM-DD")
    until.date_input(words.SCOPE_UNTIL, None, key=_key(id_, "until"), format="YYYY-MM-DD")
    with st.expander(words.ADVANCED):
        _show_advanced(id_, edited, choices.settings)


def _show_list(
    id_: str,
    name: str,
    label: str,
    options: Any,
    chosen: Sequence[str],
    format_func: Callable[[str], str] = str,
) -> None:
    st.multiselect(
        label,
        list(dict.fromkeys([*options, *chosen])),  # what is gone stays chosen until it is taken out
        key=_key(id_, name),
        format_func=format_func,
        placeholder=words.SCOPE_ANY,
    )


def _show_advanced(id_: str, edited: SearchChoice, settings: SearchChoice) -> None:
    def named(mode: SearchMode | None) -> str:
        if mode is not None:
            return mode_name(mode)
        return str(words.AS_SET.format(value=mode_name(settings.mode)))

    st.selectbox(words.ADVANCED_MODE, [None, *SearchMode], key=_key(id_, "mode"), format_func=named)
    st.number_input(
        words.ADVANCED_PASSAGES,
        1,
        MOST_PASSAGES,
        None,
        key=_key(id_, "k"),
        placeholder=words.AS_SET.format(value=settings.k),
    )
    if _has_threshold(edited.mode, settings):
        st.number_input(
            words.ADVANCED_THRESHOLD,
            0.0,
            1.0,
            None,
            0.05,
            key=_key(id_, "score_threshold"),
            placeholder=words.AS_SET.format(value=settings.score_threshold),
        )
