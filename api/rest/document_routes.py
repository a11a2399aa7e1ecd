"""Operations on the library and its documents: list, read, remove, and import again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response
from pydantic import Field, StrictBool

from api.authentication import ManageCall, ReadCall
from api.field_types import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_OFFSET,
    DocumentId,
    Line,
    Page,
    Paging,
    Schema,
)
from api.problems import CONFLICT, NOT_FOUND, problem_responses
from api.rest.answer_schemas import RequestModel, ResponseModel
from api.rest.import_routes import Import
from domain import DocumentFilter, DocumentOrder, ImportRun, SharedPassage
from domain.errors import NotFoundError

_SEVERAL = 200
_SOURCE_ID = "7c9e6679742540de944be07fc1f90ae7"
_LOCATION = Field(
    description="Path or address that a person can open", examples=["/srv/handbook/leave.md"]
)
_KEY = Field(description="Key of the document within its source", examples=["leave.md"])


class Document(ResponseModel):
    """A document in its current version."""

    id: str = Field(examples=["9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"])
    """Id of the document"""
    source_id: str = Field(examples=[_SOURCE_ID])
    """Id of the document's source"""
    key: Annotated[str, _KEY]
    title: str = Field(examples=["Leave policy"])
    """Title of the document"""
    location: Annotated[str, _LOCATION]
    format: str = Field(examples=["md"])
    """Format of the document"""
    encoding: str | None = Field(examples=["utf_8"])
    """Encoding of a text file, by its Python name; null for formats that define their own
    encoding"""
    pages: int = Field(ge=0, examples=[0])
    """Number of pages; 0 for formats without pages"""
    characters: int = Field(ge=0, examples=[1280])
    """Length of the text, in characters"""
    characters_per_page: int | None = Field(examples=[None])
    """Average characters per page, which is low for scans; null for formats without pages"""
    script: str = Field(examples=["latin"])
    """Script of most of the text; `none` if it has no letters"""
    passages: int = Field(ge=0, examples=[3])
    """Number of passages"""
    longest_passage: int = Field(ge=0, examples=[512])
    """Length of the longest passage, in characters"""
    revision: int = Field(ge=1, examples=[1])
    """Number of imported versions"""
    imported_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When this version was imported, in UTC"""
    warnings: list[str] = Field(examples=[[]])
    """Warnings from the import"""
    details: dict[str, Any] = Field(examples=[{"collection": "HR"}])
    """Collection, labels, and other metadata from the source"""


class DocumentText(ResponseModel):
    """A span of a document's text."""

    document_id: str = Field(examples=["9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"])
    """Id of the document"""
    start: int = Field(ge=0, examples=[0])
    """Start offset, in characters from 0"""
    end: int = Field(ge=0, examples=[14])
    """End offset, exclusive"""
    characters: int = Field(ge=0, examples=[1280])
    """Length of the whole text, in characters"""
    text: str = Field(examples=["# Leave policy"])
    """The requested text; empty beyond the end of the document"""


class DocumentPassage(ResponseModel):
    """A passage of the current index."""

    passage_id: str = Field(examples=["1f0e6a7b8c9d4e5f8a3be1f1c2d3e4f5"])
    """Id of the passage"""
    ordinal: int = Field(ge=0, examples=[0])
    """Index of the passage in the document, from 0"""
    start: int = Field(ge=0, examples=[0])
    """Start offset in the document's text, in characters"""
    end: int = Field(ge=0, examples=[512])
    """End offset, exclusive"""
    text: str = Field(examples=["New employees get 25 days of annual leave a year."])
    """Text of the passage"""
    heading_path: list[str] = Field(examples=[["Leave policy", "Annual leave"]])
    """Headings above the passage, outermost first"""
    page: int | None = Field(examples=[None])
    """Page number from 1; null for formats without pages"""
    shared_before: int = Field(ge=0, examples=[0])
    """Characters shared with the previous passage"""
    shared_after: int = Field(ge=0, examples=[64])
    """Characters shared with the next passage"""

    @classmethod
    def of(cls, shared: SharedPassage) -> "DocumentPassage":
        """The response for a passage and its overlaps."""
        return cls.from_objects(shared.passage, shared, passage_id=shared.passage.id)


