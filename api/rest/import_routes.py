"""Operations on imports: list, read, pause, resume, cancel, and follow."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Annotated, Literal

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import AliasChoices, Field, RootModel, StrictBool
from sse_starlette import EventSourceResponse

from api.authentication import ManageCall, ReadCall
from api.field_types import ImportId, Page, Paging, Schema, SourceId
from api.problems import NOT_FOUND
from api.rest.answer_schemas import RequestModel, ResponseModel
from api.streaming import (
    ErrorEvent,
    EventName,
    EventStream,
    JsonOf,
    encoded_event,
    error_event,
    stream_responses,
)
from domain import ImportKind, ImportRun, ImportState, Outcome, Stage
from domain.errors import AppError, NotFoundError
from services.imports.import_queue import ImportQueue


class Progress(ResponseModel):
    """Progress of an import."""

    stage: Stage = Field(examples=["embedding"])
    """Current stage"""
    done: int = Field(ge=0, examples=[3])
    """Documents processed so far"""
    total: int = Field(ge=0, examples=[4])
    """Total number of documents; 0 while it is unknown"""
    key: str = Field(examples=["leave.md"])
    """Key of the current document, or why the import is waiting for its source; may be empty"""
    passages: int = Field(ge=0, examples=[12])
    """Passages embedded so far"""
    part: int = Field(ge=0, examples=[3])
    """Passages of the current documents embedded so far"""
    parts: int = Field(ge=0, examples=[8])
    """Total passages of the current documents; 0 in stages that do not count them"""
    read: int = Field(ge=0, examples=[20])
    """Passages of the documents read so far"""
    expected: int = Field(ge=0, examples=[24])
    """Estimated total number of passages; 0 while it is unknown"""
    seconds_left: int | None = Field(ge=0, examples=[12])
    """Estimated time left in seconds; null while it is unknown"""


class Import(ResponseModel):
    """An import, dry run, or removal: queued, running, or ended."""

    id: str = Field(examples=["0f8fad5bd9cb469fa16570867728950e"])
    """Id of the import"""
    source_id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the source"""
    kind: ImportKind = Field(examples=["import"])
    """Kind of the import"""
    state: ImportState = Field(examples=["running"])
    """State of the import; it is active only while `running`"""
    ended: bool = Field(examples=[False])
    """Whether the import has ended for good"""
    started_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the import started; if it has not started yet, when it was requested"""
    finished_at: datetime | None = Field(examples=[None])
    """When the import ended, in UTC; null until then"""
    seconds: float = Field(ge=0, examples=[1.5])
    """Active time in seconds, excluding waits and pauses"""
    message: str = Field(examples=[""])
    """Message about the import; may be empty"""
    passages_embedded: int = Field(ge=0, examples=[12])
    """Number of embedded passages"""
    progress: Progress | None
    """Progress; null before the import has started"""
    keys: list[str] = Field(examples=[[]])
    """Keys of the documents to import; empty for the whole source"""
    confirm_removals: bool = Field(examples=[False])
    """Whether documents are removed even if most of the source's documents are missing"""
    wish: Literal["", "pause", "cancel"] = Field(
        validation_alias=AliasChoices("stop_request", "wish"), examples=[""]
    )
    """A pending request to pause or cancel the import; empty if there is none"""
    retry_at: datetime | None = Field(examples=[None])
    """When the import is retried, in UTC, if its source could not be reached; otherwise null"""


class ImportDetails(Import):
    """An import with its statistics so far."""

    counts: dict[Outcome, int] = Field(examples=[{"new": 4}])
    """Number of documents by outcome"""
    held_back: int = Field(ge=0, examples=[0])
    """Number of removals that require confirmation"""
    passages: int = Field(ge=0, examples=[12])
    """Number of passages in the documents that were read"""
    pages: int = Field(ge=0, examples=[0])
    """Number of pages in the documents that were read; 0 for formats without pages"""
    characters: int = Field(ge=0, examples=[5120])
    """Number of characters in the documents that were read"""
    tokens: int = Field(ge=0, examples=[0])
    """In a dry run, the estimated number of tokens to embed; otherwise 0"""
    price: float = Field(ge=0, examples=[0])
    """Estimated cost of embedding these tokens, in `currency`; 0 if free"""
    currency: str = Field(examples=["USD"])
    """Currency of the price, as configured"""


class ImportItem(ResponseModel):
    """A document of an import and its outcome."""

    key: str = Field(examples=["leave.md"])
    """Key of the document within its source"""
    title: str = Field(examples=[""])
    """Title of the document; empty if it has none besides its key"""
    location: str = Field(examples=["/srv/handbook/leave.md"])
    """Path or address that a person can open"""
    outcome: Outcome = Field(examples=["new"])
    """Outcome for the document; `permissions` means that only its readers have changed, and `kept`
    that it is missing from the source but was not removed, for the stated reason"""
    reason: str = Field(examples=[""])
    """Reason for the outcome; may be empty"""
    passages: int = Field(ge=0, examples=[3])
    """Number of passages, if the document is new or changed; otherwise 0"""
    pages: int = Field(ge=0, examples=[0])
    """Number of pages; 0 for formats without pages"""
    characters: int = Field(ge=0, examples=[1280])
    """Length of the text in characters, if the document was read; otherwise 0"""
    tokens: int = Field(ge=0, examples=[0])
    """In a dry run, the estimated number of tokens; otherwise 0"""


class ImportPage(Page[Import]):
    """A page of imports."""


class ImportItemPage(Page[ImportItem]):
    """Documents of an import, in the order in which they were processed."""


class ImportRequest(RequestModel):
    """Options of an import."""

    confirm_removals: StrictBool = False
    """Remove documents even if most of the source's documents are missing; confirms an import that
    ended with `needs confirmation`"""


