"""Reads imported documents, their texts, and their visible passages, with their metadata.

A source's collection and labels are stored with the source, a document's own labels with the
document. A document's `details` contain the metadata of its passages in the indexes, so changes of
the source are detected without opening an index.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from sqlalchemy import Select, and_, exists, func, select
from sqlalchemy.orm import Session, aliased, defer

from domain import Metadata, Passage, shared_headings, utc_text
from domain.errors import NotFoundError
from domain.messages import _
from storage.ledger.columns import columns_of, from_row
from storage.ledger.database import Store, in_groups, rows_with, scalars_with
from storage.ledger.ledger_tables import DocumentRow, DocumentTextRow, PassageRow

if TYPE_CHECKING:
    from langchain_core.documents import Document


def _neighbors(passage_ids: Sequence[str], n: int) -> Select[str, PassageRow]:
    """The passages around each one, without texts, which overlap and don't include gaps."""
    hit = aliased(PassageRow)
    near = and_(
        PassageRow.document_id == hit.document_id,
        PassageRow.index_id == hit.index_id,
        PassageRow.ordinal.between(hit.ordinal - n, hit.ordinal + n),
    )
    return (
        select(hit.id, PassageRow)
        .options(defer(PassageRow.text))
        .join(hit, near)
        .where(hit.id.in_(passage_ids))
        .order_by(PassageRow.ordinal)
    )