class DocumentKey(ResponseModel, RequestModel):
    """A document identified by its source and key."""

    source_id: Line = Field(examples=[_SOURCE_ID])
    """Id of the document's source"""
    key: Annotated[Line, _KEY]


class DocumentsRequest(RequestModel):
    """One or more documents, which need not be in the library."""

    documents: list[DocumentKey] = Field(min_length=1, max_length=1000)
    """The documents, each by source and key"""


class Failure(ResponseModel):
    """A document that could not be read."""

    source_id: str = Field(examples=[_SOURCE_ID])
    """Id of the document's source"""
    key: Annotated[str, _KEY]
    title: str = Field(examples=[""])
    """Title of the document; empty if it has none besides its key"""
    location: Annotated[str, _LOCATION]
    reason: str = Field(examples=["the file is empty"])
    """Why the document could not be read"""
    failed_at: datetime | None = Field(examples=["2026-11-21T10:00:00Z"])
    """When reading was last attempted, in UTC; null if unknown"""


class QueuedImports(ResponseModel):
    """The queued imports, one for each source."""

    queued: list[Import]
    """The queued imports"""


class DocumentPage(Page[Document]):
    """A page of documents."""


class PassagePage(Page[DocumentPassage]):
    """Passages of a document, in the order of its text."""


class FailurePage(Page[Failure]):
    """Documents that could not be read, latest first."""


class LeftOutPage(Page[DocumentKey]):
    """Documents excluded from imports because a user deleted them, by source."""


class DocumentQuery(Schema):
    """Which documents to list, and in what order; omitted fields do not restrict the list."""

    words: Line = Field("", examples=["leave"])
    """Words that must all occur in the title or key, ignoring case; empty for any"""
    sources: list[Line] = Field([], max_length=_SEVERAL, examples=[[_SOURCE_ID]])
    """Only documents of these sources, by id"""
    collections: list[Line] = Field([], max_length=_SEVERAL, examples=[["HR"]])
    """Only documents of sources in these collections"""
    formats: list[Line] = Field([], max_length=_SEVERAL, examples=[["pdf"]])
    """Only documents in these formats"""
    scripts: list[Line] = Field([], max_length=_SEVERAL, examples=[["latin"]])
    """Only documents whose text is mostly in these scripts"""
    warned: bool = False
    """Only documents with import warnings"""
    order: DocumentOrder = DocumentOrder.TITLE
    """Sort order: `title`, `newest` import first, most `passages` first, or (`density`) fewest
    characters per page first"""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    """Maximum number of items to return"""
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    """Number of documents to skip"""

    @property
    def filter(self) -> DocumentFilter:
        """The query as a domain value."""
        return DocumentFilter(
            self.words,
            tuple(self.sources) or None,
            tuple(self.collections),
            tuple(self.formats),
            tuple(self.scripts),
            self.warned,
        )


Documents = Annotated[DocumentQuery, Query()]


class LibrarySource(ResponseModel):
    """A source and the number of its documents in the library."""

    id: str = Field(examples=[_SOURCE_ID])
    """Id of the source"""
    name: str = Field(examples=["Handbook"])
    """Name of the source"""
    kind: str = Field(examples=["directory"])
    """Kind of the source; `upload` is an upload box"""
    collection: str = Field(examples=["HR"])
    """Collection of the source"""
    documents: int = Field(ge=0, examples=[4])
    """Number of its documents in the library"""


class ScopeChoices(ResponseModel):
    """Values that a search can be restricted to."""

    sources: dict[str, str] = Field(examples=[{_SOURCE_ID: "Handbook"}])
    """Names of the sources by id"""
    collections: list[str] = Field(examples=[["HR"]])
    """Collections of sources"""
    formats: list[str] = Field(examples=[["md", "pdf"]])
    """Formats of documents"""
    labels: list[str] = Field(examples=[["policy"]])
    """Labels of documents"""


class Library(ResponseModel):
    """The contents and state of the library."""

    documents: int = Field(ge=0, examples=[4])
    """Number of documents"""
    passages: int = Field(ge=0, examples=[12])
    """Number of passages"""
    notices: list[str] = Field(examples=[[]])
    """Notices for the people who run the library"""
    has_worker: StrictBool
    """Whether a worker is available to run queued imports"""
    sources: list[LibrarySource]
    """The sources with documents in the library, by name"""
    formats: dict[str, int] = Field(examples=[{"md": 4}])
    """Number of documents by format"""
    scripts: dict[str, int] = Field(examples=[{"latin": 4}])
    """Number of documents by the script of most of their text"""
    narrowing: ScopeChoices
    """Values that a search can be restricted to"""


