"""Reads what was imported: documents, their texts, and the passages that may be shown."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from domain import Metadata, Passage
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.hydration import hydrated
from storage.passage_list import passage_of
from storage.tables import DocumentRow, DocumentTextRow, PassageRow
from storage.windows import read_windows

if TYPE_CHECKING:
    from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in the version that answers, without its text.

    `pages` are (start offset, page number from 1); `details` is what else its loader told;
    `revision` counts its versions from 1. `characters` and `script` are of its text, `passages`
    and the characters of the `longest_passage` of what it was cut into.
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


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """Which version of a document the ledger has."""

    document_id: str
    version: str
    formats_version: int
    revision: int
    location: str
    details: Metadata = field(default_factory=dict)
    title: str = ""


def document_id(source_id: str, key: str) -> str:
    """The id of a document: the same for ever, so that citations stay links."""
    return hashlib.sha256(f"{source_id}\0{key}".encode()).hexdigest()[:32]


class Documents:
    """The documents of the library. Only committed versions are ever seen."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, source_id: str) -> dict[str, KnownVersion]:
        """By key, the version of each document of that source."""
        wanted = select(
            DocumentRow.key,
            DocumentRow.id,
            DocumentRow.version,
            DocumentRow.formats_version,
            DocumentRow.revision,
            DocumentRow.location,
            DocumentRow.details,
            DocumentRow.title,
        ).where(DocumentRow.source_id == source_id)
        with self._database.read() as session:
            return {row.key: KnownVersion(*row[1:]) for row in session.execute(wanted)}

    def count(self) -> int:
        """How many documents the library holds."""
        with self._database.read() as session:
            return session.scalar(select(func.count()).select_from(DocumentRow)) or 0

    def get(self, document_id: str) -> StoredDocument:
        """The document with that id.

        Raises:
            NotFoundError: There is none (any more).
        """
        with self._database.read() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise NotFoundError(f"there is no document {document_id} in the library")
            return _stored(row)

    def text(self, document_id: str) -> str:
        """The whole text of a document, which the spans of its passages count in.

        Raises:
            NotFoundError: There is no such document (any more).
        """
        with self._database.read() as session:
            row = session.get(DocumentTextRow, document_id)
        if row is None:
            raise NotFoundError(f"there is no document {document_id} in the library")
        return row.text

    def passages(self, document_id: str, index_id: str) -> list[Passage]:
        """The passages of a document in one index, in the order of the text."""
        wanted = (
            select(PassageRow)
            .where(PassageRow.document_id == document_id, PassageRow.index_id == index_id)
            .order_by(PassageRow.ordinal)
        )
        with self._database.read() as session:
            return [passage_of(row) for row in session.scalars(wanted)]

    def with_passages(
        self, document_ids: Sequence[str], index_id: str
    ) -> list[tuple[StoredDocument, Passage]]:
        """Every passage of these documents in one index, each with its document."""
        wanted = select(PassageRow).where(PassageRow.index_id == index_id)
        with self._database.read() as session:
            passages = [
                passage
                for group in in_groups(document_ids)
                for passage in session.scalars(wanted.where(PassageRow.document_id.in_(group)))
            ]
            stored = {id_: _stored(row) for id_, row in _documents_of(session, passages).items()}
            return [(stored[passage.document_id], passage_of(passage)) for passage in passages]

    def passage_ids(self, index_id: str) -> set[str]:
        """The ids of every passage that counts in an index."""
        with self._database.read() as session:
            return set(
                session.scalars(select(PassageRow.id).where(PassageRow.index_id == index_id))
            )

    def ids(self, *, missing_in: str | None = None) -> Iterator[str]:
        """The ids of all documents, or of those without a passage in the index `missing_in`.

        Read piece by piece, each after the last id: documents added behind it are not seen.
        """
        wanted = select(DocumentRow.id).order_by(DocumentRow.id).limit(1000)
        if missing_in is not None:
            wanted = wanted.where(
                ~exists().where(
                    PassageRow.document_id == DocumentRow.id, PassageRow.index_id == missing_in
                )
            )
        last = ""
        while True:
            with self._database.read() as session:
                found = session.scalars(wanted.where(DocumentRow.id > last)).all()
            if not found:
                return
            yield from found
            last = found[-1]

    def hydrate(self, passage_ids: Sequence[str]) -> list["Document"]:
        """The passages as LangChain documents, in the order asked.

        An id that the ledger doesn't know is left out: it belongs to a version that is not
        committed yet, or not any more.
        """
        with self._database.read() as session:
            found = {
                passage.id: passage
                for group in in_groups(passage_ids)
                for passage in session.scalars(select(PassageRow).where(PassageRow.id.in_(group)))
            }
            documents = _documents_of(session, found.values())
            passages = [found[id_] for id_ in passage_ids if id_ in found]
            return [hydrated(passage, documents[passage.document_id]) for passage in passages]

    def of_passages(self, passage_ids: Sequence[str]) -> dict[str, str]:
        """By passage id, the id of its document; ids that `hydrate` leaves out are left out.

        Nothing else is read: hundreds of passages take a few milliseconds.
        """
        wanted = select(PassageRow.id, PassageRow.document_id)
        with self._database.read() as session:
            return {
                id_: document
                for group in in_groups(passage_ids)
                for id_, document in session.execute(wanted.where(PassageRow.id.in_(group)))
            }

    def neighbours(self, passage_ids: Sequence[str], n: int) -> dict[str, Passage]:
        """By id, the passages widened by `n` on either side; see `read_windows`."""
        with self._database.read() as session:
            return read_windows(session, passage_ids, n)

    def list(
        self, source_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[StoredDocument]:
        """Documents by key, of one source or of all."""
        wanted = select(DocumentRow).order_by(DocumentRow.key, DocumentRow.id)
        if source_id is not None:
            wanted = wanted.where(DocumentRow.source_id == source_id)
        with self._database.read() as session:
            rows = session.scalars(wanted.limit(limit).offset(offset))
            return [_stored(row) for row in rows]


def _documents_of(session: Session, passages: Iterable[PassageRow]) -> dict[str, DocumentRow]:
    """The documents of passages by id; each is read once, for its details can be long."""
    ids = list({passage.document_id for passage in passages})
    return {
        row.id: row
        for group in in_groups(ids)
        for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(group)))
    }


def _stored(row: DocumentRow) -> StoredDocument:
    return StoredDocument(
        id=row.id,
        source_id=row.source_id,
        key=row.key,
        version=row.version,
        formats_version=row.formats_version,
        title=row.title,
        location=row.location,
        format=row.format,
        encoding=row.encoding,
        pages=tuple((start, page) for start, page in row.pages),
        warnings=tuple(row.warnings),
        details=row.details,
        imported_at=row.imported_at,
        revision=row.revision,
        characters=row.characters,
        script=row.script,
        passages=row.passages,
        longest_passage=row.longest_passage,
    )
