"""A user's list of conversations: paged, searched, renamed, deleted, and restored."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Select, delete, func, select

from domain import Conversation, Principal, SearchChoice, Turn
from domain.language.script import fold
from storage.ledger.conversation_store import owned_row
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ConversationRow, TurnRow
from storage.ledger.turn_records import conversation_of, fill_row, turn_of

_ROWS_AT_ONCE = 500


class ConversationList(Store):
    """Conversations; each call sees only those of its principal that are not deleted."""

    def page(self, principal: Principal, *, limit: int, offset: int = 0) -> list[Conversation]:
        """A page of the principal's conversations, most recently used first."""
        with self._database.read() as session:
            rows = session.scalars(_visible(principal).limit(limit).offset(offset))
            return [conversation_of(row) for row in rows]

    def count(self, principal: Principal) -> int:
        """The number of conversations."""
        return self._count(select(func.count()).select_from(_visible(principal).subquery()))

    def holding(self, principal: Principal, words: Iterable[str]) -> list[Conversation]:
        """Conversations that contain all words in title, questions, and answers, latest first.

        Words match parts of longer words, ignoring case and width.
        """
        # Folded in Python, because SQL handles neither width nor the case of all Unicode letters.
        folded_words = {fold(word) for word in words}
        with self._database.read() as session:
            rows = list(session.scalars(_visible(principal)))
            missing_words = {row.id: _missing_words(row.title, folded_words) for row in rows}
            for conversation_id, *texts in session.execute(_texts(principal)):
                if missing := missing_words.get(conversation_id):  # absent if just created
                    missing_words[conversation_id] = _missing_words("\n".join(texts), missing)
            return [conversation_of(row) for row in rows if not missing_words[row.id]]

    def whole(self, principal: Principal, conversation_id: str) -> tuple[Conversation, list[Turn]]:
        """A conversation with the turns of all its branches, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        query = select(TurnRow).where(TurnRow.conversation_id == conversation_id)
        with self._database.read() as session:
            row = owned_row(session, principal, conversation_id)
            turns = session.scalars(query.order_by(TurnRow.position))
            return conversation_of(row), [turn_of(turn) for turn in turns]

    def add(self, principal: Principal, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Store a conversation of the principal with its turns, oldest first."""
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
            session.flush()  # turns refer to the conversation
            session.add_all(_row(turn, position) for position, turn in enumerate(turns, start=1))

    def rename(self, principal: Principal, conversation_id: str, title: str) -> None:
        """Change the title.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned_row(session, principal, conversation_id).title = title

    def remember(self, principal: Principal, conversation_id: str, search: SearchChoice) -> None:
        """Store the search settings for its next question.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned_row(session, principal, conversation_id).search = asdict(search)

    def delete(self, principal: Principal, conversation_id: str, moment: datetime) -> None:
        """Hide a conversation until it is restored or purged.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned_row(session, principal, conversation_id).deleted_at = moment

    def restore(self, principal: Principal, conversation_id: str) -> None:
        """Undo a deletion; no effect if the conversation is not deleted.

        Raises:
            NotFoundError: The principal has no such conversation, or it was purged.
        """
        with self._database.write() as session:
            owned_row(session, principal, conversation_id, deleted=True).deleted_at = None

    def purge(self, before: datetime) -> int:
        """Permanently remove conversations deleted before that time and return their number."""
        deleted = ConversationRow.deleted_at < before
        with self._database.read() as session:
            # Usually there is nothing to purge, so avoid a write transaction.
            if not session.scalar(select(ConversationRow.id).where(deleted).limit(1)):
                return 0
        with self._database.write() as session:
            statement = delete(ConversationRow).where(deleted).returning(ConversationRow.id)
            return len(session.scalars(statement).all())


def _visible(principal: Principal) -> Select[ConversationRow]:
    return (
        select(ConversationRow)
        .where(ConversationRow.user_id == principal.user_id, ConversationRow.deleted_at.is_(None))
        .order_by(ConversationRow.updated_at.desc(), ConversationRow.id)
    )


def _texts(principal: Principal) -> Select[str, str, str]:
    ids = _visible(principal).with_only_columns(ConversationRow.id).order_by(None)
    return (
        select(TurnRow.conversation_id, TurnRow.question, TurnRow.answer)
        .where(TurnRow.conversation_id.in_(ids))
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )


def _missing_words(text: str, words: set[str]) -> set[str]:
    folded = fold(text)
    return {word for word in words if word not in folded}


def _row(turn: Turn, position: int) -> TurnRow:
    row = TurnRow(id=turn.id, position=position, process="")
    fill_row(row, turn)
    return row