router = APIRouter(tags=["documents"])
StartOffset = Annotated[
    int, Query(ge=0, le=2**31, description="Start offset in the text, in characters from 0")
]
EndOffset = Annotated[
    int | None,
    Query(ge=0, le=2**31, description="End offset in the text, exclusive; by default, its length"),
]


@router.get("/library")
def read_library(call: ReadCall) -> Library:
    """Read the contents of the library, and the values that a search can be restricted to."""
    return Library.from_objects(
        call.services.library.status(call.principal),
        call.services.documents.contents(call.principal),
        has_worker=call.services.queue.expects_worker(),
        narrowing=call.services.choices.choices(call.principal),
    )


@router.get("/documents")
def list_documents(call: ReadCall, query: Documents) -> DocumentPage:
    """List the documents that match."""
    page = call.services.documents.page(
        call.principal, query.filter, query.order, limit=query.limit, offset=query.offset
    )
    return DocumentPage.of(page.documents, page.total)


@router.get("/documents/{document_id}", responses=NOT_FOUND)
def read_document(call: ReadCall, document_id: DocumentId) -> Document:
    """Read a document's metadata; its text is a separate resource."""
    return Document.model_validate(call.services.documents.get(call.principal, document_id))


@router.get("/documents/{document_id}/text", responses=NOT_FOUND)
def read_text(
    call: ReadCall, document_id: DocumentId, start: StartOffset = 0, end: EndOffset = None
) -> DocumentText:
    """Read a document's text or a span of it; a span is cut at the end of the text."""
    document = call.services.documents.get(call.principal, document_id)
    text = call.services.reader.text(call.principal, document_id, start, end)
    return DocumentText(
        document_id=document.id,
        start=start,
        end=start + len(text),
        characters=document.characters,
        text=text,
    )


_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "The file as it is now, as an attachment",
    }
}


@router.get(
    "/documents/{document_id}/original",
    response_class=FileResponse,
    responses=_FILE | NOT_FOUND | CONFLICT | problem_responses(503),
)
def read_original(call: ReadCall, document_id: DocumentId) -> Response:
    """Download the file of a document from a folder or an upload.

    The file may have changed since it was imported. If it is gone, that is a conflict.
    """
    original = call.services.originals.find(call.principal, document_id)
    if original.path is None:
        data = call.services.originals.read(call.principal, document_id)
        name = f"attachment; filename*=utf-8''{quote(original.name, safe='')}"
        headers = {"Content-Disposition": name}
        return Response(data, media_type="application/octet-stream", headers=headers)
    return FileResponse(
        original.path, filename=original.name, media_type="application/octet-stream"
    )


@router.get("/documents/{document_id}/passages", responses=NOT_FOUND)
def list_passages(call: ReadCall, document_id: DocumentId, paging: Paging) -> PassagePage:
    """List a document's indexed passages, in the order of its text."""
    total = call.services.documents.get(call.principal, document_id).passages
    page = call.services.documents.passages(call.principal, document_id, **paging._asdict())
    return PassagePage(items=[DocumentPassage.of(one) for one in page], total=total)


@router.post("/documents/{document_id}/import", status_code=202, responses=NOT_FOUND)
def import_document(call: ManageCall, document_id: DocumentId) -> Import:
    """Import a document again, even if it has not changed."""
    return _only(call.services.documents.reimport(call.principal, [document_id]))


@router.delete("/documents/{document_id}", status_code=202, responses=NOT_FOUND)
def delete_document(call: ManageCall, document_id: DocumentId) -> Import:
    """Remove a document from the library.

    An uploaded file is deleted. Other sources are not modified: their imports exclude the document
    until it is included again.
    """
    return _only(call.services.documents.remove(call.principal, [document_id]))


def _only(jobs: Sequence[ImportRun]) -> Import:
    if not jobs:
        raise NotFoundError(
            "There is no such document, or it was removed: search for it by its title."
        )
    return Import.model_validate(jobs[0])
