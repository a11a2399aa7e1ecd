"""Sources: which kinds there are, how each stands, and what is done with one."""

from fastapi import APIRouter

from api.access import Manager, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.routes.ids import SourceId
from api.schemas.imports import GivenImport, Import, told
from api.schemas.sources import (
    AddedSource,
    ChangedSource,
    NewSource,
    Removal,
    Seen,
    SourceChange,
    SourceKind,
    SourceKindPage,
    SourcePage,
    SourceStatus,
)
from bootstrap import Services
from domain import Principal
from services.source_fields import check_given
from services.source_status import Schedule
from services.source_status import SourceStatus as Standing

router = APIRouter(tags=["sources"])
ONE = problem_responses(404)
NOT_AS_THINGS_ARE = problem_responses(409)


@router.get("/source-kinds")
def list_source_kinds(
    services: OpenServices,
    _principal: Reader,
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> SourceKindPage:
    """List the kinds of sources, and what is filled in for each."""
    names = services.source_kinds.names()
    kinds = [services.source_kinds.get(name) for name in names[offset : offset + limit]]
    return SourceKindPage(
        items=[SourceKind.model_validate(kind) for kind in kinds], total=len(names)
    )


@router.get("/sources")
def list_sources(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> SourcePage:
    """List the sources and how each stands."""
    found = services.sources.list(principal)
    items = [_told(services, status) for status in found[offset : offset + limit]]
    return SourcePage(items=items, total=len(found))


@router.get("/sources/{source_id}", responses=ONE)
def read_source(services: OpenServices, principal: Reader, source_id: SourceId) -> SourceStatus:
    """Read how a source stands: its figures, its schedule, its imports."""
    return _source(services, principal, source_id)


@router.post("/sources/test", responses=NOT_AS_THINGS_ARE)
def test_source(services: OpenServices, principal: Manager, given: NewSource) -> Seen:
    """Look at what a source would hold, before it is kept.

    A directory is one of the machine that Footnote runs on: whoever may manage can have any of it
    imported that Footnote itself may read, as on its page.
    """
    return Seen.model_validate(services.sources.test(principal, given.kind, given.fields))


@router.post("/sources", status_code=201, responses=NOT_AS_THINGS_ARE)
def create_source(services: OpenServices, principal: Manager, given: NewSource) -> AddedSource:
    """Keep a source that passes the test; nothing is imported before that is asked for.

    Secrets are kept encrypted and come out of no operation. A directory is one of the machine that
    Footnote runs on, as for a test.
    """
    added = services.sources.add(principal, given.kind, given.fields, given.settings)
    source = _source(services, principal, added.source.id)
    return AddedSource(source=source, warnings=list(added.warnings))


@router.patch("/sources/{source_id}", responses=ONE | NOT_AS_THINGS_ARE)
def change_source(
    services: OpenServices, principal: Manager, source_id: SourceId, change: SourceChange
) -> ChangedSource:
    """Change a source; what says where it is stays as it is.

    Where its documents have to follow, an import of it is queued.
    """
    source = services.sources.get(principal, source_id).source
    kind = services.source_kinds.get(source.kind)
    check_given([one for one in kind.fields if not one.fixed], change.fields)
    given = {**kind.given(source), **change.fields}
    settings = change.over(services.sources.settings(principal, source_id))
    job = services.sources.edit(principal, source_id, given, settings)
    queued = told(job) if job else None
    return ChangedSource(source=_source(services, principal, source_id), queued=queued)


@router.post("/sources/{source_id}/pause", responses=ONE)
def pause_source(services: OpenServices, principal: Manager, source_id: SourceId) -> SourceStatus:
    """Let a source rest: it is not imported by itself, and what is at work on it pauses."""
    services.sources.pause(principal, source_id)
    return _source(services, principal, source_id)


@router.post("/sources/{source_id}/resume", responses=ONE)
def resume_source(services: OpenServices, principal: Manager, source_id: SourceId) -> SourceStatus:
    """Let a source go on, and what was paused of it."""
    services.sources.resume(principal, source_id)
    return _source(services, principal, source_id)


@router.post("/sources/{source_id}/import", status_code=202, responses=ONE)
def import_source(
    services: OpenServices,
    principal: Manager,
    source_id: SourceId,
    given: GivenImport = GivenImport(),  # noqa: B008  # nothing changes it
) -> Import:
    """Bring a source up to date as soon as a worker is free."""
    confirmed = given.confirm_removals
    return told(services.sources.refresh(principal, source_id, confirm_removals=confirmed))


@router.post("/sources/{source_id}/dry-run", status_code=202, responses=ONE)
def dry_run_source(services: OpenServices, principal: Manager, source_id: SourceId) -> Import:
    """Find out what an import would do, as soon as a worker is free; it changes nothing."""
    return told(services.sources.dry_run(principal, source_id))


@router.get("/sources/{source_id}/removal", responses=ONE)
def preview_removal(services: OpenServices, principal: Reader, source_id: SourceId) -> Removal:
    """Read what would go with a source if it were deleted."""
    return Removal.model_validate(services.sources.preview_removal(principal, source_id))


@router.delete("/sources/{source_id}", status_code=202, responses=ONE)
def delete_source(services: OpenServices, principal: Manager, source_id: SourceId) -> Import:
    """Remove a source with its documents as soon as a worker is free.

    A box of uploaded files goes with the files; elsewhere nothing is touched.
    """
    return told(services.sources.delete(principal, source_id))


def _source(services: Services, principal: Principal, source_id: str) -> SourceStatus:
    return _told(services, services.sources.get(principal, source_id))


def _told(services: Services, status: Standing) -> SourceStatus:
    source, figures = status.source, status.figures
    return SourceStatus(
        id=source.id,
        kind=source.kind,
        name=source.name,
        location=source.location,
        fields=dict(services.source_kinds.get(source.kind).given(source)),
        collection=source.collection,
        labels=list(source.labels),
        schedule=Schedule.of(source.refresh_s),
        paused=source.paused,
        conversation_id=source.conversation_id,
        created_at=source.created_at,
        documents=figures.documents,
        passages=figures.passages,
        failed=figures.failed,
        state=status.state,
        current=told(status.job) if status.job else None,
        last=told(status.last) if status.last else None,
        next_refresh=status.next_refresh,
    )
