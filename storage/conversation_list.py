"""The conversations of a person as a list: paged, searched, changed, deleted for a while."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Select, delete, func, select

from domain import Conversation, Principal, SearchChoice, Turn
from language.normalise import fold
from storage.database import Database
from storage.ownership import owned
from storage.tables import ConversationRow, TurnRow
from storage.turn_records import conversation_of, fill_row, turn_of

_ROWS_AT_ONCE = 500


class ConversationList:
    """Every call sees the conversations of its principal alone, and no deleted ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, principal: Principal, *, limit: int, offset: int = 0) -> list[Conversation]:
        """The conversations, the one with the latest turn first."""
        with self._database.read() as session:
            rows = session.scalars(_listed(principal).limit(limit).offset(offset))
            return [conversation_of(row) for row in rows]

    def count(self, principal: Principal) -> int:
        """How many conversations there are."""
        with self._database.read() as session:
            wanted = select(func.count()).select_from(_listed(principal).subquery())
            return session.scalar(wanted) or 0

    def holding(self, principal: Principal, words: Iterable[str]) -> list[Conversation]:
        """Those in whose title, questions and answers all the words occur, the latest first.

        Words occur as parts of longer ones, in any case and width.
        """
        # Folded here and not by the database: SQL knows neither width nor Unicode's cases.
        wanted = {fold(word) for word in words}
        with self._database.read() as session:
            rows = list(session.scalars(_listed(principal)))
            sought = {row.id: _not_in(row.title, wanted) for row in rows}
            for conversation_id, *texts in session.execute(_texts(principal)):
                if missing := sought.get(conversation_id):  # or it began only just now
                    sought[conversation_id] = _not_in("\n".join(texts), missing)
            return [conversation_of(row) for row in rows if not sought[row.id]]

    def whole(self, principal: Principal, conversation_id: str) -> tuple[Conversation, list[Turn]]:
        """A conversation with the turns of all its branches, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        wanted = select(TurnRow).where(TurnRow.conversation_id == conversation_id)
        with self._database.read() as session:
            row = owned(session, principal, conversation_id)
            turns = session.scalars(wanted.order_by(TurnRow.position))
            return conversation_of(row), [turn_of(turn) for turn in turns]

    def add(self, principal: Principal, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Keep a conversation as the principal's own, with its turns, oldest first."""
        row = ConversationRow(
            id=conversation.id,
            user_id=principal.user_id,
            title=conversation.title,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            shown_turn_id=conversation.shown_turn_id,
            search=asdict(conversation.search),
        )
        with self._database.write() as session:
            session.add(row)
            session.flush()  # turns refer to it
            session.add_all(_row(turn, position) for position, turn in enumerate(turns, start=1))

    def rename(self, principal: Principal, conversation_id: str, title: str) -> None:
        """Give it another title.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned(session, principal, conversation_id).title = title

    def remember(self, principal: Principal, conversation_id: str, search: SearchChoice) -> None:
        """Keep how its next question is searched.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned(session, principal, conversation_id).search = asdict(search)

    def delete(self, principal: Principal, conversation_id: str, moment: datetime) -> None:
        """Hide it from then on, until it is restored or purged.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned(session, principal, conversation_id).deleted_at = moment

    def restore(self, principal: Principal, conversation_id: str) -> None:
        """Take its deletion back; one that is not deleted stays as it is.

        Raises:
            NotFoundError: The principal has no such conversation, or it was purged.
        """
        with self._database.write() as session:
            owned(session, principal, conversation_id, deleted=True).deleted_at = None

    def purge(self, before: datetime) -> int:
        """Remove for good what anybody deleted before that moment; how many."""
        deleted = ConversationRow.deleted_at < before
        with self._database.read() as session:
            # Most often there is nothing, and the writers' queue is spared.
            if not session.scalar(select(ConversationRow.id).where(deleted).limit(1)):
                return 0
        with self._database.write() as session:
            gone = delete(ConversationRow).where(deleted).returning(ConversationRow.id)
            return len(session.scalars(gone).all())


def _listed(principal: Principal) -> Select[ConversationRow]:
    return (
        select(ConversationRow)
        .where(ConversationRow.user_id == principal.user_id, ConversationRow.deleted_at.is_(None))
        .order_by(ConversationRow.updated_at.desc(), ConversationRow.id)
    )


def _texts(principal: Principal) -> Select[str, str, str]:
    owned = _listed(principal).with_only_columns(ConversationRow.id).order_by(None)
    return (
        select(TurnRow.conversation_id, TurnRow.question, TurnRow.answer)
        .where(TurnRow.conversation_id.in_(owned))
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )


def _not_in(text: str, words: set[str]) -> set[str]:
    folded = fold(text)
    return {word for word in words if word not in folded}


def _row(turn: Turn, position: int) -> TurnRow:
    row = TurnRow(id=turn.id, position=position, process="")
    fill_row(row, turn)
    return row
