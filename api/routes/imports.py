"""Imports: what is at work, what became of it, and how it goes on."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import Response
from sse_starlette import EventSourceResponse

from api.access import Manager, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.routes.ids import ImportId, SourceId
from api.schemas.imports import (
    Import,
    ImportDetails,
    ImportItem,
    ImportItemPage,
    ImportPage,
    told,
)
from api.sent_events import event, failed, named
from domain import ImportState, Outcome, QueuedImport
from errors import AppError, NotFoundError
from services.queue import ImportQueue

router = APIRouter(tags=["imports"])
ONE = problem_responses(404)
_LOOK_S = 0.25
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`progress` events and then one `end`, each with the import as JSON;"
        " in place of the latter `gone` where its source was removed meanwhile, and `error` with"
        " problem details where it can't be told how it stands",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'event: progress\ndata: {"id": "0f8f", "state": "running"}\n\n'
                'event: end\ndata: {"id": "0f8f", "state": "completed"}\n\n',
            }
        },
    }
}


@router.get("/imports")
def list_imports(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> ImportPage:
    """List what is queued, at work, paused or interrupted, in the order in which it is done."""
    jobs = services.queue.current(principal)
    return ImportPage(items=[told(job) for job in jobs[offset : offset + limit]], total=len(jobs))


@router.get("/imports/{import_id}", responses=ONE)
def read_import(services: OpenServices, principal: Reader, import_id: ImportId) -> ImportDetails:
    """Read how an import stands, with its figures as far as it has come."""
    return ImportDetails.of(services.import_reports.summary(principal, import_id))


@router.get("/imports/{import_id}/items", responses=ONE)
def list_import_items(
    services: OpenServices,
    principal: Reader,
    import_id: ImportId,
    outcomes: Annotated[list[Outcome], Query(description="Only of these outcomes")] = [],  # noqa: B006  # FastAPI copies it
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> ImportItemPage:
    """List an import's documents, in the order in which they were settled."""
    reports = services.import_reports
    counts = reports.summary(principal, import_id).counts
    items = reports.items(principal, import_id, outcomes, limit=limit, offset=offset)
    return ImportItemPage(
        items=[ImportItem.model_validate(item) for item in items],
        total=sum(n for name, n in counts.items() if not outcomes or name in outcomes),
    )


@router.get("/sources/{source_id}/imports", responses=ONE)
def list_source_imports(
    services: OpenServices,
    principal: Reader,
    source_id: SourceId,
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> ImportPage:
    """List a source's ended imports and dry runs, the latest first."""
    jobs = services.import_reports.history(principal, source_id, limit=limit, offset=offset)
    total = services.queue.count_history(principal, source_id)
    return ImportPage(items=[told(job) for job in jobs], total=total)


@router.post("/imports/{import_id}/pause", status_code=202, responses=ONE)
def pause_import(services: OpenServices, principal: Manager, import_id: ImportId) -> Import:
    """Let an import rest until it is resumed; it stops within two seconds, if it has not ended."""
    return told(services.queue.pause(principal, import_id))


@router.post("/imports/{import_id}/resume", status_code=202, responses=ONE)
def resume_import(services: OpenServices, principal: Manager, import_id: ImportId) -> Import:
    """Let a paused import go on when its turn comes."""
    return told(services.queue.resume(principal, import_id))


@router.post("/imports/{import_id}/cancel", status_code=202, responses=ONE)
def cancel_import(services: OpenServices, principal: Manager, import_id: ImportId) -> Import:
    """End an import; it stops within two seconds, and what it has imported is kept."""
    return told(services.queue.cancel(principal, import_id))


@router.get("/imports/{import_id}/events", response_class=Response, responses=_EVENTS | ONE)
async def follow_import(services: OpenServices, principal: Reader, import_id: ImportId) -> Response:
    """Follow an import as Server-Sent Events, until it has ended or waits for a person.

    `progress` comes when something has changed, at most four times a second. It waits for a person
    where it is paused, and where no worker is there to do it.
    """
    queue = services.queue
    first = await run_sync(queue.get, principal, import_id)

    # Only the looks into the ledger are in a thread: who has left is noticed between two.
    def look(job: QueuedImport) -> tuple[QueuedImport, bool]:
        now = queue.again(principal, job)
        return now, now.ended or _rests(now.state, queue)

    return EventSourceResponse(_events(first, look))


async def _events(
    job: QueuedImport, look: Callable[[QueuedImport], tuple[QueuedImport, bool]]
) -> AsyncIterator[bytes]:
    before = None
    while True:
        try:
            job, rests = await run_sync(look, job)
        except NotFoundError as error:
            yield event("gone", {"detail": str(error)})
            return
        except AppError as error:
            yield failed(error)
            return
        if rests:
            break
        if job != before:
            yield named("progress", told(job).model_dump_json())
        before = job
        await anyio.sleep(_LOOK_S)
    yield named("end", told(job).model_dump_json())


def _rests(state: ImportState, queue: ImportQueue) -> bool:
    waits = state in (ImportState.QUEUED, ImportState.INTERRUPTED)
    return state is ImportState.PAUSED or (waits and not queue.expects_worker())
