"""Operations on permissions: the readers of sources and collections, and why someone may read."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, StrictBool, StringConstraints

from api.authentication import ManageAccess, OpenServices
from api.field_types import NO_NUL, READER, DocumentId, SourceId
from api.problems import NOT_FOUND
from api.rest.answer_schemas import RequestModel, ResponseModel
from domain import Principal
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
def read_source_readers(
    services: OpenServices, principal: ManageAccess, source_id: SourceId
) -> Readers:
    """Read who may read a source; requires the role `editor`.

    Its collection and its documents may be restricted further.
    """
    return _response(services.permissions.readers(principal, source_id))


@router.put("/sources/{source_id}/readers", responses=NOT_FOUND)
def set_source_readers(
    services: OpenServices, principal: ManageAccess, source_id: SourceId, body: NewReaders
) -> Readers:
    """Change who may read a source, from the next request on; requires the role `admin`."""
    return _response(services.permissions.set_readers(principal, source_id, body.readers))


@router.get("/collections/{name:path}/readers", responses=NOT_FOUND)
def read_collection_readers(
    services: OpenServices, principal: ManageAccess, name: _Collection
) -> Readers:
    """Read who may read a collection; requires the role `editor`."""
    return _response(services.permissions.collection_readers(principal, name))


@router.put("/collections/{name:path}/readers", responses=NOT_FOUND)
def set_collection_readers(
    services: OpenServices, principal: ManageAccess, name: _Collection, body: NewReaders
) -> Readers:
    """Change who may read a collection, from the next request on; requires the role `admin`.

    This includes sources that are added to it later.
    """
    return _response(services.permissions.set_collection_readers(principal, name, body.readers))


@router.get("/documents/{document_id}/access", responses=NOT_FOUND)
def explain_access(
    services: OpenServices,
    principal: ManageAccess,
    document_id: DocumentId,
    user: _User = "",
    group: _Groups = [],  # noqa: B006  # nothing changes it
    email: _Email = "",
) -> AccessExplanation:
    """Explain why a user may read a document, or why not; requires the role `editor`."""
    person = Principal(user, frozenset(group), email=email)
    explanation = services.permissions.why(principal, person, document_id)
    return AccessExplanation.model_validate(explanation)


def _response(readers: tuple[str, ...] | None) -> Readers:
    return Readers(readers=None if readers is None else list(readers))
