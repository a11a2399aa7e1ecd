"""The ledger's tables about access: restrictions and readers, accounts, sessions, and the log."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from storage.ledger.columns import Base, key_reference


class RestrictionRow(Base):
    """A set of readers; see `storage.ledger.restriction_store`. The readers are rows of their own.

    `id` names a source or a collection, or is a digest of the readers.
    """

    __tablename__ = "restrictions"

    id: Mapped[str] = mapped_column(primary_key=True)


class RestrictionReaderRow(Base):
    """A user or group in a restriction."""

    __tablename__ = "restriction_readers"

    restriction_id: Mapped[str] = key_reference("restrictions.id")
    reader: Mapped[str] = mapped_column(primary_key=True)


class DocumentRestrictionRow(Base):
    """A restriction of a document; a document may have several.

    There is no foreign key to the document, because each new version replaces its row.
    """

    __tablename__ = "document_restrictions"

    document_id: Mapped[str] = mapped_column(primary_key=True)
    restriction_id: Mapped[str] = key_reference("restrictions.id")


class CounterRow(Base):
    """A number that increases with every change of what it is named after."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]


class AccountRow(Base):
    """A person who has signed in; see `domain.Account`."""

    __tablename__ = "accounts"
    __table_args__ = (Unique("issuer", "subject"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    issuer: Mapped[str]
    subject: Mapped[str]
    name: Mapped[str]
    email: Mapped[str]
    role: Mapped[str]
    groups: Mapped[list[Any]]
    created_at: Mapped[datetime]
    signed_in_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]
    email_verified: Mapped[bool] = mapped_column(default=False)


class EndedSessionRow(Base):
    """The digest of a session that was ended by its person; kept as long as its cookie lasts."""

    __tablename__ = "ended_sessions"

    digest: Mapped[str] = mapped_column(primary_key=True)
    until: Mapped[datetime]


class AdministratorLinkRow(Base):
    """The digest of the one-time link that makes a person an administrator; at most one."""

    __tablename__ = "administrator_links"

    digest: Mapped[str] = mapped_column(primary_key=True)
    until: Mapped[datetime]


class AuditEventRow(Base):
    """An event of the audit log; see `domain.AuditEvent`. It outlives what it names."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_at", "at"),
        Index("ix_audit_events_actor", "actor", "at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[datetime]
    actor: Mapped[str]
    actor_name: Mapped[str]
    api_key: Mapped[str]
    action: Mapped[str]
    object_kind: Mapped[str]
    object_id: Mapped[str]
    detail: Mapped[dict[str, Any]]
