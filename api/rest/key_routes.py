"""Operations on API keys: list and revoke; `cli.py api-key create` creates them."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from api.authentication import ManageAccess, OpenServices
from api.field_types import NO_NUL, Page, Paging
from api.problems import NOT_FOUND
from api.rest.answer_schemas import ResponseModel
from domain import ApiScope

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


router = APIRouter(prefix="/api-keys", tags=["access"])


@router.get("")
def list_api_keys(services: OpenServices, principal: ManageAccess, paging: Paging) -> ApiKeyPage:
    """List all API keys, also expired and revoked ones; requires the role `admin`."""
    keys = services.api_keys.list(principal)
    items = [
        ApiKeyInfo.from_objects(key, groups=sorted(key.groups), scopes=sorted(key.scopes))
        for key in paging.slice(keys)
    ]
    return ApiKeyPage(items=items, total=len(keys))


@router.delete("/{key_id}", status_code=204, responses=NOT_FOUND)
def revoke_api_key(services: OpenServices, principal: ManageAccess, key_id: _KeyId) -> None:
    """Revoke an API key immediately, in every process; requires the role `admin`."""
    services.api_keys.revoke(principal, key_id)
