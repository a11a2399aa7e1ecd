"""Lists sources with their status, and adds, edits, refreshes, pauses, and removes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from domain import Action, ImportKind, ImportRun, ImportState, Principal, Role
from domain.errors import ForbiddenError, NotFoundError
from domain.messages import _
from services.access import Access, owner_of, require_role
from services.audit_service import AuditService
from services.imports.import_queue import ImportQueue
from services.imports.readable_records import ReadableRecords
from services.sources.server_folders import DIRECTORY, require_permitted
from services.sources.source_kinds import FieldValues, SourceAddition, SourceKinds, SourcePreview
from services.sources.upload_service import KIND as UPLOAD
from services.sources.upload_service import box_called
from storage.ledger.restriction_store import collection_restriction
from storage.ledger.source_store import (
    MIRROR_PERMISSIONS,
    SourceFigures,
    SourceTraces,
    StoredSource,
    mirrors_permissions,
)


class Schedule(StrEnum):
    """How often a source is refreshed automatically."""

    NEVER = "never"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"

    @property
    def seconds(self) -> int | None:
        """The interval between refreshes; None for never."""
        return _SECONDS[self]

    @classmethod
    def of(cls, seconds: int | None) -> "Schedule":
        """The shortest schedule with at least this interval."""
        if seconds is None:
            return cls.NEVER
        return next((one for one, time in _SECONDS.items() if time and time >= seconds), cls.WEEKLY)


_SECONDS = {
    Schedule.NEVER: None,
    Schedule.HOURLY: 3600,
    Schedule.DAILY: 24 * 3600,
    Schedule.WEEKLY: 7 * 24 * 3600,
}


_DAY_S = 24 * 3600
_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Settings for sources of all kinds; an empty collection means the source's name."""

    name: str = ""
    collection: str = ""
    labels: tuple[str, ...] = ()
    schedule: Schedule = Schedule.NEVER

    def over(self, before: "SourceSettings") -> "SourceSettings":
        """These settings, with empty ones taken from `before`."""
        return SourceSettings(
            self.name.strip() or before.name,
            self.collection.strip() or before.collection,
            tuple(label for label in self.labels if label.strip()) or before.labels,
            before.schedule if self.schedule is Schedule.NEVER else self.schedule,
        )


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source and its status.

    `run` is its current import run, if any; `last` is its latest ended import. `next_refresh` is
    None if it has no schedule or is paused.
    """

    source: StoredSource
    figures: SourceFigures
    run: ImportRun | None
    last: ImportRun | None
    next_refresh: datetime | None

    @property
    def state(self) -> ImportState | None:
        """The state of the current run, or else of the last import; None if there was none."""
        latest = self.run or self.last
        return latest.state if latest else None


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    """The effects of a removal. Conversations keep their answers and the quoted evidence."""

    documents: int
    passages: int
    conversations: int


def next_refresh(
    source: StoredSource, last: datetime | None, failed_in_a_row: int, now: datetime
) -> datetime | None:
    """The time of the next automatic refresh; None if it has no schedule or is paused.

    `last` is the start of the last full import. The interval doubles after each failure, up to one
    day. A source that was added while the clock was ahead is due at once.
    """
    if source.refresh_s is None or source.paused:
        return None
    since = last or source.created_at
    if since > now:
        return now
    backoff = source.refresh_s * 2 ** min(failed_in_a_row, _DOUBLINGS)
    return since + timedelta(seconds=max(source.refresh_s, min(backoff, _DAY_S)))


@dataclass(frozen=True)
class SourceService:
    """Adds, changes, and removes sources. Only its owner sees a conversation's upload box."""

    access: Access
    kinds: SourceKinds
    queue: ImportQueue
    traces: SourceTraces
    audit: AuditService

    def list(self, principal: Principal) -> Sequence[SourceStatus]:
        """All visible sources sorted by name, those of conversations last."""
        visible = self.access.own_sources(principal).values()
        shared_first = sorted(visible, key=lambda source: bool(source.conversation_id))
        return self._statuses(principal, shared_first)

    def get(self, principal: Principal, source_id: str) -> SourceStatus:
        """A visible source; raises NotFoundError if there is none with this id."""
        return self._statuses(principal, [self._source(principal, source_id)])[0]

    def collections(self, principal: Principal) -> Sequence[str]:
        """The sorted collections of shared sources."""
        shared = self.access.library_sources(principal).values()
        return sorted({source.collection for source in shared})

    def test(self, principal: Principal, kind: str, values: FieldValues) -> SourcePreview:
        """Test a source before it is added.

        Raises:
            ForbiddenError: The principal's role does not permit it.
            SourceError: The source can't be listed or is empty; the message says what to do.
        """
        require_role(principal, Role.EDITOR)
        return self.kinds.get(kind).check(principal, values)

    def add(
        self, principal: Principal, kind: str, values: FieldValues, settings: SourceSettings
    ) -> SourceAddition:
        """Test and save a source.

        Raises:
            SameSourceError: The source already exists.
            SourceError: The test failed; the message says what to do.
            ForbiddenError: The principal's role does not permit it; nothing is stored.
        """
        self.test(principal, kind, values)
        box = self._box(principal, kind, values)
        if box is not None:  # more files for an existing box; empty settings stay
            settings = settings.over(self.settings(principal, box.id))
            self._require_same_readers(principal, box, settings)
        added = self.kinds.get(kind).add(principal, values)
        self._save(added.source, settings)
        source = self.access.sources.get(added.source.id)
        action = Action.SOURCE_ADDED if box is None else Action.SOURCE_EDITED
        self.audit.record_source(principal, action, source)
        return replace(added, source=source)

    def _box(self, principal: Principal, kind: str, values: FieldValues) -> StoredSource | None:
        if kind != UPLOAD:
            return None
        return box_called(str(values.get("box") or ""), self.access.own_sources(principal).values())

    def settings(self, principal: Principal, source_id: str) -> SourceSettings:
        """The current settings of a source.

        Raises:
            NotFoundError: There is no such source.
        """
        source = self.access.managed_source(principal, source_id)
        return SourceSettings(
            source.name,
            str(source.options.get("collection") or ""),
            source.labels,
            Schedule.of(source.refresh_s),
        )

    def edit(
        self, principal: Principal, source_id: str, values: FieldValues, settings: SourceSettings
    ) -> ImportRun | None:
        """Change a source, and queue an import that applies the changes to its documents.

        Returns:
            The import, or None if the changes don't affect documents.

        Raises:
            NotFoundError: There is no such source.
            ForbiddenError: Only administrators may change who can read the documents in this way.
            SourceError: The new options match nothing.
        """
        before = self.access.managed_source(principal, source_id)
        _require_same_mirroring(principal, before, values)
        self._require_same_readers(principal, before, settings)
        options = self.kinds.get(before.kind).edited_options(before, values)
        if before.kind == DIRECTORY and {**before.options, **options} != before.options:
            require_permitted(self.access, principal, Path(before.location))
        self._save(before, settings, options)
        after = self.access.sources.get(source_id)
        self.audit.record_source(principal, Action.SOURCE_EDITED, after)
        if after.options == before.options and after.collection == before.collection:
            return None
        return self.queue.enqueue(principal, source_id)

    def pause(self, principal: Principal, source_id: str) -> None:
        """Pause automatic refreshes of a source and its current runs."""
        source = self.access.managed_source(principal, source_id)
        self.access.sources.pause(source.id, paused=True)
        for run in self.queue.current(principal, source.id):
            self.queue.pause(principal, run.id)

    def resume(self, principal: Principal, source_id: str) -> None:
        """Resume automatic refreshes of a source and its paused runs."""
        source = self.access.managed_source(principal, source_id)
        self.access.sources.pause(source.id, paused=False)
        for run in self.queue.current(principal, source.id):
            self.queue.resume(principal, run.id)

    def refresh(
        self, principal: Principal, source_id: str, *, confirm_removals: bool = False
    ) -> ImportRun:
        """Queue an import of a source."""
        source = self.access.managed_source(principal, source_id)
        return self.queue.enqueue(principal, source.id, confirm_removals=confirm_removals)

    def dry_run(self, principal: Principal, source_id: str) -> ImportRun:
        """Queue a dry run of a source."""
        source = self.access.managed_source(principal, source_id)
        return self.queue.enqueue(principal, source.id, ImportKind.DRY_RUN)

    def preview_removal(self, principal: Principal, source_id: str) -> RemovalPreview:
        """The effects that `delete` would have."""
        status = self.get(principal, source_id)
        citing = self.traces.citing_conversations(source_id)
        return RemovalPreview(status.figures.documents, status.figures.passages, citing)

    def delete(self, principal: Principal, source_id: str) -> ImportRun:
        """Cancel the runs of a source and queue its removal."""
        source = self.access.managed_source(principal, source_id)
        for run in self.queue.current(principal, source.id):
            if run.kind is not ImportKind.REMOVAL:
                self.queue.cancel(principal, run.id)
        removal = self.queue.enqueue(principal, source.id, ImportKind.REMOVAL)
        self.audit.record_source(principal, Action.SOURCE_DELETED, source)
        return removal

    def refresh_due(self, principal: Principal, now: datetime) -> Sequence[ImportRun]:
        """Queue an import of every source that is due.

        Imports of private sources are queued on behalf of their owner, others on behalf of the
        principal.
        """
        busy, sources = self.queue.busy_sources(), self.access.sources.list()
        at = self._next_refreshes(sources, now)
        due = [one for one in sources if one.id not in busy and one.id in at and at[one.id] <= now]
        return [
            self.queue.enqueue(owner_of(one, principal), one.id, is_scheduled=True) for one in due
        ]

    def _next_refreshes(
        self, sources: Iterable[StoredSource], now: datetime
    ) -> dict[str, datetime]:
        """By source id, the time of `next_refresh`, without sources that have none."""
        begun, failed = self.traces.last_refreshes(now), self.traces.consecutive_failures()
        times = {
            one.id: next_refresh(one, begun.get(one.id), failed.get(one.id, 0), now)
            for one in sources
        }
        return {id_: time for id_, time in times.items() if time}

    def _source(self, principal: Principal, source_id: str) -> StoredSource:
        visible = self.access.own_sources(principal)
        if source_id not in visible:
            raise NotFoundError(_("There is no such source. See the list of sources."))
        return visible[source_id]

    def _statuses(
        self, principal: Principal, sources: Iterable[StoredSource]
    ) -> "Sequence[SourceStatus]":
        # Read current runs first. A run that ends in between appears as current, last, or both.
        runs: dict[str, ImportRun] = {}
        for run in self.queue.current(principal):
            runs.setdefault(run.source_id, run)
        records = ReadableRecords(self.access, principal)
        managed = self.access.managed_sources(principal)
        sources = list(sources)
        figures = self.access.sources.figures(self.access.readers(principal))
        latest = {
            source_id: records.run(run)
            for source_id, run in self.traces.latest_imports().items()
            if source_id in managed
        }
        refreshes = self._next_refreshes(sources, datetime.now(UTC))
        return [
            SourceStatus(
                source,
                figures.get(source.id, SourceFigures()),
                runs.get(source.id),
                latest.get(source.id),
                refreshes.get(source.id),
            )
            for source in sources
        ]

    def _require_same_readers(
        self, principal: Principal, source: StoredSource, settings: SourceSettings
    ) -> None:
        """Refuse to move a source into or out of a restricted collection, unless by an admin."""
        options = {**source.options, "collection": settings.collection.strip()}
        moved = replace(source, name=_name(source, settings), options=options)
        if moved.collection == source.collection or source.conversation_id:
            return
        for collection in (source.collection, moved.collection):
            if self.access.restrictions.readers(collection_restriction(collection)) is not None:
                _require_administrator(
                    principal,
                    _(
                        "The collection {collection} has a list of readers, so only an"
                        " administrator can move this source: ask one, or keep its name and"
                        " collection."
                    ).format(collection=collection),
                )

    def _save(
        self, source: StoredSource, settings: SourceSettings, options: FieldValues | None = None
    ) -> None:
        labels = sorted({label.strip() for label in settings.labels} - {""})
        filing = {"collection": settings.collection.strip(), "labels": labels}
        self.access.sources.save(
            source.id,
            name=_name(source, settings),
            options={**(options or {}), **filing},
            refresh_s=settings.schedule.seconds,
        )


def _name(source: StoredSource, settings: SourceSettings) -> str:
    return settings.name.strip() or source.name


def _require_same_mirroring(
    principal: Principal, source: StoredSource, values: FieldValues
) -> None:
    """Refuse to change whether a source mirrors permissions, unless by an administrator."""
    before = mirrors_permissions(source.options)
    if bool(values.get(MIRROR_PERMISSIONS, before)) != before:
        _require_administrator(
            principal,
            _(
                "Only an administrator can change whether {name} mirrors permissions: ask one, or"
                " leave the option as it is."
            ).format(name=source.name),
        )


def _require_administrator(principal: Principal, message: str) -> None:
    if not principal.role.includes(Role.ADMIN):
        raise ForbiddenError(message)
