"""What the library holds: sources, documents and the passages of its indexes."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base, key_reference

_LISTED = (
    "source_id", "format", "script", "title", "key", "imported_at", "passages", "id", "revision",
)  # fmt: skip


class SourceRow(Base):
    """A directory, a Confluence space, a Drive folder, an upload box.

    `refresh_s` is how often it is brought up to date by itself; NULL is never. `mark` is where
    its next listing may begin.
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
    mark: Mapped[dict[str, Any]] = mapped_column(default=dict)


class SourceSecretRow(Base):
    """A secret that a source is read with, encrypted: `token` is worth nothing without the key."""

    __tablename__ = "source_secrets"

    source_id: Mapped[str] = key_reference("sources.id")
    name: Mapped[str] = mapped_column(primary_key=True)
    token: Mapped[str]


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
        Index("ix_documents_listed", *_LISTED),
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

    document_id: Mapped[str] = key_reference("documents.id")
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
    __table_args__ = (
        Index("ix_passages_id", "id"),
        # With the index, for SQLite would rather read all passages of it than those of a document.
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
    """A passage that may lie in an index's stores but does not count, until it is swept away."""

    __tablename__ = "discarded_passages"

    index_id: Mapped[str] = key_reference("indexes.id")
    passage_id: Mapped[str] = mapped_column(primary_key=True)
