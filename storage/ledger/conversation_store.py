"""Conversations and their trees of turns, visible only to their owner."""

import json
import os
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, exists, func, literal, select, true
from sqlalchemy.orm import Session

from domain import Conversation, Principal, SearchChoice, Turn, TurnState
from domain.errors import NotFoundError
from domain.language.script import fold
from domain.messages import _
from storage.ledger.columns import Text, from_row
from storage.ledger.database import Store, scalars_with
from storage.ledger.ledger_tables import ConversationRow, ConversationTextRow, TurnRow
from storage.ledger.postgresql import instr, json_each
from storage.processes import is_known_dead, number_here, process_name


def owned_row(
    session: Session,
    principal: Principal,
    conversation_id: str,
    *,
    deleted: bool = False,
    lock: bool = False,
) -> ConversationRow:
    """The row of one of the principal's conversations; `deleted` includes deleted ones.

    `lock` prevents other writers from changing its tree during the transaction; SQLite has only one
    writer anyway.

    Raises:
        NotFoundError: There is no such conversation.
    """
    row = session.get(ConversationRow, conversation_id, with_for_update=lock or None)
    if row is None or row.user_id != principal.user_id or (row.deleted_at and not deleted):
        raise NotFoundError(
            _(
                "There is no conversation {conversation_id}, or it was deleted: open another one or"
                " start a new one."
            ).format(conversation_id=conversation_id)
        )
    return row


def _no_turn(turn_id: str) -> NotFoundError:
    return NotFoundError(
        _("There is no turn {turn_id} in this conversation: reload it.").format(turn_id=turn_id)
    )


LATEST: Final = "latest"
"""A placeholder for the id of the last turn in the branch that is currently shown."""


@dataclass(frozen=True, slots=True)
class TurnTree:
    """The ids of all turns, oldest first, with their parents; None is the root.

    `shown_id` is the last turn of the shown branch, "" if there is no turn yet.
    """

    shown_id: str
    parents: Mapping[str, str | None]

    def resolve(self, turn_id: str | None) -> str | None:
        """The turn for an id or `LATEST`; None is the root.

        Raises:
            NotFoundError: There is no such turn.
        """
        if turn_id == LATEST:
            return self.shown_id or None
        if turn_id is not None and turn_id not in self.parents:
            raise _no_turn(turn_id)
        return turn_id

    def branch(self, last: str | None) -> list[str]:
        """The turns from the first one to `last`."""
        ids = []
        while last is not None:
            ids.append(last)
            last = self.parents[last]
        return ids[::-1]

    def versions(self) -> dict[str, tuple[str, ...]]:
        """For each turn, the turns with the same parent including itself, oldest first."""
        children = defaultdict(list)
        for turn_id, parent in self.parents.items():
            children[parent].append(turn_id)
        together = {parent: tuple(ids) for parent, ids in children.items()}
        return {turn_id: together[parent] for turn_id, parent in self.parents.items()}

    def newest_below(self, turn_id: str) -> str:
        """The newest of the turn and its descendants; it is a leaf."""
        descendants = {turn_id: None}
        for child, parent in self.parents.items():
            if parent in descendants:
                descendants[child] = None
        return next(reversed(descendants))


def all_turns(session: Session, conversation_id: str) -> list[Turn]:
    """The turns of all branches of a conversation, oldest first."""
    own = select(TurnRow).where(TurnRow.conversation_id == conversation_id)
    return [from_row(Turn, row) for row in session.scalars(own.order_by(TurnRow.position))]


def title_text(conversation_id: str, title: str) -> ConversationTextRow:
    """The row of a title; merge it to replace that of an earlier title."""
    return ConversationTextRow(conversation_id=conversation_id, turn_id="", text=fold(title))


def turn_text(turn: Turn) -> ConversationTextRow:
    """The row of a question and its answer; merge it to replace that of an earlier state."""
    text = fold(f"{turn.question}\n{turn.answer}")
    return ConversationTextRow(conversation_id=turn.conversation_id, turn_id=turn.id, text=text)


