"""Deletes an account with everything that belongs to it, in one transaction."""

from datetime import datetime

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from domain import Action, Principal
from domain.people import email_reader, user_reader
from storage.ledger.access_tables import AccountRow, RestrictionReaderRow
from storage.ledger.account_store import change_account, deletion_record
from storage.ledger.audit_store import add_event, erase_name
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ApiKeyRow, ConversationRow, LabelRow, RatingRow, UserRow
from storage.ledger.restriction_store import advance
from storage.ledger.usage_tables import (
    ImportTurnRow,
    RecentQuestionRow,
    UploadedFileRow,
    UploadRow,
)

_OWNED = {
    "conversations": (ConversationRow, ConversationRow.user_id),
    "ratings": (RatingRow, RatingRow.user_id),
    "labels": (LabelRow, LabelRow.user_id),
    "preferences": (UserRow, UserRow.owner_id),
    "api_keys": (ApiKeyRow, ApiKeyRow.user_id),
    "import_turns": (ImportTurnRow, ImportTurnRow.user_id),
    "recent_questions": (RecentQuestionRow, RecentQuestionRow.user_id),
    "uploads": (UploadRow, UploadRow.user_id),
    "uploaded_files": (UploadedFileRow, UploadedFileRow.user_id),
}
"""By the name in the audit log, the rows that belong to a user."""


class AccountErasure(Store):
    """Deletes accounts. Imports and the audit log keep the account's id, without the name."""

    def erase(self, principal: Principal, account_id: str, now: datetime) -> None:
        """Delete the account, its conversations, ratings, labels, preferences, and API keys.

        It is no longer named as a reader of sources and collections. Its sessions are refused from
        now on. The files of its conversations belong to lost conversations from then on.

        Raises:
            NotFoundError: There is no such account.
            ConflictError: It is the last administrator.
        """
        with self._database.write() as session, change_account(session, account_id) as row:
            _erase_reader(session, row)
            counts = {name: _erase_rows(session, account_id, name) for name in _OWNED}
            session.delete(row)
            session.merge(deletion_record(account_id, now))
            erase_name(session, account_id)
            add_event(session, principal, Action.ACCOUNT_DELETED, account_id, counts)


def _erase_rows(session: Session, account_id: str, name: str) -> int:
    row_type, owner = _OWNED[name]
    number = session.scalar(select(func.count()).select_from(row_type).where(owner == account_id))
    session.execute(delete(row_type).where(owner == account_id))
    return number or 0


def _erase_reader(session: Session, account: AccountRow) -> None:
    """Remove the person from the lists of readers that people have made.

    Mirrored permissions are those of the source, which may name anyone. An address stays if it is
    not verified, because it may be somebody else's, or if another account has it, too.
    """
    names = [user_reader(account.id)]
    others = session.scalars(select(AccountRow.email).where(AccountRow.id != account.id))
    own = email_reader(account.email)
    if account.email and account.email_verified and own not in map(email_reader, others):
        names.append(own)
    restriction = RestrictionReaderRow.restriction_id
    by_people = or_(restriction.startswith("source:"), restriction.startswith("collection:"))
    named = RestrictionReaderRow.reader.in_(names)
    session.execute(delete(RestrictionReaderRow).where(named, by_people))
    advance(session)
