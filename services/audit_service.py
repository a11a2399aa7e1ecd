"""The audit log: records who changed what, and shows it to administrators."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from domain import Action, AuditEvent, Principal, Role
from domain.errors import InputError
from domain.messages import _
from services.access import require_role
from storage.ledger.audit_store import AuditFilter, AuditLog
from storage.ledger.source_store import StoredSource

AUDIT_RETENTION = timedelta(days=365)
MAX_EVENTS = 200
_REFUSALS = timedelta(hours=1)
_NAMES = 20


@dataclass(frozen=True)
class AuditService:
    """Events are recorded right after a change, in a transaction of their own."""

    log: AuditLog
    retention: timedelta = AUDIT_RETENTION

    def record(self, principal: Principal, action: Action, object_id: str, **detail: Any) -> None:
        """Record an event that happens now.

        The detail may contain ids, counts, and names of settings, sources, and documents, but
        neither secrets nor the texts of conversations.

        Raises:
            BusyError: Another process has been writing for half a minute.
            StorageError: The ledger can't be written.
        """
        self.log.add(principal, action, object_id, detail)

    def record_source(self, principal: Principal, action: Action, source: StoredSource) -> None:
        """Record an event about a source; raises like `record`."""
        self.record(principal, action, source.id, **_source_detail(source))

    def record_documents(
        self, principal: Principal, action: Action, source: StoredSource, keys: Collection[str]
    ) -> None:
        """Record an event about documents of a source, without names of private files."""
        named = {} if source.conversation_id else {"keys": sorted(keys)[:_NAMES]}
        detail = {**_source_detail(source), "documents": len(keys), **named}
        self.record(principal, action, source.id, **detail)

    def require_writable(self, principal: Principal, action: Action) -> None:
        """Make sure that such an event can be recorded; for changes that are not in the ledger.

        Raises:
            BusyError: See `record`.
            StorageError: See `record`.
        """
        self.log.require_writable(principal, action)

    def record_refusal(self, principal: Principal, account_id: str, reason: str) -> None:
        """Record a refused sign-in, at most once an hour, because a browser repeats its calls."""
        self.log.add_unless_recent(
            principal, Action.SIGN_IN_REFUSED, account_id, {"reason": reason}, _REFUSALS
        )

    def list(
        self,
        principal: Principal,
        *,
        since: datetime | None = None,
        action: str = "",
        actor: str = "",
        before: int | None = None,
        limit: int = 50,
    ) -> Sequence[AuditEvent]:
        """The latest events, the newest first.

        Args:
            principal: An administrator.
            since: Select events from then on.
            action: Select events with this `Action`; "" selects all.
            actor: Select events of this account or user id, or name at the time; "" selects all.
            before: Select events older than the one with this id, for the next page.
            limit: The maximum number of events, from 1 to `MAX_EVENTS`.

        Raises:
            ForbiddenError: The principal is not an administrator.
            InputError: There is no such action, or the limit is out of range.
        """
        require_role(principal, Role.ADMIN)
        _check(action, limit)
        return self.log.list(AuditFilter(since, action, actor, before), limit)

    def purge(self, now: datetime) -> int:
        """Delete the events whose retention is over; returns their number."""
        return self.log.purge(now.astimezone(UTC) - self.retention)


def _source_detail(source: StoredSource) -> Mapping[str, Any]:
    """What an event says about a source; the title of a conversation is private."""
    if source.conversation_id:
        return {"kind": source.kind, "conversation_id": source.conversation_id}
    return {"kind": source.kind, "name": source.name}


def _check(action: str, limit: int) -> None:
    if action and action not in {*Action}:
        raise InputError(
            _("There is no action {action}: choose one of {actions}.").format(
                action=repr(action), actions=", ".join(Action)
            )
        )
    if not 1 <= limit <= MAX_EVENTS:
        raise InputError(_("The limit must be from 1 to {maximum}.").format(maximum=MAX_EVENTS))