def _window(session: Session, hit: str, neighbors: Sequence[PassageRow]) -> Passage:
    first, end = neighbors[0], max(row.end for row in neighbors)
    # Sliced by the database, because a document may have megabytes.
    piece = func.substr(DocumentTextRow.text, first.start + 1, end - first.start)
    text = session.scalars(
        select(piece).where(DocumentTextRow.document_id == first.document_id)
    ).one()
    headings = shared_headings([row.heading_path for row in neighbors])
    return from_row(Passage, first, id=hit, end=end, text=text, heading_path=headings)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in its current version, without its text.

    `pages` are pairs of start offset and page number, from 1. `details` is further metadata from
    its loader. `revision` counts its versions from 1. `script` is the predominant script of its
    text; `longest_passage` is in characters.
    """

    id: str
    source_id: str
    key: str
    version: str
    formats_version: int
    title: str
    location: str
    format: str
    encoding: str | None
    pages: tuple[tuple[int, int], ...]
    warnings: tuple[str, ...]
    details: Metadata
    imported_at: datetime
    revision: int
    characters: int = 0
    script: str = ""
    passages: int = 0
    longest_passage: int = 0

    def page_at(self, position: int) -> int | None:
        """The page of a position in the text; None if the format has no pages."""
        return next((page for start, page in reversed(self.pages) if start <= position), None)


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """The stored version of a document."""

    document_id: str
    version: str
    formats_version: int
    revision: int
    location: str
    details: Metadata = field(default_factory=dict)
    title: str = ""


def document_id(source_id: str, key: str) -> str:
    """The id of a document; it never changes, so links in citations remain valid."""
    return hashlib.sha256(f"{source_id}\0{key}".encode()).hexdigest()[:32]


class Documents(Store):
    """The documents of the library; only committed versions are visible."""

    def versions(
        self, source_id: str, keys: Iterable[str] | None = None
    ) -> dict[str, StoredVersion]:
        """The stored version of each document of a source, or of those with these keys, by key."""
        columns = columns_of(StoredVersion, DocumentRow, without="document_id")
        query = select(DocumentRow.key, DocumentRow.id, *columns)
        query = query.where(DocumentRow.source_id == source_id)
        with self._database.read() as session:
            rows = (
                session.execute(query).all()
                if keys is None
                else [*rows_with(session, query, DocumentRow.key, list(keys))]
            )
            return {row.key: StoredVersion(*row[1:]) for row in rows}

    def count(self) -> int:
        """The number of documents in the library."""
        return self._count(select(func.count()).select_from(DocumentRow))

    def get(self, document_id: str) -> StoredDocument:
        """A document; raises NotFoundError if there is none with this id."""
        with self._database.read() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise document_not_found(document_id)
            return from_row(StoredDocument, row)

    def text(self, document_id: str) -> str:
        """The whole text of a document, to which the spans of its passages refer.

        Raises:
            NotFoundError: There is no such document.
        """
        with self._database.read() as session:
            row = session.get(DocumentTextRow, document_id)
        if row is None:
            raise document_not_found(document_id)
        return row.text

    def passages(self, document_id: str, index_id: str) -> list[Passage]:
        """The passages of a document in one index, in text order."""
        query = (
            select(PassageRow)
            .where(PassageRow.document_id == document_id, PassageRow.index_id == index_id)
            .order_by(PassageRow.ordinal)
        )
        return self._each(Passage, query)

    def with_passages(
        self, document_ids: Sequence[str], index_id: str
    ) -> list[tuple[StoredDocument, Passage]]:
        """Every passage of these documents in one index, each with its document."""
        query = select(PassageRow).where(PassageRow.index_id == index_id)
        with self._database.read() as session:
            rows = [*scalars_with(session, query, PassageRow.document_id, document_ids)]
            documents = _documents_of(session, rows).items()
            stored = {id_: from_row(StoredDocument, row) for id_, row in documents}
            return [(stored[row.document_id], from_row(Passage, row)) for row in rows]

    def passage_ids(self, index_id: str) -> set[str]:
        """The ids of all visible passages of an index."""
        return set(self._all(select(PassageRow.id).where(PassageRow.index_id == index_id)))

    def ids(self, *, missing_in: str | None = None) -> Iterator[str]:
        """The ids of all documents, or of those without a passage in the index `missing_in`.

        Reads batches in the order of ids, so documents added during the iteration may be missed.
        """
        query = select(DocumentRow.id).order_by(DocumentRow.id).limit(1000)
        if missing_in is not None:
            query = query.where(
                ~exists().where(
                    PassageRow.document_id == DocumentRow.id, PassageRow.index_id == missing_in
                )
            )
        last = ""
        while True:
            batch = self._all(query.where(DocumentRow.id > last))
            if not batch:
                return
            yield from batch
            last = batch[-1]

    def hydrate(self, passage_ids: Sequence[str]) -> list["Document"]:
        """The passages as LangChain documents, in the order of the ids.

        Ids that are not in the ledger are omitted; they belong to versions that are not committed
        yet or have been replaced.
        """
        with self._database.read() as session:
            found = scalars_with(session, select(PassageRow), PassageRow.id, passage_ids)
            rows = {passage.id: passage for passage in found}
            documents = _documents_of(session, rows.values())
            passages = [rows[id_] for id_ in passage_ids if id_ in rows]
            return [
                langchain_document(passage, documents[passage.document_id]) for passage in passages
            ]

    def of_passages(self, passage_ids: Sequence[str]) -> dict[str, str]:
        """The document id of each passage id; unknown ids are omitted, as by `hydrate`.

        This is fast, because it reads nothing else.
        """
        query = select(PassageRow.id, PassageRow.document_id)
        with self._database.read() as session:
            return dict(rows_with(session, query, PassageRow.id, passage_ids))

    def neighbors(self, passage_ids: Sequence[str], n: int) -> dict[str, Passage]:
        """By id, each passage merged with up to `n` passages before and `n` after it.

        `text` is the document's text from the first start to the last end. `ordinal` and `page` are
        those of the first passage, `heading_path` is the common prefix. Unknown ids are omitted.
        """
        neighbors: defaultdict[str, list[PassageRow]] = defaultdict(list)
        with self._database.read() as session:
            for group in in_groups(passage_ids):
                for hit, row in session.execute(_neighbors(group, n)):
                    neighbors[hit].append(row)
            return {hit: _window(session, hit, rows) for hit, rows in neighbors.items()}

    def list(
        self, source_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[StoredDocument]:
        """A page of the documents of one source or of all sources, sorted by key."""
        query = select(DocumentRow).order_by(DocumentRow.key, DocumentRow.id)
        if source_id is not None:
            query = query.where(DocumentRow.source_id == source_id)
        return self._each(StoredDocument, query.limit(limit).offset(offset))


def _documents_of(session: Session, passages: Iterable[PassageRow]) -> dict[str, DocumentRow]:
    """The documents of passages by id; each is read only once, because its details can be long."""
    ids = list({passage.document_id for passage in passages})
    rows = scalars_with(session, select(DocumentRow), DocumentRow.id, ids)
    return {row.id: row for row in rows}


def document_not_found(document_id: str) -> NotFoundError:
    """The error for a document that the library does not contain."""
    return NotFoundError(
        _("there is no document {document_id} in the library").format(document_id=document_id)
    )


def source_metadata(details: Mapping[str, Any], collection: str, labels: Sequence[str]) -> Metadata:
    """The details of a document with the collection and labels of its source.

    `details` come from the loader (`labels` are then the document's own labels) or from an earlier
    call.
    """
    own = [
        normalize("NFC", str(label))
        for label in details.get("own_labels", details.get("labels", ()))
    ]
    return {
        **details,
        "collection": collection,
        "labels": sorted({*own, *labels}),
        "own_labels": own,
    }


def inherited_metadata(details: Mapping[str, Any], imported_at: datetime) -> Metadata:
    """The metadata that passages inherit from their document: collection, labels, modified_at."""
    return {
        "collection": details.get("collection", ""),
        "labels": list(details.get("labels", ())),
        "modified_at": details.get("modified_at") or utc_text(imported_at),
    }


def langchain_document(passage: PassageRow, document: DocumentRow) -> "Document":
    """The passage as a LangChain document, with its position and categories as metadata."""
    from langchain_core.documents import Document  # slow to import, and needed only for questions

    return Document(
        id=passage.id,
        page_content=passage.text,
        metadata={
            "document_id": document.id,
            "source_id": document.source_id,
            "key": document.key,
            "title": document.title,
            "location": document.location,
            "version": document.version,
            "format": document.format,
            "page": passage.page,
            "heading_path": list(passage.heading_path),
            "start": passage.start,
            "end": passage.end,
            "ordinal": passage.ordinal,
            **inherited_metadata(document.details, document.imported_at),
        },
    )


def passage_metadata(
    document: StoredDocument | DocumentRow, page: int | None, script: str
) -> Metadata:
    """The fields of `domain.FILTER_FIELDS`; without `page` if the format has no pages."""
    metadata = {
        "document_id": document.id,
        "source_id": document.source_id,
        "key": document.key,
        "title": document.title,
        "format": document.format,
        "script": script,
        **inherited_metadata(document.details, document.imported_at),
    }
    return metadata if page is None else metadata | {"page": page}
