"""The known groups, their members, and what names them as readers."""

from collections.abc import Iterator, Sequence
from typing import Any

import streamlit as st

from bootstrap import Services
from services.administration.group_service import Group
from ui.administration.reader_texts import first_names, person_name
from ui.shared.frame import offset_of, principal, show_pages
from ui.shared.row_selection import select_row
from ui.shared.safe_html import escape, strong_html
from ui.text import words

ROWS, PAGE = 50, "groups-page"
_SHOWN = 20


def show_groups(services: Services) -> None:
    """Show the groups, page by page, and the details of the selected one."""
    groups = services.groups.list(principal())
    if not groups:
        st.caption(words.NO_GROUPS)
        return
    st.caption(words.GROUPS_NOTE)
    offset = offset_of(PAGE, ROWS)
    chosen = _select_group(groups[offset : offset + ROWS], f"groups-{offset}")
    show_pages(len(groups), ROWS, PAGE)
    if chosen:
        _show_group(services, chosen)
    else:
        st.caption(words.CHOOSE_GROUP_ROW)


def _select_group(groups: Sequence[Group], table: str) -> Group | None:
    columns: dict[str, list[Any]] = {
        words.GROUP_NAME: [one.name for one in groups],
        words.GROUP_MEMBERS: [one.members for one in groups],
        words.GROUP_SOURCES: [", ".join(one.sources) for one in groups],
        words.GROUP_COLLECTIONS: [", ".join(one.collections) for one in groups],
    }
    config = {
        words.GROUP_NAME: st.column_config.TextColumn(width="medium"),
        words.GROUP_MEMBERS: st.column_config.NumberColumn(width="small", format="localized"),
        words.GROUP_SOURCES: st.column_config.TextColumn(width="medium"),
        words.GROUP_COLLECTIONS: st.column_config.TextColumn(width="medium"),
    }
    rows = {one.name: one for one in groups}
    return select_row(table, rows, columns, config, alt=words.TABLE_OF_GROUPS)


def _show_group(services: Services, group: Group) -> None:
    with st.container(border=True, key="administered-group"):
        items = "".join(f"<li>{escape(line)}</li>" for line in _lines(services, group))
        st.html(f'<h3>{strong_html(group.name)}</h3><ul class="fn-rules">{items}</ul>')


def _lines(services: Services, group: Group) -> Iterator[str]:
    members, documents = services.groups.details(principal(), group.name)
    names = first_names([person_name(one) for one in members], _SHOWN)
    if members:
        yield words.count(words.GROUP_MEMBERS_NAMED, len(members), names=names)
    else:
        yield words.GROUP_NO_MEMBERS
    if group.sources:
        yield words.GROUP_READS_SOURCES.format(names=", ".join(group.sources))
    if group.collections:
        yield words.GROUP_READS_COLLECTIONS.format(names=", ".join(group.collections))
    for source, n in documents:
        yield words.count(words.GROUP_READS_DOCUMENTS, n, source=source)
    if not (group.sources or group.collections or documents):
        yield words.GROUP_NOT_NAMED
