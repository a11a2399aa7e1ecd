"""Operations on sources: list, read, test, add, change, pause, import, and delete."""

from fastapi import APIRouter

from api.authentication import Call, ManageCall, ReadCall
from api.field_types import Paging, SourceId
from api.problems import CONFLICT, NOT_FOUND
from api.rest.import_routes import Import, ImportRequest
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
from services.sources.source_kinds import require_known_fields
from services.sources.source_service import Schedule
from services.sources.source_service import SourceStatus as Standing

router = APIRouter(tags=["sources"])


@router.get("/source-kinds")
def list_source_kinds(call: ReadCall, paging: Paging) -> SourceKindPage:
    """List the kinds of sources and their fields."""
    kinds = call.services.source_kinds
    return SourceKindPage.slice_of([kinds.get(name) for name in kinds.names()], paging)


@router.get("/sources")
def list_sources(call: ReadCall, paging: Paging) -> SourcePage:
    """List the sources and their state."""
    statuses = call.services.sources.list(call.principal)
    page = paging.slice(statuses)
    return SourcePage(items=[_status_response(call, one) for one in page], total=len(statuses))


@router.get("/sources/{source_id}", responses=NOT_FOUND)
def read_source(call: ReadCall, source_id: SourceId) -> SourceStatus:
    """Read a source with its statistics, schedule, and imports."""
    return _source(call, source_id)


@router.post("/sources/test", responses=CONFLICT)
def test_source(call: ManageCall, body: NewSource) -> SourceTest:
    """Test a source before adding it.

    A directory is on the machine that Footnote runs on: a key with the scope `manage` can import
    any file that Footnote can read, as its import page can.
    """
    return SourceTest.model_validate(
        call.services.sources.test(call.principal, body.kind, body.fields)
    )


@router.post("/sources", status_code=201, responses=CONFLICT)
def create_source(call: ManageCall, body: NewSource) -> AddedSource:
    """Add a source that passes the test; nothing is imported until requested.

    Secrets are stored encrypted and are never returned. A directory is on the machine that
    Footnote runs on, as for a test.
    """
    added = call.services.sources.add(call.principal, body.kind, body.fields, body.settings)
    source = _source(call, added.source.id)
    return AddedSource(source=source, warnings=list(added.warnings))


@router.patch("/sources/{source_id}", responses=NOT_FOUND | CONFLICT)
def change_source(call: ManageCall, source_id: SourceId, change: SourceChange) -> ChangedSource:
    """Change a source, except for the fields that locate it.

    If its documents have to be updated, an import is queued.
    """
    source = call.services.sources.get(call.principal, source_id).source
    kind = call.services.source_kinds.get(source.kind)
    require_known_fields([one for one in kind.fields if not one.fixed], change.fields)
    values = {**kind.field_values(source), **change.fields}
    settings = change.over(call.services.sources.settings(call.principal, source_id))
    job = call.services.sources.edit(call.principal, source_id, values, settings)
    return ChangedSource.from_objects(source=_source(call, source_id), queued=job)


@router.post("/sources/{source_id}/pause", responses=NOT_FOUND)
def pause_source(call: ManageCall, source_id: SourceId) -> SourceStatus:
    """Pause a source: automatic refreshes stop, and its running import is paused."""
    call.services.sources.pause(call.principal, source_id)
    return _source(call, source_id)


@router.post("/sources/{source_id}/resume", responses=NOT_FOUND)
def resume_source(call: ManageCall, source_id: SourceId) -> SourceStatus:
    """Resume a source and its paused import."""
    call.services.sources.resume(call.principal, source_id)
    return _source(call, source_id)


@router.post("/sources/{source_id}/import", status_code=202, responses=NOT_FOUND)
def import_source(
    call: ManageCall,
    source_id: SourceId,
    body: ImportRequest = ImportRequest(),  # noqa: B008  # nothing changes it
) -> Import:
    """Import a source as soon as a worker is free."""
    job = call.services.sources.refresh(
        call.principal, source_id, confirm_removals=body.confirm_removals
    )
    return Import.model_validate(job)


@router.post("/sources/{source_id}/dry-run", status_code=202, responses=NOT_FOUND)
def dry_run_source(call: ManageCall, source_id: SourceId) -> Import:
    """Plan an import without changing anything, as soon as a worker is free."""
    return Import.model_validate(call.services.sources.dry_run(call.principal, source_id))


@router.get("/sources/{source_id}/removal", responses=NOT_FOUND)
def preview_removal(call: ReadCall, source_id: SourceId) -> RemovalPreview:
    """Read what deleting a source would remove."""
    return RemovalPreview.model_validate(
        call.services.sources.preview_removal(call.principal, source_id)
    )


@router.delete("/sources/{source_id}", status_code=202, responses=NOT_FOUND)
def delete_source(call: ManageCall, source_id: SourceId) -> Import:
    """Delete a source with its documents as soon as a worker is free.

    An upload box is deleted with its files; other sources are not modified.
    """
    return Import.model_validate(call.services.sources.delete(call.principal, source_id))


def _source(call: Call, source_id: str) -> SourceStatus:
    return _status_response(call, call.services.sources.get(call.principal, source_id))


def _status_response(call: Call, status: Standing) -> SourceStatus:
    source = status.source
    return SourceStatus.from_objects(
        status,
        source,
        status.figures,
        fields=call.services.source_kinds.get(source.kind).field_values(source),
        schedule=Schedule.of(source.refresh_s),
        current=status.run,
    )
