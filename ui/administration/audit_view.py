"""The audit log: who changed what, page by page."""

from collections.abc import Sequence

import streamlit as st

from bootstrap import Services
from domain import LOCAL_USER, Action, AuditEvent
from ui.administration.event_texts import Names, actor_name, detail_text, ids_in, object_name
from ui.administration.person_choice import choose_person
from ui.shared.frame import principal, show_errors
from ui.shared.row_selection import digest, table_height
from ui.text import words
from ui.text.reader_language import here, table_format

ROWS, ACTION = 50, "audit-action"
_BEFORE = "audit-before"  # the filter, and the id of the event after those that are shown


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
            words.AUDIT_WHO: [actor_name(one, names) for one in events],
            words.AUDIT_ACTION: [words.AUDIT_ACTIONS.get(one.action, one.action) for one in events],
            words.AUDIT_OBJECT: [object_name(one, names) for one in events],
            words.AUDIT_DETAIL: [detail_text(one, names) for one in events],
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
    ids = [id_ for one in events for id_ in ids_in(one)]
    accounts = services.accounts.with_ids(principal(), ids)
    people = {id_: one.name for id_, one in accounts.items() if one.name}
    keys = {one.id: one.name for one in services.api_keys.list(principal())}
    sources = services.reader_reports.source_names(principal())
    return {LOCAL_USER.user_id: words.AUDIT_OPERATOR, **people, **keys, **sources}
