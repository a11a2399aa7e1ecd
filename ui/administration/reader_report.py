"""The answer to who can read a source or a collection, in sentences."""

from collections.abc import Iterable, Iterator

from bootstrap import Services
from services.administration.reader_reports import ReaderLists, Shared, SourceReport
from services.reader_names import Readers
from ui.administration.reader_texts import (
    Accounts,
    accounts_among,
    first_names,
    person_name,
    reader_names,
)
from ui.shared.frame import principal
from ui.text import words
from ui.text.reader_language import number


def source_report_lines(services: Services, shared: Shared, source_id: str) -> list[str]:
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


def collection_report_lines(services: Services, shared: Shared, name: str) -> list[str]:
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
