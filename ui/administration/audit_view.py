"""The audit log: who changed what, page by page, with names instead of ids."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import LOCAL_USER, Action, AuditEvent
from ui.administration.person_choice import choose_person
from ui.shared.frame import principal, show_errors
from ui.shared.row_selection import digest, table_height
from ui.text import words
from ui.text.reader_language import here, table_format

ROWS, ACTION = 50, "audit-action"
_BEFORE = "audit-before"  # the filter, and the id of the event after those that are shown
Names = Mapping[str, str]
"""The names of people, sources, and API keys by id."""
_IN_OBJECT = ("source_id", "name")
_CHOICES = {
    "kind": "SOURCE_KINDS",
    "role": "ROLE_NAMES",
    "state": "IMPORT_STATES",
    "reason": "AUDIT_REASONS",
    "is_scheduled": "AUDIT_SCHEDULED",
}


def show_events(services: Services) -> None:
    """Show the events of a person and an action, or of all, the newest first."""
    st.caption(words.AUDIT_NOTE)
    action = st.selectbox(
        words.AUDIT_ACTION,
        ["", *Action],
        format_func=lambda one: words.AUDIT_ACTIONS.get(one, one) or words.AUDIT_ANY_ACTION,
        key=ACTION,
    )
    person = choose_person(services, "audit", words.AUDIT_WHO, placeholder=words.AUDIT_ANY_PERSON)
    with show_errors():
        _show_page(services, action or "", person.id if person else "")


def _show_page(services: Services, action: str, actor: str) -> None:
    chosen, before = digest((action, actor)), None
    if st.session_state.get(_BEFORE, ("", 0))[0] == chosen:
        before = st.session_state[_BEFORE][1]
    events = services.audit.list(
        principal(), action=action, actor=actor, before=before, limit=ROWS + 1
    )
    if events:
        _show_table(services, events[:ROWS])
    else:
        st.caption(words.NO_EVENTS)
    with st.container(horizontal=True):
        if before is not None:
            args = (chosen, None)
            st.button(words.AUDIT_NEWEST, icon=":material/first_page:", on_click=_go, args=args)
        if len(events) > ROWS:
            next_ = (chosen, events[ROWS - 1].id)
            st.button(words.AUDIT_OLDER, icon=":material/chevron_right:", on_click=_go, args=next_)


def _go(chosen: str, before: int | None) -> None:
    st.session_state[_BEFORE] = (chosen, before)


def _show_table(services: Services, events: Sequence[AuditEvent]) -> None:
    names = _names(services, events)
    st.dataframe(
        {
            words.AUDIT_TIME: [here(one.at) for one in events],
            words.AUDIT_WHO: [_actor_name(one, names) for one in events],
            words.AUDIT_ACTION: [words.AUDIT_ACTIONS.get(one.action, one.action) for one in events],
            words.AUDIT_OBJECT: [_object_name(one, names) for one in events],
            words.AUDIT_DETAIL: [_detail_text(one, names) for one in events],
        },
        column_config={
            words.AUDIT_TIME: st.column_config.DatetimeColumn(format=table_format()),
            words.AUDIT_DETAIL: st.column_config.TextColumn(width="large"),
        },
        hide_index=True,
        height=table_height(events),
        alt=words.TABLE_OF_EVENTS,
    )


def _names(services: Services, events: Sequence[AuditEvent]) -> Names:
    ids = [id_ for one in events for id_ in _ids_in(one)]
    accounts = services.accounts.with_ids(principal(), ids)
    people = {id_: one.name for id_, one in accounts.items() if one.name}
    keys = {one.id: one.name for one in services.api_keys.list(principal())}
    sources = services.reader_reports.source_names(principal())
    return {LOCAL_USER.user_id: words.AUDIT_OPERATOR, **people, **keys, **sources}


def _ids_in(event: AuditEvent) -> Iterator[str]:
    """The ids of which some may be those of accounts."""
    yield event.actor
    yield event.object_id
    yield str(event.detail.get("user_id", ""))


def _actor_name(event: AuditEvent, names: Names) -> str:
    """The name of the actor at the time of the event, or now, or the id."""
    return event.actor_name or names.get(event.actor, event.actor)


def _object_name(event: AuditEvent, names: Names) -> str:
    """The name of the object at the time of the event, or now, or the id.

    An import has the name of its source, and a restriction that of what it restricts.
    """
    id_ = str(event.detail.get("source_id", event.object_id))
    if event.object_kind == "restriction":
        id_ = id_.partition(":")[2]
    return str(event.detail.get("name") or names.get(id_, id_))


def _detail_text(event: AuditEvent, names: Names) -> str:
    """The details that are not in the name of the object, with their labels."""
    shown = dict(event.detail)
    values = shown.pop("values", {})
    if settings := shown.get("settings"):
        shown["settings"] = [_setting(name, values) for name in settings]
    return " · ".join(
        f"{_label(name)}: {_value(name, value, names)}"
        for name, value in shown.items()
        if name not in _IN_OBJECT
    )


def _label(name: str) -> str:
    return str(words.AUDIT_DETAILS.get(name) or words.OUTCOMES.get(name, name))


def _setting(name: str, values: Mapping[str, Any]) -> str:
    """The setting with its value, unless that is not recorded."""
    label = str(words.SETTING_LABELS.get(name, name))
    if name not in values:
        return label
    value = words.AUDIT_DEFAULT if values[name] is None else values[name]
    return f"{label}: {value}"


def _value(name: str, value: Any, names: Names) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if name == "readers" and value is None:
        return str(words.EVERYONE)
    known = getattr(words, _CHOICES[name]) if name in _CHOICES else names
    return str(known.get(value, value))
