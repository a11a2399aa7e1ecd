"""The audit log. Events are added and, when their retention is over, deleted; never changed.

The only exception is the deletion of an account, which erases the person's name from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, exists, or_, select, update
from sqlalchemy.orm import Session

from domain import Action, AuditEvent, Principal
from storage.ledger.access_tables import AccountRow, AuditEventRow
from storage.ledger.database import Store
from storage.ledger.ledger_tables import ApiKeyRow


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events to list; empty values select all.

    `actor` is an account's id, a user id, or the name at the time of the event; `before` is the id
    of an event.
    """

    since: datetime | None = None
    action: str = ""
    actor: str = ""
    before: int | None = None


class AuditLog(Store):
    """The events of the audit log."""

    def add(
        self, principal: Principal, action: Action, object_id: str, detail: Mapping[str, Any]
    ) -> None:
        """Add an event that happens now."""
        with self._database.write() as session:
            add_event(session, principal, action, object_id, detail)

    def require_writable(self, principal: Principal, action: Action) -> None:
        """Make sure that such an event can be added, for changes outside the ledger before it.

        Raises:
            BusyError: Another process has been writing for half a minute.
            StorageError: The ledger can't be written; for example, it was moved.
        """
        with self._database.write() as session, session.begin_nested() as attempt:
            add_event(session, principal, action, "", {})
            session.flush()
            attempt.rollback()

    def add_unless_recent(
        self,
        principal: Principal,
        action: Action,
        object_id: str,
        detail: Mapping[str, Any],
        within: timedelta,
    ) -> None:
        """Add an event, unless the actor caused such an event of the object within that time."""
        recent = exists().where(
            AuditEventRow.actor == principal.user_id,
            AuditEventRow.at > datetime.now(UTC) - within,
            AuditEventRow.action == action,
            AuditEventRow.object_id == object_id,
        )
        with self._database.read() as session:
            is_recent = session.scalar(select(recent))
        if not is_recent:
            self.add(principal, action, object_id, detail)

    def list(self, chosen: AuditFilter, limit: int) -> list[AuditEvent]:
        """At most `limit` of the chosen events, the newest first."""
        query = _chosen(chosen).order_by(AuditEventRow.id.desc()).limit(limit)
        return self._each(AuditEvent, query)

    def about(self, account_id: str) -> Sequence[AuditEvent]:
        """All events of which the account is the actor or the object, the oldest first."""
        is_account = AuditEventRow.object_kind == "account"
        is_object = is_account & (AuditEventRow.object_id == account_id)
        query = select(AuditEventRow).where((AuditEventRow.actor == account_id) | is_object)
        return self._each(AuditEvent, query.order_by(AuditEventRow.id))

    def purge(self, before: datetime) -> int:
        """Delete the events from before that time; returns their number."""
        return self._purge(AuditEventRow.id, AuditEventRow.at < before)


def add_event(
    session: Session,
    principal: Principal,
    action: Action,
    object_id: str,
    detail: Mapping[str, Any],
) -> None:
    """Add an event that happens now, in the transaction of the change that it reports."""
    row = AuditEventRow(
        at=datetime.now(UTC),
        actor=principal.user_id,
        actor_name=_name_of(session, principal),
        api_key=principal.api_key,
        action=action,
        object_kind=action.object_kind,
        object_id=object_id,
        detail=dict(detail),
    )
    session.add(row)


def erase_name(session: Session, account_id: str) -> None:
    """Erase the name of the account, and of its keys, from all events."""
    statement = update(AuditEventRow).where(AuditEventRow.actor == account_id)
    session.execute(statement.values(actor_name=""))


def _name_of(session: Session, principal: Principal) -> str:
    if principal.api_key:
        key = session.get(ApiKeyRow, principal.api_key)
        return key.name if key else ""
    account = session.get(AccountRow, principal.user_id)
    return account.name if account else ""


def _chosen(chosen: AuditFilter) -> Select[AuditEventRow]:
    query = select(AuditEventRow)
    if chosen.since is not None:
        query = query.where(AuditEventRow.at >= chosen.since)
    if chosen.action:
        query = query.where(AuditEventRow.action == chosen.action)
    if chosen.actor:
        names = (AuditEventRow.actor, AuditEventRow.actor_name)
        query = query.where(or_(*(name == chosen.actor for name in names)))
    if chosen.before is not None:
        query = query.where(AuditEventRow.id < chosen.before)
    return query
