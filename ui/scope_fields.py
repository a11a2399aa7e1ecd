"""The fields of the panel that says what is searched: filled, shown, read."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import streamlit as st

from domain import Scope, SearchChoice, SearchMode
from ui import words
from ui.scope_words import mode_name, source_name

if TYPE_CHECKING:
    from services.choices import Choices

SHOWN = "scopes-shown-anew"
MOST_PASSAGES = 50
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2999, 12, 31)
FIELDS = ("sources", "collections", "formats", "labels", "since", "until")
ADVANCED_FIELDS = ("mode", "k", "score_threshold")
AGENT = "by_agent"


def show_anew() -> None:
    """Let the fields show what is kept, in place of what was typed into them."""
    st.session_state[SHOWN] = st.session_state.get(SHOWN, 0) + 1


def read_fields(id_: str, kept: SearchChoice, settings: SearchChoice) -> tuple[SearchChoice, bool]:
    """What the fields say, and whether a person has changed them since they were filled.

    They are filled where the page has just been opened, and where another window has changed
    what is kept: what stands in this one must not undo that. Fields don't hold all that a scope
    may (of a moment only its day), so that what they were filled with says nothing by itself.
    """
    noted: tuple[SearchChoice, SearchChoice] | None = st.session_state.get(field_key(id_, "noted"))
    is_open = field_key(id_, FIELDS[0]) in st.session_state
    if noted and is_open:
        edited = _edited(id_, settings)
        if edited != noted[1]:
            return edited, True
        if kept == noted[0]:
            return edited, False
    _fill(id_, kept)
    edited = _edited(id_, settings)
    note_shown(id_, kept, edited)
    return edited, False


def note_shown(id_: str, kept: SearchChoice, shown: SearchChoice) -> None:
    """Remember what is kept, and what the fields say of it."""
    st.session_state[field_key(id_, "noted")] = (kept, shown)


def _fill(id_: str, kept: SearchChoice) -> None:
    """Let the fields show what was kept."""
    days = ("since", "until")
    for name in FIELDS:
        value = getattr(kept.scope, name)
        st.session_state[field_key(id_, name)] = _day(value) if name in days else list(value)
    for name in (*ADVANCED_FIELDS, AGENT):
        st.session_state[field_key(id_, name)] = getattr(kept, name)


def _day(text: str) -> date | None:
    """The day of a day or a moment, in whichever form of ISO 8601."""
    if not text:
        return None
    return min(max(datetime.fromisoformat(text).date(), FIRST_DAY), LAST_DAY)


def _edited(id_: str, settings: SearchChoice) -> SearchChoice:
    def value(name: str) -> Any:
        return st.session_state.get(field_key(id_, name))

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
    threshold = threshold if _has_threshold(mode, settings) else None
    return SearchChoice(scope, mode, k, threshold, bool(value(AGENT)))


def _has_threshold(mode: SearchMode | None, settings: SearchChoice) -> bool:
    return (mode or settings.mode) is SearchMode.SIMILARITY_SCORE_THRESHOLD


def field_key(id_: str, name: str) -> str:
    """The key of a widget of the panel; another one for each conversation."""
    return f"scope-{name}-{id_ or 'new'}-{st.session_state.get(SHOWN, 0)}"


def show_agent_switch(id_: str, *, is_possible: bool) -> None:
    """Show the switch that lets an agent search; without a chat model it is off, and says why."""
    if is_possible:
        st.toggle(words.AGENT, key=field_key(id_, AGENT), help=words.AGENT_HELP)
    else:
        key = field_key(id_, f"no-{AGENT}")
        st.toggle(words.AGENT, key=key, help=words.AGENT_NEEDS_MODEL, disabled=True)


def show_fields(id_: str, edited: SearchChoice, choices: "Choices") -> None:
    """Show the fields, which say `edited`."""
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
    for column, name, label in (
        (since, "since", words.SCOPE_SINCE),
        (until, "until", words.SCOPE_UNTIL),
    ):
        # By itself it offers no day more than ten years ago.
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
    chosen: Sequence[str],
    format_func: Callable[[str], str] = str,
) -> None:
    st.multiselect(
        label,
        list(dict.fromkeys([*options, *chosen])),  # what is gone stays chosen until it is taken out
        key=field_key(id_, name),
        format_func=format_func,
        placeholder=words.SCOPE_ANY,
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
        max(MOST_PASSAGES, edited.k or 0),  # a command or a file may have asked for more
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
