"""Conversations and their turns, each seen by the user who owns it."""

import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from domain import (
    Citation,
    CitationState,
    Conversation,
    Explanation,
    FoundPassage,
    Move,
    Principal,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Source,
    Turn,
    TurnState,
)
from errors import NotFoundError
from storage.database import Database
from storage.tables import ConversationRow, TurnRow

_LONGEST_ANSWER = timedelta(hours=1)


class Conversations:
    """The conversations of all users; every call sees those of its principal alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, principal: Principal, title: str) -> Conversation:
        """Begin a conversation without turns."""
        now = datetime.now(UTC)
        row = ConversationRow(
            id=uuid.uuid4().hex,
            user_id=principal.user_id,
            title=title,
            created_at=now,
            updated_at=now,
        )
        conversation = _conversation(row)
        with self._database.write() as session:
            session.add(row)
        return conversation

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        """The principal's conversation with that id.

        Raises:
            NotFoundError: There is none of theirs.
        """
        with self._database.read() as session:
            return _conversation(_owned(session, principal, conversation_id))

    def start_turn(self, principal: Principal, conversation_id: str, question: str) -> Turn:
        """Keep a question before it is answered, as a running turn.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        turn = Turn(
            id=uuid.uuid4().hex,
            conversation_id=conversation_id,
            question=question,
            state=TurnState.RUNNING,
            created_at=datetime.now(UTC),
        )
        with self._database.write() as session:
            _owned(session, principal, conversation_id).updated_at = turn.created_at
            position = session.scalar(
                select(func.max(TurnRow.position)).where(TurnRow.conversation_id == conversation_id)
            )
            row = TurnRow(id=turn.id, position=(position or 0) + 1, process=_process())
            _fill(row, turn)
            session.add(row)
        return turn

    def finish_turn(self, principal: Principal, turn: Turn) -> None:
        """Keep everything the turn says now; a partial answer may be kept as it grows.

        Raises:
            NotFoundError: The principal has no such turn.
        """
        with self._database.write() as session:
            conversation = _owned(session, principal, turn.conversation_id)
            row = session.get(TurnRow, turn.id)
            if row is None or row.conversation_id != conversation.id:
                raise NotFoundError(f"there is no turn {turn.id} in this conversation")
            _fill(row, turn)
            conversation.updated_at = datetime.now(UTC)

    def turns(
        self, principal: Principal, conversation_id: str, *, latest: int | None = None
    ) -> list[Turn]:
        """The turns of a conversation, or its `latest` ones, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        wanted = (
            select(TurnRow)
            .where(TurnRow.conversation_id == conversation_id)
            .order_by(TurnRow.position.desc())
            .limit(latest)
        )
        with self._database.read() as session:
            _owned(session, principal, conversation_id)
            return [_turn(row) for row in session.scalars(wanted)][::-1]

    def interrupt_running(self) -> int:
        """Mark turns whose process is dead as incomplete; how many.

        A turn of another machine counts as dead after an hour.
        """
        now = datetime.now(UTC)
        with self._database.write() as session:
            running = session.scalars(select(TurnRow).where(TurnRow.state == TurnState.RUNNING))
            dead = [row for row in running if _is_dead(row, now)]
            for row in dead:
                row.state = TurnState.INCOMPLETE
                row.error = "the process ended before the answer did: ask again"
            return len(dead)

    def list(self, principal: Principal, *, limit: int = 50, offset: int = 0) -> list[Conversation]:
        """The principal's conversations, the one with the latest turn first."""
        wanted = (
            select(ConversationRow)
            .where(ConversationRow.user_id == principal.user_id)
            .order_by(ConversationRow.updated_at.desc(), ConversationRow.id)
        )
        with self._database.read() as session:
            rows = session.scalars(wanted.limit(limit).offset(offset))
            return [_conversation(row) for row in rows]


def _process() -> str:
    return f"{socket.gethostname()}/{os.getpid()}"


def _is_dead(row: TurnRow, now: datetime) -> bool:
    host, _, pid = row.process.rpartition("/")
    # On Windows os.kill ends what it asks about.
    if host != socket.gethostname() or os.name == "nt":
        return now - row.created_at > _LONGEST_ANSWER
    # Whoever has our own number was here before us: we have only just begun.
    return int(pid) == os.getpid() or not _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _owned(session: Session, principal: Principal, conversation_id: str) -> ConversationRow:
    row = session.get(ConversationRow, conversation_id)
    if row is None or row.user_id != principal.user_id:
        raise NotFoundError(f"there is no conversation {conversation_id}")
    return row


def _conversation(row: ConversationRow) -> Conversation:
    return Conversation(
        id=row.id,
        user_id=row.user_id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        shown_turn_id=row.shown_turn_id or "",
        search=search_choice(row.search or {}),
        deleted_at=row.deleted_at,
    )


_TURN_FIELDS = (
    "conversation_id",
    "question",
    "state",
    "created_at",
    "standalone_question",
    "answer",
    "error",
    "model",
    "unsupported_sentences",
    "parent_id",
)


def _fill(row: TurnRow, turn: Turn) -> None:
    for name in _TURN_FIELDS:
        setattr(row, name, getattr(turn, name))
    row.sources = [asdict(source) for source in turn.sources]
    row.citations = [asdict(citation) for citation in turn.citations]
    row.timings_ms = dict(turn.timings_ms)
    row.usage = dict(turn.usage)
    row.search = asdict(turn.search)


def _turn(row: TurnRow) -> Turn:
    plain = {name: getattr(row, name) for name in _TURN_FIELDS}
    return Turn(
        id=row.id,
        **(plain | {"state": TurnState(row.state)}),
        sources=tuple(_source(source) for source in row.sources),
        citations=tuple(_citation(citation) for citation in row.citations),
        timings_ms=row.timings_ms,
        usage=row.usage,
        search=search_choice(row.search),
    )


def search_choice(stored: Mapping[str, Any]) -> SearchChoice:
    """What `asdict` made of a choice, as it was; {} is the choice of nothing."""
    scope = {name: _as_told(value) for name, value in stored.get("scope", {}).items()}
    mode = stored.get("mode")
    return SearchChoice(
        scope=Scope(**scope),
        mode=mode and SearchMode(mode),
        k=stored.get("k"),
        score_threshold=stored.get("score_threshold"),
    )


def _as_told(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _source(stored: Mapping[str, Any]) -> Source:
    # Turns stored before there were explanations have none; neither had they widened sources.
    why = stored.get("why")
    later = {
        "why": why and _explanation(why),
        "hits": tuple(FoundPassage(*hit) for hit in stored.get("hits", ())),
    }
    return Source(**_with_heading_path(stored) | later)


def _explanation(stored: Mapping[str, Any]) -> Explanation:
    return Explanation(
        score=stored["score"],
        parts=tuple(ScorePart(*part) for part in stored["parts"]),
        matched_words=tuple(stored["matched_words"]),
        move=stored["move"] and Move(*stored["move"]),
        condition=stored["condition"],
    )


def _citation(stored: Mapping[str, Any]) -> Citation:
    return Citation(**_with_heading_path(stored) | {"state": CitationState(stored["state"])})


def _with_heading_path(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "heading_path": tuple(stored["heading_path"])}
