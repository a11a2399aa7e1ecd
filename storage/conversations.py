"""Conversations and their trees of turns, each seen by the user who owns it."""

import os
import uuid
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from domain import Conversation, Principal, SearchChoice, Turn, TurnState
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.ownership import owned
from storage.processes import is_known_dead, number_here, process_name
from storage.tables import ConversationRow, TurnRow
from storage.turn_records import conversation_of, fill_row, turn_of
from storage.turn_tree import LATEST, TurnTree

_LONGEST_ANSWER = timedelta(hours=1)


class Conversations:
    """The conversations of all users; every call sees those of its principal alone.

    A deleted conversation is not found any more, save that an answer under way is still kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self, principal: Principal, title: str, search: SearchChoice | None = None
    ) -> Conversation:
        """Begin a conversation without turns, which remembers how it is to be searched."""
        row = _new_row(principal, title, search)
        conversation = conversation_of(row)
        # Whoever asks waits for this, and what follows it is synced.
        with self._database.write(synced=False) as session:
            session.add(row)
        return conversation

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        """The principal's conversation with that id.

        Raises:
            NotFoundError: There is none of theirs.
        """
        with self._database.read() as session:
            return conversation_of(owned(session, principal, conversation_id))

    def start_turn(
        self,
        principal: Principal,
        conversation_id: str,
        question: str,
        *,
        parent_id: str | None = LATEST,
        search: SearchChoice | None = None,
    ) -> Turn:
        """Keep a question before it is answered, as a running turn, and show its branch.

        Args:
            principal: Whose conversation it is.
            conversation_id: The conversation.
            question: As it was typed.
            parent_id: The turn it follows; None at the beginning.
            search: How it is going to be searched.

        Raises:
            NotFoundError: The principal has no such conversation, or it has no such parent.
        """
        # Of many who ask at once the last would wait for the disk as often as there are others.
        with self._database.write(synced=False) as session:
            conversation = owned(session, principal, conversation_id, lock=True)
            return _started(session, conversation, question, parent_id, search)

    def start_first_turn(
        self,
        principal: Principal,
        title: str,
        question: str,
        *,
        parent_id: str | None = LATEST,
        remembered: SearchChoice | None = None,
        search: SearchChoice | None = None,
    ) -> Turn:
        """`create`, which keeps what is remembered, and `start_turn` in one: both, or neither.

        Raises:
            NotFoundError: A parent is told: there is none yet.
        """
        with self._database.write(synced=False) as session:  # as in both
            conversation = _new_row(principal, title, remembered)
            session.add(conversation)
            session.flush()  # the turn refers to it
            return _started(session, conversation, question, parent_id, search)

    def finish_turn(self, principal: Principal, turn: Turn) -> None:
        """Keep everything the turn says now; a partial answer may be kept as it grows.

        Raises:
            NotFoundError: The principal has no such turn.
        """
        with self._database.write() as session:
            conversation = owned(session, principal, turn.conversation_id, deleted=True)
            fill_row(_turn_row(session, conversation, turn.id), turn)
            conversation.updated_at = datetime.now(UTC)

    def turn(self, principal: Principal, conversation_id: str, turn_id: str) -> Turn:
        """One turn of any branch.

        Raises:
            NotFoundError: The principal has no such conversation, or it has no such turn.
        """
        with self._database.read() as session:
            conversation = owned(session, principal, conversation_id)
            return turn_of(_turn_row(session, conversation, turn_id))

    def turns(
        self,
        principal: Principal,
        conversation_id: str,
        *,
        until: str | None = LATEST,
        latest: int | None = None,
    ) -> list[Turn]:
        """The turns of a branch, or its `latest` ones, from the first question on.

        `until` is the branch's last turn; of None, the beginning, there are no turns.

        Raises:
            NotFoundError: The principal has no such conversation, or it has no such turn.
        """
        with self._database.read() as session:
            tree = _tree(session, owned(session, principal, conversation_id))
            wanted = tree.branch(tree.resolve(until))[-latest if latest else 0 :]
            found = {
                row.id: turn_of(row)
                for group in in_groups(wanted)
                for row in session.scalars(select(TurnRow).where(TurnRow.id.in_(group)))
            }
            return [found[turn_id] for turn_id in wanted]

    def versions(self, principal: Principal, conversation_id: str) -> dict[str, tuple[str, ...]]:
        """For each turn the ids of its versions, itself among them, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.read() as session:
            return _tree(session, owned(session, principal, conversation_id)).versions()

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        """Show the branch of that turn, down to the newest turn that came of it.

        Raises:
            NotFoundError: The principal has no such conversation, or it has no such turn.
        """
        with self._database.write() as session:
            conversation = owned(session, principal, conversation_id, lock=True)
            tree = _tree(session, conversation)
            conversation.shown_turn_id = tree.newest_below(tree.resolve(turn_id) or "")

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


def _new_row(principal: Principal, title: str, search: SearchChoice | None) -> ConversationRow:
    now = datetime.now(UTC)
    return ConversationRow(
        id=uuid.uuid4().hex,
        user_id=principal.user_id,
        title=title,
        created_at=now,
        updated_at=now,
        search=asdict(search or SearchChoice()),
    )


def _started(
    session: Session,
    conversation: ConversationRow,
    question: str,
    parent_id: str | None,
    search: SearchChoice | None,
) -> Turn:
    turn = Turn(
        id=uuid.uuid4().hex,
        conversation_id=conversation.id,
        question=question,
        state=TurnState.RUNNING,
        created_at=datetime.now(UTC),
        parent_id=_tree(session, conversation).resolve(parent_id),
        search=search or SearchChoice(),
    )
    conversation.updated_at = turn.created_at
    conversation.shown_turn_id = turn.id
    row = TurnRow(id=turn.id, position=_next_position(session, turn), process=process_name())
    fill_row(row, turn)
    session.add(row)
    return turn


def _tree(session: Session, conversation: ConversationRow) -> TurnTree:
    wanted = (
        select(TurnRow.id, TurnRow.parent_id)
        .where(TurnRow.conversation_id == conversation.id)
        .order_by(TurnRow.position)
    )
    parents = dict(session.execute(wanted).all())
    return TurnTree(conversation.shown_turn_id, parents)


def _next_position(session: Session, turn: Turn) -> int:
    last = select(func.max(TurnRow.position)).where(TurnRow.conversation_id == turn.conversation_id)
    return (session.scalar(last) or 0) + 1


def _turn_row(session: Session, conversation: ConversationRow, turn_id: str) -> TurnRow:
    row = session.get(TurnRow, turn_id)
    if row is None or row.conversation_id != conversation.id:
        raise NotFoundError(f"There is no turn {turn_id} in this conversation: read it again.")
    return row


def _is_dead(row: TurnRow, now: datetime) -> bool:
    pid = number_here(row.process)
    if pid is None:
        return now - row.created_at > _LONGEST_ANSWER
    # Whoever has our own number was here before us: we have only just begun.
    return pid == os.getpid() or is_known_dead(row.process)
