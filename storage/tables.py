"""The ledger's tables: what was imported, in which version, which passages, what was asked."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, ForeignKey, Index, MetaData, TypeDecorator
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, stored as UTC without its zone: SQLite would drop the zone anyway."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002, D102  # SQLAlchemy's signature
        return value if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Names every constraint, so that a migration can drop it on any database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012  # SQLAlchemy reads it


LISTED = ("source_id", "format", "script", "title", "key", "imported_at", "passages", "id")


def _reference(column: str) -> Any:
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), index=True)


def _key_reference(column: str) -> Any:
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), primary_key=True)


class SourceRow(Base):
    """A directory, a Confluence space, a Drive folder, an upload box.

    `refresh_s` is how often it is brought up to date by itself; NULL is never.
    """

    __tablename__ = "sources"
    __table_args__ = (Unique("kind", "location"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    name: Mapped[str]
    location: Mapped[str]
    options: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    paused: Mapped[bool] = mapped_column(default=False)
    refresh_s: Mapped[int | None]


class DocumentRow(Base):
    """A document in the version that answers; `revision` counts the versions it has had.

    What the library's table shows of its text is kept beside it: `characters`, the `script` most
    of it is written in, the number of `passages` and the characters of the longest.

    `ix_documents_listed` holds all that lists are narrowed and ordered by: the rows themselves are
    twenty times as wide.
    """

    __tablename__ = "documents"
    __table_args__ = (
        Unique("source_id", "key"),
        Index("ix_documents_listed", *LISTED),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"))
    key: Mapped[str]
    version: Mapped[str]
    formats_version: Mapped[int]
    title: Mapped[str]
    location: Mapped[str]
    format: Mapped[str]
    encoding: Mapped[str | None]
    pages: Mapped[list[Any]]
    warnings: Mapped[list[Any]]
    details: Mapped[dict[str, Any]]
    imported_at: Mapped[datetime]
    revision: Mapped[int]
    characters: Mapped[int] = mapped_column(default=0)
    script: Mapped[str] = mapped_column(default="")
    passages: Mapped[int] = mapped_column(default=0)
    longest_passage: Mapped[int] = mapped_column(default=0)


class DocumentTextRow(Base):
    """A document's whole text, apart: listing documents must not read megabytes."""

    __tablename__ = "document_texts"

    document_id: Mapped[str] = _key_reference("documents.id")
    text: Mapped[str]


class IndexRow(Base):
    """An index and what it was made with; one is active, one may be building."""

    __tablename__ = "indexes"

    id: Mapped[str] = mapped_column(primary_key=True)
    spec: Mapped[dict[str, Any]]
    fingerprint: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]


class PassageRow(Base):
    """A passage of an index.

    Its text is kept beside its span: showing five passages must not read five whole documents.
    """

    __tablename__ = "passages"
    __table_args__ = (Index("ix_passages_id", "id"),)

    index_id: Mapped[str] = _key_reference("indexes.id")
    id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[str] = _reference("documents.id")
    ordinal: Mapped[int]
    start: Mapped[int]
    end: Mapped[int]
    page: Mapped[int | None]
    heading_path: Mapped[list[Any]]
    text: Mapped[str]


class DiscardedPassageRow(Base):
    """A passage that may lie in an index's stores but does not count, until it is swept away."""

    __tablename__ = "discarded_passages"

    index_id: Mapped[str] = _key_reference("indexes.id")
    passage_id: Mapped[str] = mapped_column(primary_key=True)


class ImportRow(Base):
    """One run over a source: queued, at work or ended; the queue of the worker processes.

    `worker` holds it until `lease_until`, and tells its `progress`; `wish` is what a person wants
    of it meanwhile ("pause" or "cancel"). `options` are the run's own, such as the keys it is
    confined to. `counts` are its items by outcome, for of old runs not every item is kept.
    """

    __tablename__ = "imports"
    __table_args__ = (Index("ix_imports_state", "state", "started_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = _reference("sources.id")
    user_id: Mapped[str]
    state: Mapped[str]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    message: Mapped[str]
    seconds: Mapped[float]
    passages_embedded: Mapped[int]
    kind: Mapped[str] = mapped_column(default="import")
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    wish: Mapped[str] = mapped_column(default="")
    worker: Mapped[str] = mapped_column(default="")
    lease_until: Mapped[datetime | None]
    progress: Mapped[dict[str, Any]] = mapped_column(default=dict)
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)


class ImportItemRow(Base):
    """A document of an import and its outcome, in the order they were settled."""

    __tablename__ = "import_items"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    import_id: Mapped[str] = _reference("imports.id")
    key: Mapped[str]
    location: Mapped[str]
    outcome: Mapped[str]
    reason: Mapped[str]
    passages: Mapped[int]
    pages: Mapped[int] = mapped_column(default=0)
    characters: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[int] = mapped_column(default=0)


class WorkerRow(Base):
    """A process that does what is queued, alive until `lease_until`."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    lease_until: Mapped[datetime]


class FailureRow(Base):
    """A version that could not be read, named until it can be or a person dismisses it.

    Unless `again` it is not tried again before the document changes.
    """

    __tablename__ = "failures"

    source_id: Mapped[str] = _key_reference("sources.id")
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]
    formats_version: Mapped[int]
    reason: Mapped[str]
    location: Mapped[str] = mapped_column(default="")
    again: Mapped[bool] = mapped_column(default=False)
    dismissed: Mapped[bool] = mapped_column(default=False)
    failed_at: Mapped[datetime | None]


class ConversationRow(Base):
    """A tree of turns of one user; see `domain.Conversation`."""

    __tablename__ = "conversations"
    __table_args__ = (Index("ix_conversations_user_id", "user_id", "updated_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    title: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    shown_turn_id: Mapped[str] = mapped_column(default="")
    search: Mapped[dict[str, Any]] = mapped_column(default=dict)
    deleted_at: Mapped[datetime | None]


class TurnRow(Base):
    """A question and its answer with all its evidence; `process` is who is answering it."""

    __tablename__ = "turns"
    __table_args__ = (Unique("conversation_id", "position"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    position: Mapped[int]
    process: Mapped[str]
    question: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]
    standalone_question: Mapped[str]
    standalone_given: Mapped[bool] = mapped_column(default=False)
    answer: Mapped[str]
    error: Mapped[str]
    model: Mapped[str]
    sources: Mapped[list[Any]]
    citations: Mapped[list[Any]]
    unsupported_sentences: Mapped[int]
    timings_ms: Mapped[dict[str, Any]]
    usage: Mapped[dict[str, Any]]
    parent_id: Mapped[str | None]
    search: Mapped[dict[str, Any]] = mapped_column(default=dict)


class RatingRow(Base):
    """A person's thumb on a turn, with the reason; the turn holds what is needed to replay it."""

    __tablename__ = "ratings"

    turn_id: Mapped[str] = _key_reference("turns.id")
    user_id: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]
    reason: Mapped[str]
    comment: Mapped[str]
    created_at: Mapped[datetime]


class LabelRow(Base):
    """A person's judgement of a passage for a question.

    It refers to nothing: its text outlives the passage, so that the passage can be found again.
    """

    __tablename__ = "labels"
    __table_args__ = (Index("ix_labels_user_id", "user_id", "created_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    question: Mapped[str]
    passage_id: Mapped[str]
    document_id: Mapped[str]
    start: Mapped[int]
    end: Mapped[int]
    text: Mapped[str]
    grade: Mapped[int]
    origin: Mapped[str]
    created_at: Mapped[datetime]