def contains_words(words: Iterable[str], withheld: Collection[str]) -> ColumnElement[bool]:
    """Whether a conversation contains all words, in its title or a turn that is not withheld.

    Words match parts of longer words, ignoring case and width. The time is proportional to the
    number of words and to the length of the principal's conversations. `withheld` are turn ids.
    """
    ids = json_each(json.dumps(sorted(withheld))).table_valued("value")
    is_searched = ConversationTextRow.turn_id.not_in(select(ids.c.value)) if withheld else true()
    return and_(true(), *(_contains(word, is_searched) for word in words))


def _contains(word: str, is_searched: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(
        ConversationTextRow.conversation_id == ConversationRow.id, has_word(word), is_searched
    )


def has_word(word: str) -> ColumnElement[bool]:
    """Whether a text contains the word."""
    return instr(ConversationTextRow.text, literal(fold(word), Text())) > 0


_LONGEST_ANSWER = timedelta(hours=1)


class Conversations(Store):
    """Conversations; each call sees only those of its principal.

    Deleted conversations are not visible, but an answer in progress is still stored.
    """

    def count_turns_by_state(self) -> dict[str, int]:
        """The number of stored turns of all principals for each state that occurs."""
        return self._pairs(select(TurnRow.state, func.count(TurnRow.id)).group_by(TurnRow.state))

    def create(
        self, principal: Principal, title: str, search: SearchChoice | None = None
    ) -> Conversation:
        """Create a conversation without turns; `search` is stored for its next question."""
        # Not synced, because the user is waiting, and later writes are synced anyway.
        with self._database.write(synced=False) as session:
            return from_row(Conversation, _add_conversation(session, principal, title, search))

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        """A conversation; raises NotFoundError if the principal has none with this id."""
        with self._database.read() as session:
            return from_row(Conversation, owned_row(session, principal, conversation_id))

    def start_turn(
        self,
        principal: Principal,
        conversation_id: str,
        question: str,
        *,
        parent_id: str | None = LATEST,
        search: SearchChoice | None = None,
    ) -> Turn:
        """Store a question as a running turn before it is answered, and show its branch.

        Args:
            principal: The owner of the conversation.
            conversation_id: The conversation.
            question: As typed.
            parent_id: The preceding turn; None for the first turn.
            search: The search settings for the question.

        Raises:
            NotFoundError: The principal has no such conversation, or the parent is not in it.
        """
        # If synced, the last of many concurrent questions would wait for a disk sync of each.
        with self._database.write(synced=False) as session:
            conversation = owned_row(session, principal, conversation_id, lock=True)
            return _add_turn(session, conversation, question, parent_id, search)

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
        """`create` with the `remembered` settings and `start_turn` in one transaction.

        Raises:
            NotFoundError: `parent_id` is set, but there are no turns yet.
        """
        with self._database.write(synced=False) as session:  # as in both methods
            conversation = _add_conversation(session, principal, title, remembered)
            return _add_turn(session, conversation, question, parent_id, search)

    def finish_turn(self, principal: Principal, turn: Turn) -> None:
        """Store the turn; may be called repeatedly with partial answers.

        Raises:
            NotFoundError: The principal has no such turn.
        """
        with self._database.write() as session:
            conversation = owned_row(session, principal, turn.conversation_id, deleted=True)
            row = _turn_row(session, conversation, turn.id)
            for name, value in asdict(turn).items():
                setattr(row, name, value)
            session.merge(turn_text(turn))
            conversation.updated_at = datetime.now(UTC)

    def turn(self, principal: Principal, conversation_id: str, turn_id: str) -> Turn:
        """A turn of any branch.

        Raises:
            NotFoundError: The principal has no such conversation, or the turn is not in it.
        """
        with self._database.read() as session:
            conversation = owned_row(session, principal, conversation_id)
            return from_row(Turn, _turn_row(session, conversation, turn_id))

    def turns(
        self,
        principal: Principal,
        conversation_id: str,
        *,
        until: str | None = LATEST,
        latest: int | None = None,
    ) -> list[Turn]:
        """The turns of a branch, or its `latest` ones, oldest first.

        `until` is the branch's last turn; None is the root, for which the list is empty.

        Raises:
            NotFoundError: The principal has no such conversation, or the turn is not in it.
        """
        with self._database.read() as session:
            tree = _tree(session, owned_row(session, principal, conversation_id))
            ids = tree.branch(tree.resolve(until))[-latest if latest else 0 :]
            rows = scalars_with(session, select(TurnRow), TurnRow.id, ids)
            turns = {row.id: from_row(Turn, row) for row in rows}
            return [turns[turn_id] for turn_id in ids]

    def versions(self, principal: Principal, conversation_id: str) -> dict[str, tuple[str, ...]]:
        """For each turn, the ids of its versions including itself, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.read() as session:
            return _tree(session, owned_row(session, principal, conversation_id)).versions()

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        """Show the branch of a turn, down to its newest descendant.

        Raises:
            NotFoundError: The principal has no such conversation, or the turn is not in it.
        """
        with self._database.write() as session:
            conversation = owned_row(session, principal, conversation_id, lock=True)
            tree = _tree(session, conversation)
            conversation.shown_turn_id = tree.newest_below(tree.resolve(turn_id) or "")

    def interrupt_running(self) -> int:
        """Mark running turns whose process is dead as incomplete and return their number.

        A process on another machine counts as dead after an hour.
        """
        now = datetime.now(UTC)
        with self._database.write() as session:
            running = session.scalars(select(TurnRow).where(TurnRow.state == TurnState.RUNNING))
            dead = [row for row in running if _is_dead(row, now)]
            for row in dead:
                row.state = TurnState.INCOMPLETE
                row.error = _("the process ended before the answer was complete: ask again")
            return len(dead)


def _add_conversation(
    session: Session, principal: Principal, title: str, search: SearchChoice | None
) -> ConversationRow:
    now = datetime.now(UTC)
    row = ConversationRow(
        id=uuid.uuid4().hex,
        user_id=principal.user_id,
        title=title,
        created_at=now,
        updated_at=now,
        shown_turn_id="",
        search=asdict(search or SearchChoice()),
    )
    session.add(row)
    session.flush()  # its text and its turns refer to it
    session.add(title_text(row.id, row.title))
    return row


def _add_turn(
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
    position = _next_position(session, turn)
    session.add(TurnRow(**asdict(turn), position=position, process=process_name()))
    session.merge(turn_text(turn))
    return turn


def _tree(session: Session, conversation: ConversationRow) -> TurnTree:
    query = (
        select(TurnRow.id, TurnRow.parent_id)
        .where(TurnRow.conversation_id == conversation.id)
        .order_by(TurnRow.position)
    )
    parents = dict(session.execute(query).all())
    return TurnTree(conversation.shown_turn_id, parents)


def _next_position(session: Session, turn: Turn) -> int:
    last = select(func.max(TurnRow.position)).where(TurnRow.conversation_id == turn.conversation_id)
    return (session.scalar(last) or 0) + 1


def _turn_row(session: Session, conversation: ConversationRow, turn_id: str) -> TurnRow:
    row = session.get(TurnRow, turn_id)
    if row is None or row.conversation_id != conversation.id:
        raise _no_turn(turn_id)
    return row


def _is_dead(row: TurnRow, now: datetime) -> bool:
    pid = number_here(row.process)
    if pid is None:
        return now - row.created_at > _LONGEST_ANSWER
    # A turn with our process id is from an earlier process, because ours has only just started.
    return pid == os.getpid() or is_known_dead(row.process)
