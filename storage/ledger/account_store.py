"""Accounts of people who sign in, their ended sessions, and the first administrator's link."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select, update
from sqlalchemy.orm import Session

from domain import Account, Role
from domain.errors import ConflictError, NotFoundError, SignInError
from domain.messages import _
from storage.ledger.access_tables import AccountRow, AdministratorLinkRow, EndedSessionRow
from storage.ledger.columns import from_row, shallow_dict
from storage.ledger.database import Store, scalars_with
from storage.ledger.word_filter import has_words

COOKIE_LIFETIME = timedelta(days=32)
"""Longer than Streamlit accepts its cookie (31 days), so that an ended session remains ended."""
_SEEN_WITHIN = timedelta(hours=1)


class StoredSession(NamedTuple):
    """The account of a session, if it exists, and whether the session was ended."""

    account: Account | None
    has_ended: bool


class Accounts(Store):
    """Accounts by id."""

    def session(self, account_id: str, digest: str, signed_in_at: datetime) -> StoredSession:
        """The account with this id, and whether the session with this digest was ended.

        It was also ended if the account was deleted after the sign-in, even if the person has got
        a new one.
        """
        was_ended = EndedSessionRow.digest == digest
        has_ended = exists().where(or_(was_ended, _was_deleted_since(account_id, signed_in_at)))
        query = select(AccountRow, has_ended).where(AccountRow.id == account_id)
        with self._database.read() as session:
            found = session.execute(query).one_or_none()
            if found is None:
                return StoredSession(None, session.get(EndedSessionRow, digest) is not None)
            return StoredSession(from_row(Account, found[0]), found[1])

    def find(self, account_id: str) -> Account | None:
        """The account with this id, if any."""
        return self._first(Account, select(AccountRow).where(AccountRow.id == account_id))

    def list(self) -> list[Account]:
        """All accounts by name, including disabled ones."""
        return self._each(Account, select(AccountRow).order_by(AccountRow.name, AccountRow.id))

    def group_sizes(self) -> Counter[str]:
        """The number of accounts by group, at their latest sign-in."""
        return Counter(chain.from_iterable(self._all(select(AccountRow.groups))))

    def page(self, words: str, *, limit: int, offset: int = 0) -> Sequence[Account]:
        """A page of the accounts by name whose name or e-mail address contains all the words."""
        query = select(AccountRow).where(_has_words(words))
        query = query.order_by(AccountRow.name, AccountRow.id)
        return self._each(Account, query.limit(limit).offset(offset))

    def count(self, words: str = "") -> int:
        """The number of accounts whose name or e-mail address contains all the words."""
        return self._count(select(func.count()).select_from(AccountRow).where(_has_words(words)))

    def with_ids(self, account_ids: Sequence[str]) -> dict[str, Account]:
        """The accounts with these ids; unknown ids are omitted."""
        with self._database.read() as session:
            rows = scalars_with(session, select(AccountRow), AccountRow.id, account_ids)
            return {row.id: from_row(Account, row) for row in rows}

    def put(self, account: Account) -> Account:
        """Store what a sign-in says about the person; returns the account as stored.

        An account that exists keeps its role, the time of its creation, and whether it is
        disabled; it keeps all of it if a later sign-in was stored before.

        Raises:
            SignInError: The account was deleted after this sign-in.
        """
        with self._database.write() as session:
            row = session.get(AccountRow, account.id)
            if row is None:
                _require_not_deleted_since(session, account)
                values = shallow_dict(account) | {"groups": sorted(account.groups)}
                row = AccountRow(**values)
                session.add(row)
            elif row.signed_in_at < account.signed_in_at:
                row.name, row.email = account.name, account.email
                row.email_verified = account.email_verified
                row.groups = sorted(account.groups)
                row.signed_in_at, row.seen_at = account.signed_in_at, account.seen_at
            return from_row(Account, row)

    def note_use(self, account: Account, now: datetime) -> None:
        """Record the time of use, at most once an hour because reads must not wait for writes."""
        if now - account.seen_at < _SEEN_WITHIN:
            return
        used = update(AccountRow).where(AccountRow.id == account.id)
        self._execute(used.values(seen_at=now), synced=False)

    def set_role(self, account_id: str, role: Role) -> None:
        """Change the role.

        Raises:
            NotFoundError: There is no such account.
            ConflictError: No administrator would remain.
        """
        with self._database.write() as session, change_account(session, account_id) as row:
            row.role = role

    def disable(self, account_id: str, now: datetime | None) -> None:
        """Disable the account, or enable it if there is no time; see `set_role` for the errors."""
        with self._database.write() as session, change_account(session, account_id) as row:
            row.disabled_at = now

    def has_administrator(self) -> bool:
        """Whether an account that is not disabled has the role of administrators."""
        with self._database.read() as session:
            return _has_administrator(session)

    def end_session(self, digest: str, until: datetime, now: datetime) -> None:
        """Record that the session has ended, until then; delete records whose time has passed."""
        with self._database.write() as session:
            session.execute(delete(EndedSessionRow).where(EndedSessionRow.until < now))
            session.merge(EndedSessionRow(digest=digest, until=until))

    def replace_link(self, digest: str, until: datetime) -> None:
        """Store the link for an administrator, and make the previous one invalid."""
        with self._database.write() as session:
            session.execute(delete(AdministratorLinkRow))
            session.add(AdministratorLinkRow(digest=digest, until=until))

    def remove_link(self) -> None:
        """Make the link for an administrator invalid."""
        self._execute(delete(AdministratorLinkRow))

    def use_link(self, digest: str, account_id: str, now: datetime) -> bool:
        """Make the account an administrator if the link is valid, which it then no longer is.

        While there is an administrator, no link is valid.
        """
        with self._database.write() as session:
            link = session.get(AdministratorLinkRow, digest)
            if link is None or link.until < now:
                return False
            session.delete(link)
            if _has_administrator(session):
                return False
            _account_row(session, account_id).role = Role.ADMIN
        return True


def _has_words(words: str) -> ColumnElement[bool]:
    return has_words(words, AccountRow.name, AccountRow.email)


def deletion_record(account_id: str, now: datetime) -> EndedSessionRow:
    """A record by which the sessions that began before the account's deletion are refused."""
    return EndedSessionRow(digest=account_id, until=now + COOKIE_LIFETIME)


