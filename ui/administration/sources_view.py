"""The sources and collections: who can read each, and the form that changes it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import streamlit as st

from bootstrap import Services
from domain.people import email_reader, group_reader, user_reader
from services.administration.reader_reports import ReaderLists, Shared, SourceReport
from services.reader_names import Readers
from ui.administration.administration_page import tell
from ui.administration.reader_texts import (
    Accounts,
    accounts_among,
    first_names,
    person_name,
    reader_name,
    reader_names,
    readers_in_words,
)
from ui.shared.frame import offset_of, principal, show_errors, show_pages, show_problem
from ui.shared.row_selection import digest, select_row
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import number

ROWS, PAGE = 50, "shared-page"
SOURCE, COLLECTION = "source", "collection"
EVERYONE, SOME, NOBODY = "everyone", "some", "nobody"
_PEOPLE = 500


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
    by_key = {(one.kind, one.id): one for one in rows}
    return select_row(table, by_key, columns, config, alt=words.TABLE_OF_SHARED)


@show_errors()
def _show_row(services: Services, shared: Shared, row: Row) -> None:
    with st.container(border=True, key="administered-readers"):
        if row.kind == SOURCE:
            lines = _source_report_lines(services, shared, row.id)
        else:
            lines = _collection_report_lines(services, shared, row.id)
        heading = escape(words.WHO_CAN_READ.format(name=row.name))
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        st.html(f'<h3>{heading}</h3><ul class="fn-rules">{items}</ul>')
        _show_reader_form(services, row)


def _source_report_lines(services: Services, shared: Shared, source_id: str) -> list[str]:
    """Who can read the source and its documents."""
    report = services.reader_reports.report(principal(), source_id)
    accounts = accounts_among(services, _readers_in(report))
    collection = next(one.collection for one in shared.sources if one.id == source_id)
    lines = [
        _source_line(report.readers.source, accounts),
        _collection_line(collection, report.readers.collection, accounts),
    ]
    if None not in report.readers:
        lines.append(words.WHO_IN_BOTH)
    return [*lines, _people_line(report), *_document_lines(report, accounts)]


def _collection_report_lines(services: Services, shared: Shared, name: str) -> list[str]:
    """Who can read the collection, and its sources."""
    readers = shared.collections[name]
    names = [one.name for one in shared.sources if one.collection == name]
    return [
        _collection_line(name, readers, accounts_among(services, readers or ())),
        words.count(words.WHO_COLLECTION_SOURCES, len(names), names=first_names(names)),
    ]


def _readers_in(report: SourceReport) -> Iterator[str]:
    for readers in report.readers:
        yield from readers or ()
    for one in report.permissions:
        for readers in one.lists:
            yield from readers


def _source_line(readers: Readers | None, accounts: Accounts) -> str:
    if readers is None:
        return str(words.WHO_SOURCE_EVERYONE)
    if not readers:
        return str(words.WHO_SOURCE_NOBODY)
    return str(words.WHO_SOURCE_READERS.format(readers=reader_names(readers, accounts)))


def _collection_line(name: str, readers: Readers | None, accounts: Accounts) -> str:
    if readers is None:
        return str(words.WHO_COLLECTION_EVERYONE.format(name=name))
    if not readers:
        return str(words.WHO_COLLECTION_NOBODY.format(name=name))
    shown = reader_names(readers, accounts)
    return str(words.WHO_COLLECTION_READERS.format(name=name, readers=shown))


def _people_line(report: SourceReport) -> str:
    if not report.people:
        return str(words.WHO_NO_PEOPLE)
    names = first_names([person_name(one) for one in report.people])
    total = number(report.accounts)
    return words.count(words.WHO_PEOPLE, len(report.people), total=total, names=names)


def _document_lines(report: SourceReport, accounts: Accounts) -> Iterable[str]:
    if report.mirrors_permissions:
        yield words.WHO_MIRRORS
    if not report.documents:
        yield words.WHO_NO_DOCUMENTS
    elif report.unrestricted == report.documents:
        yield words.count(words.WHO_DOCUMENTS_ALIKE, report.documents)
    else:
        total = number(report.documents)
        yield words.count(words.WHO_UNRESTRICTED, report.unrestricted, total=total)
    for one in report.permissions:
        yield _permissions_line(one, accounts)
    if report.other:
        yield words.count(words.WHO_OTHER, report.other)
    if report.hidden:
        yield words.count(words.WHO_HIDDEN, report.hidden)


def _permissions_line(one: ReaderLists, accounts: Accounts) -> str:
    lists = words.WHO_LISTS_AND.join(reader_names(readers, accounts) for readers in one.lists)
    return words.count(words.WHO_PERMISSIONS, one.documents, lists=lists)


def _show_reader_form(services: Services, row: Row) -> None:
    """Show who may read a source or a collection, and store changes."""
    is_source, readers = row.kind == SOURCE, row.readers
    key = digest((is_source, row.id, readers))
    st.html(f"<h4>{words.READERS_CHANGE}</h4>")
    choice = st.radio(
        words.READERS_OF,
        [EVERYONE, SOME, NOBODY],
        index=[EVERYONE, SOME, NOBODY].index(_choice_of(readers)),
        format_func=words.READERS_CHOICES.__getitem__,
        key=f"readers-choice-{key}",
    )
    entered = _show_readers(services, readers or (), key) if choice == SOME else []
    if not st.button(words.READERS_SAVE, type="primary", key=f"readers-save-{key}"):
        return
    if choice == SOME and not entered:
        show_problem(words.READERS_MISSING)
        return
    with show_errors():
        new = None if choice == EVERYONE else entered
        service = services.permissions
        change = service.set_readers if is_source else service.set_collection_readers
        stored = change(principal(), row.id, new)
        shown = readers_in_words(stored, accounts_among(services, stored or ()))
        tell(words.READERS_SAVED.format(name=row.name, readers=shown))


def _choice_of(readers: Readers | None) -> str:
    if readers is None:
        return EVERYONE
    return SOME if readers else NOBODY


def _show_readers(services: Services, readers: Readers, key: str) -> list[str]:
    people, total = services.accounts.page(principal(), limit=_PEOPLE)
    accounts = {one.id: one for one in people} | dict(accounts_among(services, readers))
    groups = map(group_reader, services.groups.names(principal()))
    options = dict.fromkeys([*readers, *groups, *(user_reader(one.id) for one in people)])
    names = {one: reader_name(one, accounts) for one in options}
    entered = st.multiselect(
        words.READERS_SOME,
        list(options),
        default=list(readers),
        format_func=lambda one: names.get(one, one),
        accept_new_options=True,
        placeholder=words.READERS_PLACEHOLDER,
        help=words.READERS_HELP,
        key=f"readers-{key}",
    )
    if total > len(people):
        shown = number(len(people))
        st.caption(words.READERS_FIRST_PEOPLE.format(shown=shown, total=number(total)))
    return [_as_reader(one) for one in entered]


def _as_reader(text: str) -> str:
    """The reader that a person has entered: an e-mail address needs no kind before it."""
    return email_reader(text) if "@" in text and ":" not in text else text
