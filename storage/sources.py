"""Where documents come from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from unicodedata import normalize

from sqlalchemy import delete, func, select, update

from domain import ImportKind
from errors import NotFoundError
from storage.database import Database
from storage.failures import NAMED
from storage.tables import ConversationRow, DocumentRow, FailureRow, ImportRow, SourceRow


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source and the options its loader is built from; never a secret.

    `refresh_s` is how often it is brought up to date by itself, None for never; while it is
    `paused` it isn't. `mark` is where its loader's next listing may begin; empty where all is to be
    listed.
    """

    id: str
    kind: str
    name: str
    location: str
    options: Mapping[str, Any]
    created_at: datetime
    paused: bool = False
    refresh_s: int | None = None
    mark: Mapping[str, Any] = field(default_factory=dict)

    @property
    def conversation_id(self) -> str:
        """The only conversation that may search it; empty where all may."""
        return str(self.options.get("conversation_id") or "")

    @property
    def collection(self) -> str:
        """What its documents are filed under: its name, unless its options say otherwise."""
        told = self.options.get("collection") or self.name or self.location
        return normalize("NFC", told)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each of its documents is labelled with."""
        return tuple(normalize("NFC", label) for label in self.options.get("labels", ()))


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """What the library holds of a source, and how many of its documents can't be read."""

    documents: int = 0
    passages: int = 0
    failed: int = 0


class Sources:
    """The sources that were ever imported from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(
        self, kind: str, location: str, *, name: str, options: Mapping[str, Any] | None = None
    ) -> StoredSource:
        """The source of that kind and location, added or brought to these options.

        Its id follows from kind and location, so that links to its documents outlive the data
        folder.
        """
        with self._database.write() as session:
            row = session.get(SourceRow, _source_id(kind, location))
            if row is None:
                row = SourceRow(
                    id=_source_id(kind, location),
                    kind=kind,
                    location=location,
                    created_at=datetime.now(UTC),
                )
                session.add(row)
            row.name = name
            row.options = dict(options or {})
            session.flush()
            return _stored(row)

    def find(self, kind: str, location: str) -> StoredSource | None:
        """The source of that kind and location; None where it was never added."""
        with self._database.read() as session:
            row = session.get(SourceRow, _source_id(kind, location))
            return None if row is None else _stored(row)

    def get(self, source_id: str) -> StoredSource:
        """The source with that id.

        Raises:
            NotFoundError: There is none.
        """
        with self._database.read() as session:
            row = session.get(SourceRow, source_id)
            if row is None:
                raise NotFoundError(f"there is no source {source_id}")
            return _stored(row)

    def of_lost_conversations(self) -> list[StoredSource]:
        """The sources private to conversations that are in the ledger no more."""
        conversation = SourceRow.options["conversation_id"].as_string()
        lost = conversation.is_not(None) & conversation.not_in(select(ConversationRow.id))
        with self._database.read() as session:
            return [_stored(row) for row in session.scalars(select(SourceRow).where(lost))]

    def private_documents(self) -> set[str]:
        """The ids of the documents in sources that are private to a conversation."""
        conversation = SourceRow.options["conversation_id"].as_string()
        wanted = (
            select(DocumentRow.id)
            .join(SourceRow, SourceRow.id == DocumentRow.source_id)
            .where(conversation.is_not(None))
        )
        with self._database.read() as session:
            return set(session.scalars(wanted))

    def list(self) -> list[StoredSource]:
        """Every source, by name."""
        with self._database.read() as session:
            rows = session.scalars(select(SourceRow).order_by(SourceRow.name, SourceRow.id))
            return [_stored(row) for row in rows]

    def save(
        self, source_id: str, *, name: str, options: Mapping[str, Any], refresh_s: int | None
    ) -> None:
        """Bring a source to this name, these options (others stay as they are) and this rhythm.

        With other options all of it is listed anew: what they let in now was not marked then.

        Raises:
            NotFoundError: There is no such source (any more).
        """
        # Read and written in one transaction: others change other options meanwhile.
        with self._database.write() as session:
            row = session.get(SourceRow, source_id, with_for_update=True)
            if row is None:
                raise NotFoundError(f"there is no source {source_id}")
            row.name, row.refresh_s = name, refresh_s
            _set_options(row, options)

    def set_options(self, source_id: str, options: Mapping[str, Any]) -> None:
        """Bring a source to these options as `save` does; one that is gone stays gone."""
        with self._database.write() as session:
            row = session.get(SourceRow, source_id, with_for_update=True)
            if row is not None:
                _set_options(row, options)

    def mark(self, source_id: str, values: Mapping[str, Any]) -> None:
        """Note where the source's next listing may begin."""
        with self._database.write() as session:
            session.execute(
                update(SourceRow).where(SourceRow.id == source_id).values(mark=dict(values))
            )

    def pause(self, source_id: str, *, paused: bool) -> None:
        """Let a source rest, or go on."""
        with self._database.write() as session:
            session.execute(
                update(SourceRow).where(SourceRow.id == source_id).values(paused=paused)
            )

    def is_leaving(self, source_id: str) -> bool:
        """Whether its removal was asked for, and is still to be done."""
        removal = select(ImportRow.id).where(
            ImportRow.source_id == source_id,
            ImportRow.kind == ImportKind.REMOVAL,
            ImportRow.finished_at.is_(None),
        )
        with self._database.read() as session:
            return session.scalar(removal.limit(1)) is not None

    def remove(self, source_id: str) -> None:
        """Forget a source and its imports. Its documents are to be out of the indexes before."""
        with self._database.write() as session:
            session.execute(delete(SourceRow).where(SourceRow.id == source_id))

    def figures(self) -> dict[str, SourceFigures]:
        """By source id, what the library holds of each; none of what holds nothing."""
        held = select(DocumentRow.source_id, func.count(), func.sum(DocumentRow.passages))
        failed = select(FailureRow.source_id, func.count()).where(NAMED)
        with self._database.read() as session:
            holds = {
                id_: (documents, passages)
                for id_, documents, passages in session.execute(
                    held.group_by(DocumentRow.source_id)
                )
            }
            counted = session.execute(failed.group_by(FailureRow.source_id))
            fails = {row[0]: row[1] for row in counted}
        return {
            id_: SourceFigures(*holds.get(id_, (0, 0)), fails.get(id_, 0))
            for id_ in holds.keys() | fails.keys()
        }


def unsaved(
    kind: str, location: str, *, name: str, options: Mapping[str, Any] | None = None
) -> StoredSource:
    """The source as it will be kept, once it is."""
    id_ = _source_id(kind, location)
    return StoredSource(id_, kind, name, location, dict(options or {}), datetime.now(UTC))


def _set_options(row: SourceRow, options: Mapping[str, Any]) -> None:
    after = {**row.options, **options}
    if after != row.options:
        row.options, row.mark = after, {}


def _source_id(kind: str, location: str) -> str:
    return hashlib.sha256(f"{kind}\0{location}".encode()).hexdigest()[:32]


def _stored(row: SourceRow) -> StoredSource:
    return StoredSource(
        id=row.id,
        kind=row.kind,
        name=row.name,
        location=row.location,
        options=row.options,
        created_at=row.created_at,
        paused=row.paused,
        refresh_s=row.refresh_s,
        mark=row.mark,
    )
