"""Lists documents page by page, filtered and sorted, and counts them."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select

from domain import DocumentFilter, DocumentOrder, Filter, ListedDocument
from storage.filters import checks_of, matches
from storage.ledger.columns import columns_of, from_row
from storage.ledger.database import Store, rows_with, scalars_with
from storage.ledger.document_store import passage_metadata
from storage.ledger.index_store import in_active_index
from storage.ledger.ledger_tables import DocumentRow, PassageRow
from storage.ledger.restriction_store import Readers, is_readable_by
from storage.ledger.word_filter import has_words


class DocumentTitle(NamedTuple):
    """A document's id and the names by which a user may refer to it."""

    id: str
    source_id: str
    title: str
    key: str


class Titles(Store):
    """The titles of all documents; texts are not read."""

    def all(self) -> list[DocumentTitle]:
        """All titles, sorted by title and key."""
        columns = (DocumentRow.id, DocumentRow.source_id, DocumentRow.title, DocumentRow.key)
        listing = select(*columns).order_by(DocumentRow.title, DocumentRow.key, DocumentRow.id)
        return self._tuples(DocumentTitle, listing)

    def matching(self, document_ids: Sequence[str], condition: Filter) -> set[str]:
        """The documents that satisfy a condition on fields shared by all their passages.

        Raises:
            ValueError: The condition is invalid.
        """
        checks = checks_of(condition)
        with self._database.read() as session:
            rows = scalars_with(session, select(DocumentRow), DocumentRow.id, document_ids)
            return {
                row.id for row in rows if matches(checks, passage_metadata(row, None, row.script))
            }

    def passage_ids(self, document_id: str) -> list[str]:
        """The passages of a document in the active index, in text order."""
        own = select(PassageRow.id).where(PassageRow.document_id == document_id)
        return self._all(in_active_index(own).order_by(PassageRow.ordinal))


_FIRST = 60
_LONGEST_TEXT = 1500


class HeadedText(NamedTuple):
    """The text of a passage, and the innermost heading above it or ""."""

    heading: str
    text: str


PASSAGE_BOUNDS = (0, 1, 2, 5, 10, 20, 50, 100, 200)
"""Upper bounds of the document groups by number of passages; the last group has no bound."""

_PAGES = func.json_array_length(DocumentRow.pages)
_DENSITY = DocumentRow.characters * 1.0 / func.nullif(_PAGES, 0)
_ORDERS: dict[DocumentOrder, ColumnElement[Any]] = {
    DocumentOrder.TITLE: func.lower(DocumentRow.title),
    DocumentOrder.NEWEST: DocumentRow.imported_at.desc(),
    DocumentOrder.PASSAGES: DocumentRow.passages.desc(),
    DocumentOrder.DENSITY: _DENSITY.asc().nulls_last(),
}
_LISTED = select(*columns_of(ListedDocument, DocumentRow, without="pages"), _PAGES.label("pages"))


class Tally(NamedTuple):
    """The number of documents of a source with a format and a script."""

    source_id: str
    format: str
    script: str
    documents: int


class DocumentList(Store):
    """The documents in the library's table; whole texts are not read."""

    def page(
        self, filter_: DocumentFilter, order: DocumentOrder, *, limit: int, offset: int = 0
    ) -> list[ListedDocument]:
        """A page of the matching documents."""
        ids = _apply_filter(select(DocumentRow.id), filter_)
        ids = ids.order_by(_ORDERS[order], DocumentRow.id).limit(limit).offset(offset)
        return self.with_ids(self._all(ids))

    def with_ids(self, document_ids: Sequence[str]) -> list[ListedDocument]:
        """The documents in the order of these ids; unknown ids are omitted."""
        with self._database.read() as session:
            rows = rows_with(session, _LISTED, DocumentRow.id, document_ids)
            documents = {row.id: from_row(ListedDocument, row) for row in rows}
        return [documents[id_] for id_ in document_ids if id_ in documents]

    def count(self, filter_: DocumentFilter) -> int:
        """The number of matching documents."""
        return self._count(_apply_filter(select(func.count()).select_from(DocumentRow), filter_))

    def ids(self, filter_: DocumentFilter) -> list[str]:
        """The ids of all matching documents, unordered."""
        return self._all(_apply_filter(select(DocumentRow.id), filter_))

    def tallies(self, readers: Readers = None) -> list[Tally]:
        """The numbers of documents by source, format, and script.

        Documents that the readers may not read don't count, here and in the histogram.
        """
        by = (DocumentRow.source_id, DocumentRow.format, DocumentRow.script)
        query = select(*by, func.count()).where(is_readable_by(readers)).group_by(*by).order_by(*by)
        return self._tuples(Tally, query)

    def labels_by_source(self, readers: Readers) -> dict[str, set[str]]:
        """By source id, the labels of its documents; sources without labels are omitted.

        Documents that the readers may not read don't count.
        """
        # Only distinct values are decoded: few, however many documents there are.
        labels = DocumentRow.details["labels"].as_string()
        # An expression, because for the plain column, SQLite would use an index and read the rows
        # out of order, which takes four times as long.
        source = DocumentRow.source_id.concat("")
        query = select(source, labels).where(labels.is_not(None), is_readable_by(readers))
        labels_by_source: defaultdict[str, set[str]] = defaultdict(set)
        with self._database.read() as session:
            for source_id, encoded in session.execute(query.distinct()):
                labels_by_source[source_id].update(json.loads(encoded))
        return {source_id: names for source_id, names in labels_by_source.items() if names}

    def first_passages(self, document_ids: Sequence[str]) -> dict[str, list[HeadedText]]:
        """By document id, its first 60 passages in the active index, in text order.

        Long texts are cut. Documents without passages are omitted.
        """
        text = func.substr(PassageRow.text, 1, _LONGEST_TEXT)
        query = (
            in_active_index(select(PassageRow.document_id, PassageRow.heading_path, text))
            .where(PassageRow.ordinal < _FIRST)
            .order_by(PassageRow.document_id, PassageRow.ordinal)
        )
        passages: dict[str, list[HeadedText]] = {}
        with self._database.read() as session:
            for id_, path, words in rows_with(session, query, PassageRow.document_id, document_ids):
                passages.setdefault(id_, []).append(HeadedText(path[-1] if path else "", words))
        return passages

    def by_passages(self, sources: Sequence[str], readers: Readers = None) -> dict[int | None, int]:
        """A histogram of the passages per document, for these sources.

        Each key is the inclusive upper bound of its group, None for more than `PASSAGE_BOUNDS`.
        """
        steps = [(DocumentRow.passages <= bound, bound) for bound in PASSAGE_BOUNDS]
        group = case(*steps, else_=None)
        own = and_(DocumentRow.source_id.in_(sources), is_readable_by(readers))
        counts = self._pairs(select(group, func.count()).where(own).group_by(group))
        return {bound: counts.get(bound, 0) for bound in (*PASSAGE_BOUNDS, None)}


def _apply_filter(query: Select[Any], filter_: DocumentFilter) -> Select[Any]:
    query = query.where(has_words(filter_.words, DocumentRow.title, DocumentRow.key))
    if filter_.sources is not None:
        query = query.where(DocumentRow.source_id.in_(filter_.sources))
    if filter_.formats:
        query = query.where(DocumentRow.format.in_(filter_.formats))
    if filter_.scripts:
        query = query.where(DocumentRow.script.in_(filter_.scripts))
    if filter_.warned:
        query = query.where(func.json_array_length(DocumentRow.warnings) > 0)
    return query.where(is_readable_by(filter_.readers))
