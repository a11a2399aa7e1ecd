"""What people asked, what they were answered, and how they judge it."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base, key_reference


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
    steps: Mapped[list[Any]] = mapped_column(default=list)


class RatingRow(Base):
    """A person's thumb on a turn, with the reason; the turn holds what is needed to replay it."""

    __tablename__ = "ratings"

    turn_id: Mapped[str] = key_reference("turns.id")
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
