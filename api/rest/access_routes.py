"""Operations on who may do what: readers of sources and collections, API keys, the audit log."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field, StrictBool, StringConstraints

from api.authentication import ManageCall
from api.field_types import NO_NUL, READER, DocumentId, Page, Paging, SourceId
from api.problems import NOT_FOUND
from api.rest.answer_schemas import RequestModel, ResponseModel
from domain import Action, ApiScope, Principal
from services.audit_service import MAX_EVENTS
from services.reader_names import MAX_READER_CHARS, MAX_READERS
from services.sources.permission_service import Rule

_EXAMPLE = ["group:hr", "user:anna"]
_MAX_GROUPS = 200
_Name = Annotated[str, StringConstraints(max_length=MAX_READER_CHARS, pattern=NO_NUL)]
_Reader = Annotated[
    str, StringConstraints(max_length=len("domain:") + MAX_READER_CHARS, pattern=READER)
]
_Readers = Annotated[list[_Reader], Field(max_length=MAX_READERS)]
_Collection = Annotated[
    str, Path(description="Name of a collection", examples=["HR"], max_length=1000, pattern=NO_NUL)
]
_User = Annotated[_Name, Query(description="Id of the user; empty for any user")]
_Email = Annotated[_Name, Query(description="Email address of the user; empty for none")]
_Groups = Annotated[
    list[_Name], Query(max_length=_MAX_GROUPS, description="Groups of the user; repeatable")
]


class NewReaders(RequestModel):
    """Who may read a source or collection, instead of its earlier readers."""

    readers: _Readers | None = Field(examples=[_EXAMPLE])
    """The readers: `user:ID`, `group:NAME`, `email:ADDRESS`, or `domain:NAME` (everyone with such
    an email address), without control characters; with an empty list, nobody may read it, and with
    null, everyone"""


class Readers(ResponseModel):
    """Who may read a source or collection."""

    readers: list[str] | None = Field(examples=[_EXAMPLE])
    """The readers, sorted; null for everyone"""


class AccessExplanation(ResponseModel):
    """Why someone may read a document, or why not."""

    is_readable: StrictBool
    """Whether the document is readable"""
    rule: Rule = Field(examples=[Rule.SOURCE])
    """The rule that decides: `no_restriction` or `reader` if the document is readable; otherwise,
    the first one that hides it: `conversation` (it is a file of another person's conversation),
    `source`, `collection`, or `document`"""
    message: str = Field(examples=["Hidden: only group:hr may read the source Handbook."])
    """The explanation for people"""
    readers: list[str] = Field(examples=[["group:hr"]])
    """If the document is readable, the readers that stand for the person; otherwise, those whom the
    rule admits"""


router = APIRouter(tags=["access"])


@router.get("/sources/{source_id}/readers", responses=NOT_FOUND)
def read_source_readers(call: ManageCall, source_id: SourceId) -> Readers:
    """Read who may read a source; requires the role `editor`.

    Its collection and its documents may be restricted further.
    """
    return _response(call.services.permissions.readers(call.principal, source_id))


@router.put("/sources/{source_id}/readers", responses=NOT_FOUND)
def set_source_readers(call: ManageCall, source_id: SourceId, body: NewReaders) -> Readers:
    """Change who may read a source, from the next request on; requires the role `admin`."""
    return _response(call.services.permissions.set_readers(call.principal, source_id, body.readers))


@router.get("/collections/{name:path}/readers", responses=NOT_FOUND)
def read_collection_readers(call: ManageCall, name: _Collection) -> Readers:
    """Read who may read a collection; requires the role `editor`."""
    return _response(call.services.permissions.collection_readers(call.principal, name))


@router.put("/collections/{name:path}/readers", responses=NOT_FOUND)
def set_collection_readers(call: ManageCall, name: _Collection, body: NewReaders) -> Readers:
    """Change who may read a collection, from the next request on; requires the role `admin`.

    This includes sources that are added to it later.
    """
    return _response(
        call.services.permissions.set_collection_readers(call.principal, name, body.readers)
    )


@router.get("/documents/{document_id}/access", responses=NOT_FOUND)
def explain_access(
    call: ManageCall,
    document_id: DocumentId,
    user: _User = "",
    group: _Groups = [],  # noqa: B006  # nothing changes it
    email: _Email = "",
) -> AccessExplanation:
    """Explain why a user may read a document, or why not; requires the role `editor`."""
    person = Principal(user, frozenset(group), email=email)
    explanation = call.services.permissions.why(call.principal, person, document_id)
    return AccessExplanation.model_validate(explanation)


def _response(readers: tuple[str, ...] | None) -> Readers:
    return Readers(readers=None if readers is None else list(readers))


_KeyId = Annotated[
    str, Path(description="Id of an API key", examples=["0f8fad5bd9cb"], pattern=NO_NUL)
]


class ApiKeyInfo(ResponseModel):
    """An API key, without its secret."""

    id: str = Field(examples=["0f8fad5bd9cb"])
    """Id of the key"""
    name: str = Field(examples=["Wiki bot"])
    """What the key is for"""
    user_id: str = Field(examples=["anna"])
    """User on whose behalf it makes calls"""
    groups: list[str] = Field(examples=[["hr"]])
    """Groups whose documents it may read, sorted"""
    scopes: list[ApiScope] = Field(examples=[["ask", "read"]])
    """Scopes of the key, sorted"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When it was created, in UTC"""
    used_at: datetime | None = Field(examples=["2026-11-21T10:00:00Z"])
    """When it was last used, to the minute, in UTC; null if never"""
    expires_at: datetime | None = Field(examples=["2027-02-19T10:00:00Z"])
    """When it becomes invalid, in UTC; null for never"""
    revoked_at: datetime | None = Field(examples=[None])
    """When it was revoked, in UTC; null if it was not"""


class ApiKeyPage(Page[ApiKeyInfo]):
    """A page of API keys, oldest first."""


@router.get("/api-keys")
def list_api_keys(call: ManageCall, paging: Paging) -> ApiKeyPage:
    """List all API keys, also expired and revoked ones; requires the role `admin`."""
    keys = call.services.api_keys.list(call.principal)
    items = [
        ApiKeyInfo.from_objects(key, groups=sorted(key.groups), scopes=sorted(key.scopes))
        for key in paging.slice(keys)
    ]
    return ApiKeyPage(items=items, total=len(keys))


@router.delete("/api-keys/{key_id}", status_code=204, responses=NOT_FOUND)
def revoke_api_key(call: ManageCall, key_id: _KeyId) -> None:
    """Revoke an API key immediately, in every process; requires the role `admin`."""
    call.services.api_keys.revoke(call.principal, key_id)


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


@router.get("/audit")
def list_audit_events(
    call: ManageCall,
    *,
    days: _Days = None,
    action: Annotated[Action | None, Query(description="Only events with this action")] = None,
    actor: _Actor = "",
    before: _Before = None,
    limit: Annotated[int, Query(description="Maximum number", ge=1, le=MAX_EVENTS)] = 50,
) -> AuditLogPage:
    """List who changed what, the newest first; requires the role `admin`."""
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    events = call.services.audit.list(
        call.principal, since=since, action=action or "", actor=actor, before=before, limit=limit
    )
    next_before = events[-1].id if len(events) == limit else None
    return AuditLogPage(
        items=[AuditLogEvent.from_objects(event) for event in events], next_before=next_before
    )
