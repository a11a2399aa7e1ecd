"""Lists the documents page by page, narrowed down and ordered, and counts them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, case, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from domain import DocumentFilter, DocumentOrder, ListedDocument
from storage.database import Database
from storage.groups import in_groups
from storage.tables import DocumentRow

PASSAGE_BOUNDS = (0, 1, 2, 5, 10, 20, 50, 100, 200)
"""The most passages in each group of documents but the last, which has no end."""

_PAGES = func.json_array_length(DocumentRow.pages)
_DENSITY = DocumentRow.characters * 1.0 / func.nullif(_PAGES, 0)
_ORDERS: dict[DocumentOrder, ColumnElement[Any]] = {
    DocumentOrder.TITLE: func.lower(DocumentRow.title),
    DocumentOrder.NEWEST: DocumentRow.imported_at.desc(),
    DocumentOrder.PASSAGES: DocumentRow.passages.desc(),
    DocumentOrder.DENSITY: _DENSITY.asc().nulls_last(),
}
_LISTED = select(
    DocumentRow.id,
    DocumentRow.source_id,
    DocumentRow.key,
    DocumentRow.title,
    DocumentRow.location,
    DocumentRow.format,
    DocumentRow.encoding,
    _PAGES.label("page_count"),
    DocumentRow.characters,
    DocumentRow.script,
    DocumentRow.passages,
    DocumentRow.longest_passage,
    DocumentRow.revision,
    DocumentRow.imported_at,
    DocumentRow.warnings,
    DocumentRow.details,
)


class Tally(NamedTuple):
    """How many documents of a source have that format and that script."""

    source_id: str
    format: str
    script: str
    documents: int


class DocumentList:
    """The documents as the library's table shows them: none of their texts is read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, wanted: DocumentFilter, order: DocumentOrder, *, limit: int, offset: int = 0
    ) -> list[ListedDocument]:
        """The documents that match, `limit` of them after the first `offset`."""
        ids = _narrowed(select(DocumentRow.id), wanted)
        ids = ids.order_by(_ORDERS[order], DocumentRow.id).limit(limit).offset(offset)
        with self._database.read() as session:
            found = session.scalars(ids).all()
        return self.named(found)

    def named(self, document_ids: Sequence[str]) -> list[ListedDocument]:
        """The documents with these ids, in this order; ids that are not (any more) left out."""
        found: dict[str, ListedDocument] = {}
        with self._database.read() as session:
            for group in in_groups(document_ids):
                rows = session.execute(_LISTED.where(DocumentRow.id.in_(group)))
                found |= {row.id: _listed(row) for row in rows}
        return [found[id_] for id_ in document_ids if id_ in found]

    def count(self, wanted: DocumentFilter) -> int:
        """How many documents match."""
        counted = _narrowed(select(func.count()).select_from(DocumentRow), wanted)
        with self._database.read() as session:
            return session.scalar(counted) or 0

    def ids(self, wanted: DocumentFilter) -> list[str]:
        """The ids of all documents that match, in no order."""
        with self._database.read() as session:
            return list(session.scalars(_narrowed(select(DocumentRow.id), wanted)))

    def tallies(self) -> list[Tally]:
        """All documents, counted by source, format and script."""
        by = (DocumentRow.source_id, DocumentRow.format, DocumentRow.script)
        counted = select(*by, func.count()).group_by(*by).order_by(*by)
        with self._database.read() as session:
            return [Tally(*row) for row in session.execute(counted)]

    def by_passages(self, sources: Sequence[str]) -> dict[int | None, int]:
        """How many documents of these sources have at most so many passages.

        They have more than the bound before; None, the last, is more than all `PASSAGE_BOUNDS`.
        """
        steps = [(DocumentRow.passages <= bound, bound) for bound in PASSAGE_BOUNDS]
        group = case(*steps, else_=None)
        own = DocumentRow.source_id.in_(sources)
        with self._database.read() as session:
            rows = session.execute(select(group, func.count()).where(own).group_by(group))
            found = {row[0]: row[1] for row in rows}
        return {bound: found.get(bound, 0) for bound in (*PASSAGE_BOUNDS, None)}


def _narrowed(wanted: Select[Any], filter_: DocumentFilter) -> Select[Any]:
    for word in filter_.words.split():
        wanted = wanted.where(
            or_(*(_holds(column, word) for column in (DocumentRow.title, DocumentRow.key)))
        )
    if filter_.sources is not None:
        wanted = wanted.where(DocumentRow.source_id.in_(filter_.sources))
    if filter_.formats:
        wanted = wanted.where(DocumentRow.format.in_(filter_.formats))
    if filter_.scripts:
        wanted = wanted.where(DocumentRow.script.in_(filter_.scripts))
    if filter_.warned:
        wanted = wanted.where(func.json_array_length(DocumentRow.warnings) > 0)
    return wanted


def _holds(column: InstrumentedAttribute[str], word: str) -> ColumnElement[bool]:
    """Whether the column holds the word in any case.

    SQLite knows the case of ASCII letters only, so others are looked for as they may be written.
    """
    written = {word, word.lower(), word.upper(), word.capitalize()}
    if word.isascii():
        written = {word}
    return or_(*(column.icontains(each, autoescape=True) for each in sorted(written)))


def _listed(row: Row[Any]) -> ListedDocument:
    values = row._asdict()
    return ListedDocument(
        pages=values.pop("page_count"), warnings=tuple(values.pop("warnings")), **values
    )
