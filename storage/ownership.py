"""Whose a conversation is: its row for its owner, and for nobody else."""

from sqlalchemy.orm import Session

from domain import Principal
from errors import NotFoundError
from storage.tables import ConversationRow


def owned(
    session: Session,
    principal: Principal,
    conversation_id: str,
    *,
    deleted: bool = False,
    lock: bool = False,
) -> ConversationRow:
    """The row of a conversation of the principal's, with `deleted` even if it is deleted.

    With `lock` no other writer changes its tree meanwhile (SQLite has one anyway).

    Raises:
        NotFoundError: There is no such conversation.
    """
    row = session.get(ConversationRow, conversation_id, with_for_update=lock or None)
    if row is None or row.user_id != principal.user_id or (row.deleted_at and not deleted):
        raise NotFoundError(
            f"There is no conversation {conversation_id}, or not any more: open another, or begin"
            " a new one."
        )
    return row
