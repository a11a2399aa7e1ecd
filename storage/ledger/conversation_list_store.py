"""A user's list of conversations: paged, searched, renamed, deleted, and restored."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Select, false, func, or_, select

from domain import Conversation, Principal, SearchChoice, Turn
from storage.ledger.columns import from_row
from storage.ledger.conversation_store import (
    all_turns,
    contains_words,
    has_word,
    owned_row,
    title_text,
    turn_text,
)
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ConversationRow, ConversationTextRow, TurnRow


class ConversationList(Store):
    """Conversations; each call sees only those of its principal that are not deleted."""

    def page(
        self,
        principal: Principal,
        words: Iterable[str] = (),
        withheld: Collection[str] = (),
        *,
        limit: int,
        offset: int = 0,
    ) -> list[Conversation]:
        """A page of the conversations that contain all words, most recently used first.

        Words match parts of longer words, ignoring case and width, in title, questions, and
        answers, except those of the `withheld` turns.
        """
        query = _visible(principal).where(contains_words(words, withheld))
        return self._each(Conversation, query.limit(limit).offset(offset))

    def count(
        self, principal: Principal, words: Iterable[str] = (), withheld: Collection[str] = ()
    ) -> int:
        """The number of conversations that contain all words; see `page`."""
        ids = _visible(principal).with_only_columns(ConversationRow.id).order_by(None)
        matches = ids.where(contains_words(words, withheld)).subquery()
        return self._count(select(func.count()).select_from(matches))

    def basis(self, principal: Principal, words: Iterable[str]) -> dict[str, frozenset[str]]:
        """`Turn.basis` by turn id, for the turns that contain any of the words."""
        query = (
            _visible(principal)
            .join(ConversationTextRow, ConversationTextRow.conversation_id == ConversationRow.id)
            .join(TurnRow, TurnRow.id == ConversationTextRow.turn_id)
            .where(or_(false(), *map(has_word, words)))
            .with_only_columns(TurnRow.id, TurnRow.basis)
        )
        return {id_: frozenset(basis) for id_, basis in self._pairs(query).items()}

    def whole(self, principal: Principal, conversation_id: str) -> tuple[Conversation, list[Turn]]:
        """A conversation with the turns of all its branches, oldest first.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.read() as session:
            row = owned_row(session, principal, conversation_id)
            return from_row(Conversation, row), all_turns(session, conversation_id)

    def add(self, principal: Principal, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Store a conversation of the principal with its turns, oldest first."""
        row = ConversationRow(**asdict(conversation) | {"user_id": principal.user_id})
        with self._database.write() as session:
            session.add(row)
            session.flush()  # turns refer to the conversation
            session.add_all(
                TurnRow(**asdict(turn), position=position, process="")
                for position, turn in enumerate(turns, start=1)
            )
            session.add_all([title_text(row.id, row.title), *map(turn_text, turns)])

    def rename(self, principal: Principal, conversation_id: str, title: str) -> None:
        """Change the title.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            owned_row(session, principal, conversation_id).title = title
            session.merge(title_text(conversation_id, title))

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

    def purge(self, deleted: datetime, inactive: datetime | None = None) -> int:
        """Permanently remove conversations, and return their number.

        Those deleted before the first time are removed, and those last changed before the second.
        """
        expired = ConversationRow.deleted_at < deleted
        if inactive is not None:
            expired |= ConversationRow.updated_at < inactive
        return self._purge(ConversationRow.id, expired)


def _visible(principal: Principal) -> Select[ConversationRow]:
    return (
        select(ConversationRow)
        .where(ConversationRow.user_id == principal.user_id, ConversationRow.deleted_at.is_(None))
        .order_by(ConversationRow.updated_at.desc(), ConversationRow.id)
    )