def _was_deleted_since(account_id: str, signed_in_at: datetime) -> ColumnElement[bool]:
    until = signed_in_at + COOKIE_LIFETIME
    return and_(EndedSessionRow.digest == account_id, EndedSessionRow.until >= until)


def _require_not_deleted_since(session: Session, account: Account) -> None:
    was_deleted = _was_deleted_since(account.id, account.signed_in_at)
    if session.scalar(select(exists().where(was_deleted))):
        raise SignInError(_("This account was deleted: sign in again to get a new one."))


def _account_row(session: Session, account_id: str) -> AccountRow:
    row = session.get(AccountRow, account_id)
    if row is None:
        raise account_not_found(account_id)
    return row


def account_not_found(account_id: str) -> NotFoundError:
    """The error for an account that does not exist, or that the principal may not see."""
    return NotFoundError(_("There is no account {account_id}.").format(account_id=repr(account_id)))


@contextmanager
def change_account(session: Session, account_id: str) -> Iterator[AccountRow]:
    """Yield the row of an account for a change or its deletion, and check the result.

    Raises:
        NotFoundError: There is no such account.
        ConflictError: No administrator would remain; the error undoes the transaction.
    """
    row = _account_row(session, account_id)
    was_administrator = row.role == Role.ADMIN and row.disabled_at is None
    yield row
    session.flush()
    if was_administrator and not _has_administrator(session):
        raise ConflictError(
            _("This is the last administrator: give this role to another account first.")
        )


def _has_administrator(session: Session) -> bool:
    query = select(func.count()).where(
        AccountRow.role == Role.ADMIN, AccountRow.disabled_at.is_(None)
    )
    return bool(session.scalar(query))
