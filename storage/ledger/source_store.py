"""Sources of documents: their settings, exclusions, and import statistics."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from domain import ImportKind, ImportRun, ImportState
from storage.ledger.columns import from_row, shallow_dict
from storage.ledger.database import Store, rows_with
from storage.ledger.import_queue_store import import_run
from storage.ledger.import_store import REPORTED, readable_failures, source_not_found
from storage.ledger.ledger_tables import (
    ConversationRow,
    DocumentRow,
    FailureRow,
    ImportRow,
    SourceRow,
    TurnRow,
)
from storage.ledger.restriction_store import Readers, is_readable_by

_EXCLUDED = "left_out"  # the name in stored options


class Exclusions(Store):
    """Documents that users excluded from import, stored in the options of their source."""

    def add(self, source_id: str, keys: Iterable[str]) -> None:
        """Exclude documents, starting with the next import.

        Raises:
            NotFoundError: There is no such source.
        """
        # Read and write in one transaction, because two users may exclude documents concurrently.
        with self._database.write() as session:
            row = _row(session, source_id)
            _put(row, {*excluded_keys(row.options), *keys})

    def remove(self, source_id: str, keys: Iterable[str]) -> None:
        """Include documents again; keys that are not excluded are ignored.

        Raises:
            NotFoundError: There is no such source.
        """
        with self._database.write() as session:
            row = _row(session, source_id)
            _put(row, {*excluded_keys(row.options)} - {*keys})


def excluded_keys(options: Mapping[str, Any]) -> list[str]:
    """The keys that these source options exclude, sorted."""
    return sorted(options.get(_EXCLUDED, ()))


MIRROR_PERMISSIONS = "mirror_permissions"
"""The option of sources whose documents have the readers that they have in the source."""


def mirrors_permissions(options: Mapping[str, Any]) -> bool:
    """Whether the documents of the source have the readers that they have there."""
    return bool(options.get(MIRROR_PERMISSIONS))


def _put(row: SourceRow, keys: set[str]) -> None:
    row.options = {**row.options, _EXCLUDED: sorted(keys)}
    row.cursor = {}  # with the cursor, the source would not list unchanged documents again


def _row(session: Session, source_id: str, *, lock: bool = True) -> SourceRow:
    row = session.get(SourceRow, source_id, with_for_update=lock or None)
    if row is None:
        raise source_not_found(source_id)
    return row


_FULL_IMPORTS = (
    ImportRow.finished_at.is_not(None),
    ImportRow.kind == ImportKind.IMPORT,
    ImportRow.options["keys"].as_string().is_(None),
)
"""Ended imports of whole sources."""


class SourceTraces(Store):
    """Queries about what imports and conversations recorded about sources."""

    def latest_imports(self) -> dict[str, ImportRun]:
        """The latest ended import by source id; dry runs don't count."""
        rank = func.row_number().over(
            partition_by=ImportRow.source_id, order_by=(ImportRow.started_at.desc(), ImportRow.id)
        )
        ended = select(ImportRow, rank.label("rank")).where(
            ImportRow.finished_at.is_not(None), ImportRow.kind == ImportKind.IMPORT
        )
        numbered = ended.subquery()
        latest = aliased(ImportRow, numbered)
        with self._database.read() as session:
            rows = session.scalars(select(latest).where(numbered.c.rank == 1))
            return {row.source_id: import_run(row) for row in rows}

    def last_refreshes(self, now: datetime) -> dict[str, datetime]:
        """By source id, the start time of the latest ended import of the whole source.

        Imports that began later than `now` do not count: the clock was ahead at that time.
        """
        latest = select(ImportRow.source_id, func.max(ImportRow.started_at)).where(
            *_FULL_IMPORTS, ImportRow.started_at <= now
        )
        return self._pairs(latest.group_by(ImportRow.source_id))

    def consecutive_failures(self) -> dict[str, int]:
        """By source id, the number of consecutive failures of its latest imports, if not 0.

        Imports restricted to individual documents don't count.
        """
        ended = select(ImportRow).where(*_FULL_IMPORTS)
        done = ended.where(ImportRow.state != ImportState.FAILED).subquery()
        last = select(func.max(done.c.started_at)).where(done.c.source_id == ImportRow.source_id)
        since = last.scalar_subquery()
        failed = select(ImportRow.source_id, func.count()).where(
            *_FULL_IMPORTS,
            ImportRow.state == ImportState.FAILED,
            or_(since.is_(None), ImportRow.started_at > since),
        )
        return self._pairs(failed.group_by(ImportRow.source_id))

    def citing_conversations(self, source_id: str) -> int:
        """The number of conversations, of all users, that cite a document of the source."""
        query = select(DocumentRow.id).where(DocumentRow.source_id == source_id)
        cited = (
            select(TurnRow.conversation_id, TurnRow.citations)
            .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
            .where(ConversationRow.deleted_at.is_(None))
        )
        with self._database.read() as session:
            ids = set(session.scalars(query))
            return len(
                {
                    conversation_id
                    for conversation_id, citations in session.execute(cited)
                    if any(one.get("document_id") in ids for one in citations)
                }
            )


