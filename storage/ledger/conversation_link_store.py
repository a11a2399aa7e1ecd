"""The links with which people share their conversations."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from domain import Action, Conversation, Principal, Turn
from domain.errors import NotFoundError
from domain.messages import _
from storage.ledger.audit_store import add_event
from storage.ledger.columns import from_row
from storage.ledger.conversation_store import LATEST, TurnTree, all_turns, owned_row
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ConversationLinkRow, ConversationRow

_UNKNOWN = _(
    "There is no conversation with this link, or it is no longer shared: ask the person who sent"
    " it for a new one."
)


@dataclass(frozen=True, slots=True)
class ConversationLink:
    """The link to a conversation, which everyone who knows the token may follow."""

    conversation_id: str
    token: str
    created_at: datetime


class LinkedConversation(NamedTuple):
    """A shared conversation, the turns of all its branches, oldest first, and the shown ids."""

    conversation: Conversation
    turns: list[Turn]
    shown: list[str]


class ConversationLinks(Store):
    """The links of conversations that are not deleted, at most one of each.

    A link is stored as it is, because its owner may copy it again, and because whoever can read the
    ledger can read the conversations.
    """

    def add(self, principal: Principal, conversation_id: str, token: str) -> ConversationLink:
        """The link of the principal's conversation; it gets one with this token if it has none.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            row = _owned_link(session, principal, conversation_id)
            if row is None:
                now = datetime.now(UTC)
                row = ConversationLinkRow(
                    conversation_id=conversation_id, token=token, created_at=now
                )
                session.add(row)
                add_event(session, principal, Action.CONVERSATION_SHARED, conversation_id, {})
            return from_row(ConversationLink, row)

    def find(self, principal: Principal, conversation_id: str) -> ConversationLink | None:
        """The link of the principal's conversation, if any.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.read() as session:
            row = _owned_link(session, principal, conversation_id)
            return None if row is None else from_row(ConversationLink, row)

    def list(self, user_id: str) -> list[ConversationLink]:
        """The links of a user's conversations, the oldest first."""
        query = _conversations().with_only_columns(ConversationLinkRow)
        query = query.where(ConversationRow.user_id == user_id)
        return self._each(ConversationLink, query.order_by(ConversationLinkRow.created_at))

    def remove(self, principal: Principal, conversation_id: str) -> None:
        """Remove the link of the principal's conversation; no effect if it has none.

        Raises:
            NotFoundError: The principal has no such conversation.
        """
        with self._database.write() as session:
            row = _owned_link(session, principal, conversation_id)
            if row is not None:
                session.delete(row)
                add_event(session, principal, Action.CONVERSATION_UNSHARED, conversation_id, {})

    def follow(self, token: str) -> LinkedConversation:
        """The conversation with this link.

        Raises:
            NotFoundError: There is no such link, or its conversation was deleted.
        """
        query = _conversations().where(ConversationLinkRow.token == token)
        with self._database.read() as session:
            row = session.scalars(query).one_or_none()
            if row is None:
                raise NotFoundError(_UNKNOWN)
            turns = all_turns(session, row.id)
            tree = TurnTree(row.shown_turn_id, {turn.id: turn.parent_id for turn in turns})
            shown = tree.branch(tree.resolve(LATEST))
            return LinkedConversation(from_row(Conversation, row), turns, shown)


def _conversations() -> Select[ConversationRow]:
    shared = select(ConversationRow).join(ConversationLinkRow)
    return shared.where(ConversationRow.deleted_at.is_(None))


def _owned_link(
    session: Session, principal: Principal, conversation_id: str
) -> ConversationLinkRow | None:
    owned_row(session, principal, conversation_id)
    return session.get(ConversationLinkRow, conversation_id)
