"""Operations on sources: list, read, test, add, change, pause, import, and delete."""

from fastapi import APIRouter

from api.authentication import ManageAccess, OpenServices, ReadAccess
from api.field_types import Paging, SourceId
from api.problems import CONFLICT, NOT_FOUND
from api.rest.import_routes import Import, ImportRequest, import_response
from api.rest.source_schemas import (
    AddedSource,
    ChangedSource,
    NewSource,
    RemovalPreview,
    SourceChange,
    SourceKindPage,
    SourcePage,
    SourceStatus,
    SourceTest,
)
from bootstrap import Services
from domain import Principal
from services.sources.source_kinds import require_known_fields
from services.sources.source_service import Schedule
from services.sources.source_service import SourceStatus as Standing

router = APIRouter(tags=["sources"])


@router.get("/source-kinds")
def list_source_kinds(
    services: OpenServices, _principal: ReadAccess, paging: Paging
) -> SourceKindPage:
    """List the kinds of sources and their fields."""
    kinds = services.source_kinds
    return SourceKindPage.slice_of([kinds.get(name) for name in kinds.names()], paging)


@router.get("/sources")
def list_sources(services: OpenServices, principal: ReadAccess, paging: Paging) -> SourcePage:
    """List the sources and their state."""
    statuses = services.sources.list(principal)
    page = paging.slice(statuses)
    return SourcePage(items=[_status_response(services, one) for one in page], total=len(statuses))


@router.get("/sources/{source_id}", responses=NOT_FOUND)
def read_source(services: OpenServices, principal: ReadAccess, source_id: SourceId) -> SourceStatus:
    """Read a source with its statistics, schedule, and imports."""
    return _source(services, principal, source_id)


@router.post("/sources/test", responses=CONFLICT)
def test_source(services: OpenServices, principal: ManageAccess, body: NewSource) -> SourceTest:
    """Test a source before adding it.

    A directory is on the machine that Footnote runs on: a key with the scope `manage` can import
    any file that Footnote can read, as its import page can.
    """
    return SourceTest.model_validate(services.sources.test(principal, body.kind, body.fields))


@router.post("/sources", status_code=201, responses=CONFLICT)
def create_source(services: OpenServices, principal: ManageAccess, body: NewSource) -> AddedSource:
    """Add a source that passes the test; nothing is imported until requested.

    Secrets are stored encrypted and are never returned. A directory is on the machine that
    Footnote runs on, as for a test.
    """
    added = services.sources.add(principal, body.kind, body.fields, body.settings)
    source = _source(services, principal, added.source.id)
    return AddedSource(source=source, warnings=list(added.warnings))


@router.patch("/sources/{source_id}", responses=NOT_FOUND | CONFLICT)
def change_source(
    services: OpenServices, principal: ManageAccess, source_id: SourceId, change: SourceChange
) -> ChangedSource:
    """Change a source, except for the fields that locate it.

    If its documents have to be updated, an import is queued.
    """
    source = services.sources.get(principal, source_id).source
    kind = services.source_kinds.get(source.kind)
    require_known_fields([one for one in kind.fields if not one.fixed], change.fields)
    values = {**kind.field_values(source), **change.fields}
    settings = change.over(services.sources.settings(principal, source_id))
    job = services.sources.edit(principal, source_id, values, settings)
    return ChangedSource.from_objects(source=_source(services, principal, source_id), queued=job)


@router.post("/sources/{source_id}/pause", responses=NOT_FOUND)
def pause_source(
    services: OpenServices, principal: ManageAccess, source_id: SourceId
) -> SourceStatus:
    """Pause a source: automatic refreshes stop, and its running import is paused."""
    services.sources.pause(principal, source_id)
    return _source(services, principal, source_id)


@router.post("/sources/{source_id}/resume", responses=NOT_FOUND)
def resume_source(
    services: OpenServices, principal: ManageAccess, source_id: SourceId
) -> SourceStatus:
    """Resume a source and its paused import."""
    services.sources.resume(principal, source_id)
    return _source(services, principal, source_id)


@router.post("/sources/{source_id}/import", status_code=202, responses=NOT_FOUND)
def import_source(
    services: OpenServices,
    principal: ManageAccess,
    source_id: SourceId,
    body: ImportRequest = ImportRequest(),  # noqa: B008  # nothing changes it
) -> Import:
    """Import a source as soon as a worker is free."""
    job = services.sources.refresh(principal, source_id, confirm_removals=body.confirm_removals)
    return import_response(job)


@router.post("/sources/{source_id}/dry-run", status_code=202, responses=NOT_FOUND)
def dry_run_source(services: OpenServices, principal: ManageAccess, source_id: SourceId) -> Import:
    """Plan an import without changing anything, as soon as a worker is free."""
    return import_response(services.sources.dry_run(principal, source_id))


@router.get("/sources/{source_id}/removal", responses=NOT_FOUND)
def preview_removal(
    services: OpenServices, principal: ReadAccess, source_id: SourceId
) -> RemovalPreview:
    """Read what deleting a source would remove."""
    return RemovalPreview.model_validate(services.sources.preview_removal(principal, source_id))


@router.delete("/sources/{source_id}", status_code=202, responses=NOT_FOUND)
def delete_source(services: OpenServices, principal: ManageAccess, source_id: SourceId) -> Import:
    """Delete a source with its documents as soon as a worker is free.

    An upload box is deleted with its files; other sources are not modified.
    """
    return import_response(services.sources.delete(principal, source_id))


def _source(services: Services, principal: Principal, source_id: str) -> SourceStatus:
    return _status_response(services, services.sources.get(principal, source_id))


def _status_response(services: Services, status: Standing) -> SourceStatus:
    source = status.source
    return SourceStatus.from_objects(
        status,
        source,
        status.figures,
        fields=services.source_kinds.get(source.kind).field_values(source),
        schedule=Schedule.of(source.refresh_s),
        current=status.run,
    )