CATALOG_KIND = "catalogue"


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source and the options for its loader, without secrets.

    `refresh_s` is the interval of automatic refreshes, None for never. A `paused` source is not
    refreshed automatically. `cursor` is where the next listing may start, empty for a full listing.
    """

    id: str
    kind: str
    name: str
    location: str
    options: Mapping[str, Any]
    created_at: datetime
    paused: bool = False
    refresh_s: int | None = None
    cursor: Mapping[str, Any] = field(default_factory=dict)

    @property
    def conversation_id(self) -> str:
        """The only conversation that may search the source; "" if all may."""
        return str(self.options.get("conversation_id") or "")

    @property
    def is_catalog(self) -> bool:
        """Whether its documents are the places of a catalog."""
        return self.kind == CATALOG_KIND

    @property
    def is_shared(self) -> bool:
        """Whether it has documents for everyone: no files of a conversation, and no places."""
        return not self.conversation_id and not self.is_catalog

    @property
    def collection(self) -> str:
        """The collection of its documents: the source's name unless its options set another one."""
        name = self.options.get("collection") or self.name or self.location
        return normalize("NFC", name)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that all of its documents have."""
        return tuple(normalize("NFC", label) for label in self.options.get("labels", ()))


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """The numbers of a source's documents, their passages, and its unreadable documents."""

    documents: int = 0
    passages: int = 0
    failed: int = 0


