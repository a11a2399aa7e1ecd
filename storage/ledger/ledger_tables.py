"""The ledger's tables: sources, documents, passages, imports, conversations, places, API keys."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from storage.ledger import access_tables as access_tables  # registered together with all tables
from storage.ledger import usage_tables as usage_tables
from storage.ledger.columns import Base as Base  # exported together with all tables
from storage.ledger.columns import MessageJson, MessageText, key_reference, reference


class ImportRow(Base):
    """An import run: queued, running, or ended; also the queue of the worker processes.

    `worker` holds the lease until `lease_until` and saves `progress`; `stop_request` is "pause"
    or "cancel" after a user's request. `options` are those of the run, such as the keys to which
    it is restricted. `counts` are the numbers of items by outcome, stored because some items of
    old runs are deleted. An interrupted run whose source can't be reached waits until `retry_at`;
    `attempts` counts consecutive interruptions of this kind, without any document read in between.
    """

    __tablename__ = "imports"
    __table_args__ = (Index("ix_imports_state", "state", "started_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = reference("sources.id")
    user_id: Mapped[str]
    state: Mapped[str]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    message: Mapped[str] = mapped_column(MessageText, default="")
    seconds: Mapped[float] = mapped_column(default=0.0)
    passages_embedded: Mapped[int] = mapped_column(default=0)
    kind: Mapped[str] = mapped_column(default="import")
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    stop_request: Mapped[str] = mapped_column("wish", default="")
    worker: Mapped[str] = mapped_column(default="")
    lease_until: Mapped[datetime | None]
    progress: Mapped[dict[str, Any]] = mapped_column(MessageJson, default=dict)
    counts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    retry_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)


class ImportItemRow(Base):
    """A document of an import and its outcome; ids follow the processing order."""

    __tablename__ = "import_items"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    import_id: Mapped[str] = reference("imports.id")
    key: Mapped[str]
    location: Mapped[str]
    outcome: Mapped[str]
    reason: Mapped[str] = mapped_column(MessageText)
    passages: Mapped[int]
    pages: Mapped[int] = mapped_column(default=0)
    characters: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[int] = mapped_column(default=0)
    title: Mapped[str] = mapped_column(default="")


class ImportPortionRow(Base):
    """Documents of a running import that one worker reads: `worker`, or "" if none does.

    Each of `documents` has the fields of a `DocumentRef`. Once it `was_taken`, only the worker of
    the import takes it again.
    """

    __tablename__ = "import_portions"

    import_id: Mapped[str] = key_reference("imports.id")
    number: Mapped[int] = mapped_column(primary_key=True)
    documents: Mapped[list[Any]] = mapped_column(MessageJson)
    worker: Mapped[str] = mapped_column(default="")
    was_taken: Mapped[bool] = mapped_column(default=False)


class WorkerRow(Base):
    """A worker process, considered alive until `lease_until`."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    lease_until: Mapped[datetime]


class FailureRow(Base):
    """A document version that could not be read, reported until it is readable or dismissed.

    Unless `again`, it is not retried before the document changes. Without `is_error`, it is not
    reported, because nothing is wrong with the document, such as a picture without text.
    """

    __tablename__ = "failures"

    source_id: Mapped[str] = key_reference("sources.id")
    key: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]
    formats_version: Mapped[int]
    reason: Mapped[str] = mapped_column(MessageText)
    location: Mapped[str] = mapped_column(default="")
    again: Mapped[bool] = mapped_column(default=False)
    dismissed: Mapped[bool] = mapped_column(default=False)
    failed_at: Mapped[datetime | None]
    title: Mapped[str] = mapped_column(default="")
    is_error: Mapped[bool] = mapped_column(default=True)


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
    """A question and its answer with all evidence; `process` is the process that answers it."""

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
    error: Mapped[str] = mapped_column(MessageText)
    model: Mapped[str]
    sources: Mapped[list[Any]] = mapped_column(MessageJson)
    citations: Mapped[list[Any]]
    unsupported_sentences: Mapped[int]
    timings_ms: Mapped[dict[str, Any]]
    usage: Mapped[dict[str, Any]]
    parent_id: Mapped[str | None]
    search: Mapped[dict[str, Any]] = mapped_column(default=dict)
    steps: Mapped[list[Any]] = mapped_column(MessageJson, default=list)
    reasoning: Mapped[str] = mapped_column(default="")
    basis: Mapped[list[Any]] = mapped_column(default=list)


class ConversationTextRow(Base):
    """A title, or the question and answer of a turn, as words are searched in it.

    `turn_id` is "" for the title. The texts are stored because SQL unifies neither the width nor
    the case of all Unicode letters, and apart from the turns because the rows of those are long.
    """

    __tablename__ = "conversation_texts"

    conversation_id: Mapped[str] = key_reference("conversations.id")
    turn_id: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class ConversationLinkRow(Base):
    """The link with which the owner shares a conversation; see `ConversationLink`."""

    __tablename__ = "conversation_links"

    conversation_id: Mapped[str] = key_reference("conversations.id")
    token: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]


