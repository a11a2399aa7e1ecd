"""The operation that lists the audit log."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from api.authentication import ManageAccess, OpenServices
from api.field_types import NO_NUL
from api.rest.answer_schemas import ResponseModel
from domain import Action
from services.audit_service import MAX_EVENTS

_LARGEST = 2**63 - 1
_Days = Annotated[int | None, Query(description="Only events of the last days", ge=1, le=3650)]
_ACTOR = "Only events of this account or user id, or name"
_Actor = Annotated[str, Query(description=_ACTOR, max_length=200, pattern=NO_NUL)]
_Before = Annotated[
    int | None, Query(description="Only events older than this id", ge=1, le=_LARGEST)
]


class AuditLogEvent(ResponseModel):
    """An event of the audit log."""

    id: int = Field(examples=[42])
    """Id of the event; later events have higher ids"""
    at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When it happened, in UTC"""
    actor: str = Field(examples=["anna"])
    """Id of the account or user; `local` is the operator"""
    actor_name: str = Field(examples=["Wiki bot"])
    """Name of the API key or account at that time; empty if there is none or it was erased"""
    api_key: str = Field(examples=["0f8fad5bd9cb"])
    """Id of the API key that made the call; empty if none did"""
    action: str = Field(examples=["source.added"])
    """What happened; later versions may add actions"""
    object_kind: str = Field(examples=["source"])
    """What the object is"""
    object_id: str = Field(examples=["9799e3b3ec1d6b6ed9b684a0e56567f6"])
    """Id of the object; empty if there is none"""
    detail: dict[str, Any] = Field(examples=[{"kind": "directory", "name": "Handbook"}])
    """Ids, counts, and names of settings"""


class AuditLogPage(ResponseModel):
    """Events of the audit log, the newest first."""

    items: list[AuditLogEvent]
    """The events"""
    next_before: int | None = Field(examples=[42])
    """The `before` of the next page; null if there may be no more events"""


router = APIRouter(prefix="/audit", tags=["access"])


@router.get("")
def list_audit_events(
    services: OpenServices,
    principal: ManageAccess,
    *,
    days: _Days = None,
    action: Annotated[Action | None, Query(description="Only events with this action")] = None,
    actor: _Actor = "",
    before: _Before = None,
    limit: Annotated[int, Query(description="Maximum number", ge=1, le=MAX_EVENTS)] = 50,
) -> AuditLogPage:
    """List who changed what, the newest first; requires the role `admin`."""
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    events = services.audit.list(
        principal, since=since, action=action or "", actor=actor, before=before, limit=limit
    )
    next_before = events[-1].id if len(events) == limit else None
    return AuditLogPage(
        items=[AuditLogEvent.from_objects(event) for event in events], next_before=next_before
    )