class ProgressEvent(Schema):
    """Sent when something has changed."""

    event: EventName[Literal["progress"]]
    data: Annotated[str, JsonOf(Import)]
    """The import"""


class ImportEndEvent(Schema):
    """The last event of an import that has ended or needs attention."""

    event: EventName[Literal["end"]]
    data: Annotated[str, JsonOf(Import)]
    """The import"""


class MissingImport(ResponseModel):
    """Why an import no longer exists."""

    detail: str = Field(examples=["There is no import 0f8f."])
    """What is missing"""


class MissingImportEvent(Schema):
    """The last event if the source was removed."""

    event: EventName[Literal["gone"]]
    data: Annotated[str, JsonOf(MissingImport)]
    """Why the import no longer exists"""


class ImportEvent(RootModel[ProgressEvent | ImportEndEvent | MissingImportEvent | ErrorEvent]):
    """One event: its name (`event:`) and its data (`data:`) as JSON on one line."""


router = APIRouter(tags=["imports"])
_LOOK_S = 0.25
_EXAMPLE = """event: progress
data: {"id": "0f8f", "state": "running", ...}

event: end
data: {"id": "0f8f", "state": "completed", ...}

"""


@router.get("/imports")
def list_imports(call: ReadCall, paging: Paging) -> ImportPage:
    """List queued, running, paused, and interrupted imports, in the order of execution."""
    return ImportPage.slice_of(call.services.queue.current(call.principal), paging)


@router.get("/imports/{import_id}", responses=NOT_FOUND)
def read_import(call: ReadCall, import_id: ImportId) -> ImportDetails:
    """Read the state and statistics of an import."""
    summary = call.services.import_reports.summary(call.principal, import_id)
    run = Import.model_validate(summary.run)
    return ImportDetails.from_objects(run, summary, summary.figures, held_back=summary.withheld)


@router.get("/imports/{import_id}/items", responses=NOT_FOUND)
def list_import_items(
    call: ReadCall,
    import_id: ImportId,
    paging: Paging,
    outcomes: Annotated[
        list[Outcome], Query(description="Only documents with these outcomes")
    ] = [],  # noqa: B006  # FastAPI copies it
) -> ImportItemPage:
    """List an import's documents, in the order in which they were processed."""
    reports = call.services.import_reports
    counts = reports.summary(call.principal, import_id).counts
    items = reports.items(call.principal, import_id, outcomes, **paging._asdict())
    total = sum(n for name, n in counts.items() if not outcomes or name in outcomes)
    return ImportItemPage.of(items, total)


@router.get("/sources/{source_id}/imports", responses=NOT_FOUND)
def list_source_imports(call: ReadCall, source_id: SourceId, paging: Paging) -> ImportPage:
    """List a source's ended imports and dry runs, latest first."""
    runs = call.services.import_reports.history(call.principal, source_id, **paging._asdict())
    return ImportPage.of(runs, call.services.queue.count_history(call.principal, source_id))


@router.post("/imports/{import_id}/pause", status_code=202, responses=NOT_FOUND)
def pause_import(call: ManageCall, import_id: ImportId) -> Import:
    """Pause an import until it is resumed; it stops within two seconds unless it has ended."""
    return Import.model_validate(call.services.queue.pause(call.principal, import_id))


@router.post("/imports/{import_id}/resume", status_code=202, responses=NOT_FOUND)
def resume_import(call: ManageCall, import_id: ImportId) -> Import:
    """Resume a paused import when its turn comes."""
    return Import.model_validate(call.services.queue.resume(call.principal, import_id))


@router.post("/imports/{import_id}/cancel", status_code=202, responses=NOT_FOUND)
def cancel_import(call: ManageCall, import_id: ImportId) -> Import:
    """Cancel an import; it stops within two seconds and keeps the documents imported so far."""
    return Import.model_validate(call.services.queue.cancel(call.principal, import_id))


@router.get(
    "/imports/{import_id}/events",
    status_code=200,
    response_class=EventStream,
    response_model=ImportEvent,
    responses=stream_responses("ImportEvent", _EXAMPLE) | NOT_FOUND,
)
async def follow_import(call: ReadCall, import_id: ImportId) -> Response:
    """Stream an import as Server-Sent Events until it ends or needs attention.

    `progress` is sent when something has changed, at most four times a second. An import needs
    attention if it is paused, or if no worker is running. `gone` is sent instead of `end` if the
    source was removed.
    """
    queue = call.services.queue
    first = await run_sync(queue.get, call.principal, import_id)

    # Only reading the ledger runs in a thread, so a disconnect is noticed between two reads.
    def look(job: ImportRun) -> tuple[ImportRun, bool]:
        now = queue.reload(call.principal, job)
        return now, now.ended or _rests(now.state, queue)

    return EventSourceResponse(_events(first, look))


async def _events(
    job: ImportRun, look: Callable[[ImportRun], tuple[ImportRun, bool]]
) -> AsyncIterator[bytes]:
    before = None
    while True:
        try:
            job, rests = await run_sync(look, job)
        except NotFoundError as error:
            yield encoded_event("gone", MissingImport(detail=str(error)).model_dump_json())
            return
        except AppError as error:
            yield error_event(error)
            return
        if rests:
            break
        if job != before:
            yield encoded_event("progress", Import.model_validate(job).model_dump_json())
        before = job
        await anyio.sleep(_LOOK_S)
    yield encoded_event("end", Import.model_validate(job).model_dump_json())


def _rests(state: ImportState, queue: ImportQueue) -> bool:
    waits = state in (ImportState.QUEUED, ImportState.INTERRUPTED)
    return state is ImportState.PAUSED or (waits and not queue.expects_worker())