class RatingRow(Base):
    """A user's rating of a turn, with the reason; the turn has all data needed to repeat it."""

    __tablename__ = "ratings"

    turn_id: Mapped[str] = key_reference("turns.id")
    user_id: Mapped[str] = mapped_column(primary_key=True)
    grade: Mapped[int]
    reason: Mapped[str]
    comment: Mapped[str]
    created_at: Mapped[datetime]


class LabelRow(Base):
    """A user's judgment of a passage for a question.

    It has no foreign keys: it must outlive the passage, which is found again by the text.
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


class PlaceRow(Base):
    """A place of a catalog; its text is a document. See `domain.Place`.

    `catalogue_id` is the document's source; `ratings` is the number of ratings that `rating` is
    based on. `aspects` contains, by aspect, the numbers of reviews that praise and criticize it.
    """

    __tablename__ = "places"
    __table_args__ = (Index("ix_places_catalogue_id", "catalogue_id", "place_id"),)

    document_id: Mapped[str] = key_reference("documents.id")
    catalogue_id: Mapped[str]
    place_id: Mapped[str]
    title: Mapped[str]
    types: Mapped[list[Any]]
    fields: Mapped[dict[str, Any]]
    facts: Mapped[dict[str, Any]]
    rating: Mapped[float | None]
    ratings: Mapped[int]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    aspects: Mapped[dict[str, Any]]


class UserRow(Base):
    """A person whose preferences `owner_id` stores; see `domain.Person`."""

    __tablename__ = "users"

    owner_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    preferences: Mapped[dict[str, Any]]
    language: Mapped[str]


class ApiKeyRow(Base):
    """An API key, stored as the digest of its secret; see `domain.ApiKey`."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    user_id: Mapped[str]
    scopes: Mapped[list[Any]]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    groups: Mapped[list[Any]]


_LISTED = (
    "source_id", "format", "script", "title", "key", "imported_at", "passages", "id", "revision",
)  # fmt: skip


class SourceRow(Base):
    """A source, such as a directory, a Confluence space, a Drive folder, or an upload box.

    `refresh_s` is the interval of automatic refreshes, NULL for never. `cursor` is where the next
    listing may start.
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
    cursor: Mapped[dict[str, Any]] = mapped_column("mark", default=dict)


class SourceSecretRow(Base):
    """An encrypted secret of a source; `token` is useless without the encryption key."""

    __tablename__ = "source_secrets"

    source_id: Mapped[str] = key_reference("sources.id")
    name: Mapped[str] = mapped_column(primary_key=True)
    token: Mapped[str]


class DocumentRow(Base):
    """A document in its current version; `revision` counts its versions.

    Statistics about its text are stored for the library's table: `characters`, the predominant
    `script`, the number of `passages`, and the length of the longest passage in characters.

    `ix_documents_listed` covers all columns by which lists are filtered and sorted, because the
    rows themselves are twenty times as wide. In PostgreSQL, an entry of an index has at most
    2.7 kB, but long values are stored apart from the rows.
    """

    __tablename__ = "documents"
    __table_args__ = (
        Unique("source_id", "key"),
        Index("ix_documents_listed", *_LISTED).ddl_if(dialect="sqlite"),
        Index("ix_documents_source_id", "source_id").ddl_if(dialect="postgresql"),
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
    warnings: Mapped[list[Any]] = mapped_column(MessageJson)
    details: Mapped[dict[str, Any]]
    imported_at: Mapped[datetime]
    revision: Mapped[int]
    characters: Mapped[int] = mapped_column(default=0)
    script: Mapped[str] = mapped_column(default="")
    passages: Mapped[int] = mapped_column(default=0)
    longest_passage: Mapped[int] = mapped_column(default=0)


class DocumentTextRow(Base):
    """A document's text, in its own table because listing documents must not read megabytes."""

    __tablename__ = "document_texts"

    document_id: Mapped[str] = key_reference("documents.id")
    text: Mapped[str]


class IndexRow(Base):
    """An index and how it was built; one is active, and one may be building."""

    __tablename__ = "indexes"

    id: Mapped[str] = mapped_column(primary_key=True)
    spec: Mapped[dict[str, Any]]
    fingerprint: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]


class PassageRow(Base):
    """A passage of an index.

    Its text is stored even though its span determines it, because showing five passages must not
    read five entire documents.
    """

    __tablename__ = "passages"
    __table_args__ = (
        Index("ix_passages_id", "id"),
        # Includes the index id; otherwise, SQLite would read all passages of the index.
        Index("ix_passages_document_id", "document_id", "index_id", "ordinal"),
    )

    index_id: Mapped[str] = key_reference("indexes.id")
    id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    ordinal: Mapped[int]
    start: Mapped[int]
    end: Mapped[int]
    page: Mapped[int | None]
    heading_path: Mapped[list[Any]]
    text: Mapped[str]


class DiscardedPassageRow(Base):
    """A passage that may be in an index's stores but is not visible; garbage to be collected."""

    __tablename__ = "discarded_passages"

    index_id: Mapped[str] = key_reference("indexes.id")
    passage_id: Mapped[str] = mapped_column(primary_key=True)
