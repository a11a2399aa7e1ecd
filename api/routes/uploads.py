"""Files that are given: put into a box, and imported."""

from typing import Annotated

from fastapi import APIRouter, File, Query
from pydantic import StringConstraints

from api.access import Manager, OpenServices
from api.problems import problem_responses
from api.routes.ids import ConversationId
from api.schemas.imports import told
from api.schemas.texts import NAME_OR_EMPTY
from api.schemas.uploads import GivenFiles, RefusedFile, UploadedFiles
from bootstrap import Services
from domain import Principal
from services.uploads import DEFAULT_BOX, Upload, Uploaded

router = APIRouter(tags=["documents"])
Files = Annotated[GivenFiles, File()]
Box = Annotated[
    str,
    Query(
        description="The name of the box, made where there is none of that name; empty: Uploads",
        examples=["Contracts"],
    ),
    StringConstraints(pattern=NAME_OR_EMPTY, max_length=200),
]


@router.post("/uploads", status_code=202, responses=problem_responses(409, 413))
def upload_files(
    services: OpenServices, principal: Manager, given: Files, box: Box = ""
) -> UploadedFiles:
    """Put files into a box that everybody searches, and import them.

    A file replaces an older one of its name; what can't be used is refused with the reason, and
    the others are taken all the same.
    """
    taken = services.uploads.add(principal, _uploads(given), box=box or DEFAULT_BOX)
    return _queued(services, principal, taken)


@router.post(
    "/conversations/{conversation_id}/files",
    status_code=202,
    responses=problem_responses(404, 409, 413),
)
def upload_to_conversation(
    services: OpenServices, principal: Manager, conversation_id: ConversationId, given: Files
) -> UploadedFiles:
    """Put files into a conversation, which alone searches them, and import them."""
    taken = services.uploads.add(principal, _uploads(given), conversation_id=conversation_id)
    return _queued(services, principal, taken)


def _uploads(given: GivenFiles) -> list[Upload]:
    return [Upload(one.filename or "", one.file.read()) for one in given.files]


def _queued(services: Services, principal: Principal, taken: Uploaded) -> UploadedFiles:
    job = None
    if taken.source_id is not None and taken.accepted:
        job = services.queue.enqueue(principal, taken.source_id)
    return UploadedFiles(
        source_id=taken.source_id,
        accepted=list(taken.accepted),
        refused=[RefusedFile(name=name, reason=reason) for name, reason in taken.refused],
        queued=told(job) if job else None,
    )
