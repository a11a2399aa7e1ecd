"""Uploads of files into boxes, failed documents, and excluded documents."""

from typing import Annotated

from fastapi import APIRouter, File, Query, UploadFile
from pydantic import Field, StringConstraints

from api.authentication import Call, ManageCall, ReadCall
from api.field_types import NAME_OR_EMPTY, ConversationId, Paging
from api.problems import NOT_FOUND, problem_responses
from api.rest.answer_schemas import RequestModel, ResponseModel
from api.rest.document_routes import (
    DocumentKey,
    DocumentsRequest,
    FailurePage,
    LeftOutPage,
    QueuedImports,
)
from api.rest.import_routes import Import
from services.access import SourceDocument
from services.sources.upload_archives import Upload
from services.sources.upload_service import DEFAULT_BOX, UploadResult

router = APIRouter(tags=["documents"])


class UploadForm(RequestModel):
    """The form of an upload."""

    files: list[UploadFile] = Field(min_length=1)
    """The files to upload"""


class RefusedFile(ResponseModel):
    """A rejected file, and why."""

    name: str = Field(examples=["tool.exe"])
    """Name of the file as sent"""
    reason: str = Field(examples=["files of this kind are not read"])
    """Why the file was rejected"""


class UploadedFiles(ResponseModel):
    """The result of an upload."""

    source_id: str | None = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the upload box, which is a source; null if no file was accepted and there is no box"""
    accepted: list[str] = Field(examples=[["leave.md"]])
    """Names of the accepted files in the box"""
    refused: list[RefusedFile]
    """The rejected files"""
    queued: Import | None
    """The import that makes the files searchable; null if no file was accepted"""


@router.get("/failures")
def list_failures(call: ReadCall, paging: Paging) -> FailurePage:
    """List documents that could not be read and were not dismissed, latest first."""
    page = call.services.failures.page(call.principal, **paging._asdict())
    return FailurePage.of(page.failures, page.total)


@router.post("/failures/dismiss", status_code=204, responses=NOT_FOUND)
def dismiss_failures(call: ManageCall, body: DocumentsRequest) -> None:
    """Dismiss failures until the documents fail again."""
    call.services.failures.dismiss(call.principal, _document_keys(call, body))


@router.post("/failures/retry", status_code=202, responses=NOT_FOUND)
def retry_failures(call: ManageCall, body: DocumentsRequest) -> QueuedImports:
    """Import documents again, even if they have not changed."""
    jobs = call.services.failures.retry(call.principal, _document_keys(call, body))
    return QueuedImports(queued=[Import.model_validate(job) for job in jobs])


@router.get("/left-out")
def list_left_out(call: ReadCall, paging: Paging) -> LeftOutPage:
    """List documents excluded from imports because a user deleted them, by source."""
    excluded = call.services.documents.excluded(call.principal)
    page = [DocumentKey(source_id=source, key=key) for source, key in paging.slice(excluded)]
    return LeftOutPage(items=page, total=len(excluded))


@router.post("/left-out/take-back", status_code=202, responses=NOT_FOUND)
def take_back(call: ManageCall, body: DocumentsRequest) -> QueuedImports:
    """Include deleted documents in imports again."""
    jobs = call.services.documents.include_again(call.principal, _document_keys(call, body))
    return QueuedImports(queued=[Import.model_validate(job) for job in jobs])


def _document_keys(call: Call, body: DocumentsRequest) -> list[SourceDocument]:
    """The requested documents; raises NotFoundError if a source does not exist."""
    keys = [(one.source_id, one.key) for one in body.documents]
    for source_id in {source_id for source_id, _ in keys}:
        call.services.sources.settings(call.principal, source_id)
    return keys


Files = Annotated[UploadForm, File()]
Box = Annotated[
    str,
    Query(
        description="Name of the upload box, created if necessary; if empty, `Uploads`",
        examples=["Contracts"],
    ),
    StringConstraints(pattern=NAME_OR_EMPTY, max_length=200),
]


@router.post("/uploads", status_code=202, responses=problem_responses(409, 413))
def upload_files(call: ManageCall, body: Files, box: Box = "") -> UploadedFiles:
    """Upload files to an upload box that everyone can search, and import them.

    A file replaces an older one of the same name. Files that can't be used are rejected with a
    reason; the others are accepted.
    """
    uploaded = call.services.uploads.add(call.principal, _uploads(body), box=box or DEFAULT_BOX)
    return _enqueue(call, uploaded)


@router.post(
    "/conversations/{conversation_id}/files",
    status_code=202,
    responses=problem_responses(404, 409, 413),
)
def upload_to_conversation(
    call: ManageCall, conversation_id: ConversationId, body: Files
) -> UploadedFiles:
    """Upload files that only one conversation searches, and import them."""
    uploaded = call.services.uploads.add(
        call.principal, _uploads(body), conversation_id=conversation_id
    )
    return _enqueue(call, uploaded)


def _uploads(body: UploadForm) -> list[Upload]:
    return [Upload(one.filename or "", one.file.read()) for one in body.files]


def _enqueue(call: Call, uploaded: UploadResult) -> UploadedFiles:
    job = None
    if uploaded.source_id is not None and uploaded.accepted:
        job = call.services.queue.enqueue(call.principal, uploaded.source_id)
    refused = [RefusedFile(name=name, reason=reason) for name, reason in uploaded.rejections]
    return UploadedFiles.from_objects(uploaded, refused=refused, queued=job)
