"""The sources and collections: who can read each, and the form that changes it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st

from bootstrap import Services
from services.administration.reader_reports import Shared
from services.reader_names import Readers
from ui.administration.reader_form import show_reader_form
from ui.administration.reader_report import collection_report_lines, source_report_lines
from ui.administration.reader_texts import Accounts, accounts_among, readers_in_words
from ui.shared.frame import offset_of, principal, show_errors, show_pages
from ui.shared.row_selection import select_rows, table_height
from ui.shared.safe_html import escape
from ui.text import words

ROWS, PAGE = 50, "shared-page"
SOURCE, COLLECTION = "source", "collection"


class Row(NamedTuple):
    """A source with its id, or a collection with its name as the id, and its readers."""

    kind: str
    id: str
    name: str
    readers: Readers | None
    documents: int


def show_sources(services: Services) -> None:
    """Show the sources and collections, and who can read the selected one."""
    shared = services.reader_reports.list(principal())
    rows = _rows(shared)
    if not rows:
        st.caption(words.NO_SHARED)
        return
    st.caption(words.SHARED_NOTE)
    offset = offset_of(PAGE, ROWS)
    listed = rows[offset : offset + ROWS]
    accounts = accounts_among(services, [each for one in listed for each in one.readers or ()])
    chosen = _select_row(listed, accounts, f"shared-{offset}")
    show_pages(len(rows), ROWS, PAGE)
    if chosen:
        _show_row(services, shared, chosen)


def _rows(shared: Shared) -> list[Row]:
    """The sources and then the collections, each by name."""
    counts = dict.fromkeys(shared.collections, 0)
    for one in shared.sources:
        counts[one.collection] += one.documents
    collections = [
        Row(COLLECTION, name, name, readers, counts[name])
        for name, readers in shared.collections.items()
    ]
    sources = [Row(SOURCE, one.id, one.name, one.readers, one.documents) for one in shared.sources]
    return sources + collections


def _select_row(rows: Sequence[Row], accounts: Accounts, table: str) -> Row | None:
    columns: dict[str, list[Any]] = {
        words.SHARED_NAME: [one.name for one in rows],
        words.SHARED_KIND: [words.SHARED_KINDS[one.kind] for one in rows],
        words.SHARED_READERS: [readers_in_words(one.readers, accounts) for one in rows],
        words.SHARED_DOCUMENTS: [one.documents for one in rows],
    }
    config = {
        words.SHARED_NAME: st.column_config.TextColumn(width="medium"),
        words.SHARED_READERS: st.column_config.TextColumn(width="medium"),
        words.SHARED_DOCUMENTS: st.column_config.NumberColumn(format="localized"),
    }
    keys = [(one.kind, one.id) for one in rows]
    alt = words.TABLE_OF_SHARED
    chosen = select_rows(
        table, keys, columns, config, alt=alt, height=table_height(rows), only_one=True
    )
    return next((one for one in rows if (one.kind, one.id) in chosen), None)


@show_errors()
def _show_row(services: Services, shared: Shared, row: Row) -> None:
    with st.container(border=True, key="administered-readers"):
        if row.kind == SOURCE:
            lines = source_report_lines(services, shared, row.id)
        else:
            lines = collection_report_lines(services, shared, row.id)
        heading = escape(words.WHO_CAN_READ.format(name=row.name))
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        st.html(f'<h3>{heading}</h3><ul class="fn-rules">{items}</ul>')
        show_reader_form(services, row.kind == SOURCE, row.id, row.name, row.readers)
