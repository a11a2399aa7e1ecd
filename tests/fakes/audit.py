"""The audit log of a ledger, and the events in it."""

from domain import LOCAL_USER
from services.audit_service import AuditService
from storage.ledger.audit_store import AuditLog


def audit_of(database):
    return AuditService(AuditLog(database))


def actions_of(services, **filters):
    """The actions of the events, the oldest first."""
    return [event.action for event in reversed(services.audit.list(LOCAL_USER, **filters))]