class Sources(Store):
    """The sources of the library."""

    def ensure(
        self, kind: str, location: str, *, name: str, options: Mapping[str, Any] | None = None
    ) -> StoredSource:
        """Add a source, or update the one with the same kind and location.

        Its id is derived from kind and location, so links to its documents remain valid in a new
        data folder.
        """
        with self._database.write() as session:
            row = session.get(SourceRow, _source_id(kind, location))
            if row is None:
                row = SourceRow(**shallow_dict(new_source(kind, location, name=name)))
                session.add(row)
            row.name, row.options = name, dict(options or {})
            return from_row(StoredSource, row)

    def find(self, kind: str, location: str) -> StoredSource | None:
        """The source with this kind and location, if any."""
        with self._database.read() as session:
            row = session.get(SourceRow, _source_id(kind, location))
            return None if row is None else from_row(StoredSource, row)

    def get(self, source_id: str) -> StoredSource:
        """A source; raises NotFoundError if there is none with this id."""
        with self._database.read() as session:
            return from_row(StoredSource, _row(session, source_id, lock=False))

    def of_lost_conversations(self) -> list[StoredSource]:
        """The sources private to conversations that have been deleted."""
        conversation = SourceRow.options["conversation_id"].as_string()
        lost = conversation.is_not(None) & conversation.not_in(select(ConversationRow.id))
        return self._each(StoredSource, select(SourceRow).where(lost))

    def private_documents(self) -> set[str]:
        """The ids of documents in sources that are private to a conversation."""
        conversation = SourceRow.options["conversation_id"].as_string()
        query = (
            select(DocumentRow.id)
            .join(SourceRow, SourceRow.id == DocumentRow.source_id)
            .where(conversation.is_not(None))
        )
        return set(self._all(query))

    def of_documents(self, document_ids: Sequence[str]) -> dict[str, str]:
        """The source id of each document; unknown ids are omitted."""
        query = select(DocumentRow.id, DocumentRow.source_id)
        with self._database.read() as session:
            return dict(rows_with(session, query, DocumentRow.id, document_ids))

    def with_hidden_documents(self, readers: Readers) -> set[str]:
        """The ids of sources with documents whose own restrictions exclude the readers."""
        query = select(DocumentRow.source_id).where(~is_readable_by(readers)).distinct()
        return set(self._all(query))

    def list(self) -> list[StoredSource]:
        """All sources, sorted by name."""
        query = select(SourceRow).order_by(SourceRow.name, SourceRow.id)
        return self._each(StoredSource, query)

    def save(
        self, source_id: str, *, name: str, options: Mapping[str, Any], refresh_s: int | None
    ) -> None:
        """Update a source; options missing from `options` don't change.

        If options change, the next import lists the whole source, because the cursor does not cover
        documents that the old options excluded.

        Raises:
            NotFoundError: There is no such source.
        """
        # Read and write in one transaction, because others may change other options concurrently.
        with self._database.write() as session:
            row = _row(session, source_id)
            row.name, row.refresh_s = name, refresh_s
            _set_options(row, options)

    def set_options(self, source_id: str, options: Mapping[str, Any]) -> None:
        """Update options as `save` does; a source that was removed is ignored."""
        with self._database.write() as session:
            row = session.get(SourceRow, source_id, with_for_update=True)
            if row is not None:
                _set_options(row, options)

    def set_cursor(self, source_id: str, values: Mapping[str, Any]) -> None:
        """Save where the source's next listing may start."""
        source = update(SourceRow).where(SourceRow.id == source_id)
        self._execute(source.values(cursor=dict(values)))

    def pause(self, source_id: str, *, paused: bool) -> None:
        """Pause or resume the automatic refreshes of a source."""
        self._execute(update(SourceRow).where(SourceRow.id == source_id).values(paused=paused))

    def is_being_removed(self, source_id: str) -> bool:
        """Whether its removal was requested and has not ended."""
        removal = select(ImportRow.id).where(
            ImportRow.source_id == source_id,
            ImportRow.kind == ImportKind.REMOVAL,
            ImportRow.finished_at.is_(None),
        )
        return bool(self._all(removal.limit(1)))

    def remove(self, source_id: str) -> None:
        """Delete a source and its imports; remove its documents from the indexes first."""
        self._execute(delete(SourceRow).where(SourceRow.id == source_id))

    def totals(self, source_ids: Sequence[str], readers: Readers = None) -> tuple[int, int]:
        """The numbers of documents and of their passages in all of these sources together.

        Documents that the readers may not read don't count, here and in `figures`.
        """
        query = select(func.count(), func.coalesce(func.sum(DocumentRow.passages), 0)).where(
            is_readable_by(readers)
        )
        with self._database.read() as session:
            rows = [*rows_with(session, query, DocumentRow.source_id, source_ids)]
        return sum(row[0] for row in rows), sum(row[1] for row in rows)

    def figures(self, readers: Readers = None) -> dict[str, SourceFigures]:
        """The statistics by source id; sources with neither documents nor failures are omitted."""
        documents_query = select(
            DocumentRow.source_id, func.count(), func.sum(DocumentRow.passages)
        ).where(is_readable_by(readers))
        failures_query = readable_failures(
            select(FailureRow.source_id, func.count()).where(REPORTED), readers
        )
        with self._database.read() as session:
            totals = {
                id_: (documents, passages)
                for id_, documents, passages in session.execute(
                    documents_query.group_by(DocumentRow.source_id)
                )
            }
            rows = session.execute(failures_query.group_by(FailureRow.source_id))
            failures = {row[0]: row[1] for row in rows}
        return {
            id_: SourceFigures(*totals.get(id_, (0, 0)), failures.get(id_, 0))
            for id_ in totals.keys() | failures.keys()
        }


def new_source(
    kind: str, location: str, *, name: str, options: Mapping[str, Any] | None = None
) -> StoredSource:
    """Create a source without saving it."""
    id_ = _source_id(kind, location)
    return StoredSource(id_, kind, name, location, dict(options or {}), datetime.now(UTC))


def _set_options(row: SourceRow, options: Mapping[str, Any]) -> None:
    after = {**row.options, **options}
    if after != row.options:
        row.options, row.cursor = after, {}


def _source_id(kind: str, location: str) -> str:
    return hashlib.sha256(f"{kind}\0{location}".encode()).hexdigest()[:32]
