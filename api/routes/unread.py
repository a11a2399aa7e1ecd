"""What is not in the library though a source has it: it could not be read, or was left out."""

from fastapi import APIRouter

from api.access import Manager, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.schemas.documents import (
    Failure,
    FailurePage,
    GivenDocuments,
    LeftOutPage,
    NamedDocument,
    QueuedImports,
)
from api.schemas.imports import told
from bootstrap import Services
from domain import Principal
from services.own_sources import Named

router = APIRouter(tags=["documents"])
OF_SOURCES = problem_responses(404)


@router.get("/failures")
def list_failures(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> FailurePage:
    """List the documents that could not be read and were not dismissed, the latest first."""
    page = services.failures.page(principal, limit=limit, offset=offset)
    items = [Failure.model_validate(one) for one in page.failures]
    return FailurePage(items=items, total=page.total)


@router.post("/failures/dismiss", status_code=204, responses=OF_SOURCES)
def dismiss_failures(services: OpenServices, principal: Manager, given: GivenDocuments) -> None:
    """Show these failures no more, until they fail again."""
    services.failures.dismiss(principal, _named(services, principal, given))


@router.post("/failures/retry", status_code=202, responses=OF_SOURCES)
def retry_failures(
    services: OpenServices, principal: Manager, given: GivenDocuments
) -> QueuedImports:
    """Have these documents read again, changed or not."""
    jobs = services.failures.retry(principal, _named(services, principal, given))
    return QueuedImports(queued=[told(job) for job in jobs])


@router.get("/left-out")
def list_left_out(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> LeftOutPage:
    """List what sources leave out because somebody deleted it, by source."""
    left_out = services.documents.left_out(principal)
    items = [
        NamedDocument(source_id=source_id, key=key)
        for source_id, key in left_out[offset : offset + limit]
    ]
    return LeftOutPage(items=items, total=len(left_out))


@router.post("/left-out/take-back", status_code=202, responses=OF_SOURCES)
def take_back(services: OpenServices, principal: Manager, given: GivenDocuments) -> QueuedImports:
    """Let these documents be imported again."""
    jobs = services.documents.take_back(principal, _named(services, principal, given))
    return QueuedImports(queued=[told(job) for job in jobs])


def _named(services: Services, principal: Principal, given: GivenDocuments) -> list[Named]:
    """What is named; NotFoundError where a source is not there."""
    named = [(one.source_id, one.key) for one in given.documents]
    for source_id in {source_id for source_id, _ in named}:
        services.sources.settings(principal, source_id)
    return named
