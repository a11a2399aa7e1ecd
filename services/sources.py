"""The sources: how each stands, and what a person does with one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from domain import ImportKind, Principal, QueuedImport
from errors import NotFoundError
from services.own_sources import own_sources, owner_of
from services.queue import ImportQueue
from services.source_fields import Given
from services.source_kinds import Added, Seen, SourceKinds
from services.source_status import (
    RemovalPreview,
    Schedule,
    SourceSettings,
    SourceStatus,
    next_refresh,
)
from storage.source_traces import SourceTraces
from storage.sources import SourceFigures, Sources, StoredSource


class SourceService:
    """Adds, changes and removes sources. A box of a conversation is its owner's alone."""

    def __init__(
        self, sources: Sources, kinds: SourceKinds, queue: ImportQueue, traces: SourceTraces
    ) -> None:
        """Args: where sources are kept, what kinds there are, their imports, who cites them."""
        self._sources = sources
        self._kinds = kinds
        self._queue = queue
        self._traces = traces

    def list(self, principal: Principal) -> Sequence[SourceStatus]:
        """Every source the person may see, by name; those of a conversation at the end."""
        seen = own_sources(self._sources, principal).values()
        shared_first = sorted(seen, key=lambda source: bool(source.conversation_id))
        return self._statuses(principal, shared_first)

    def get(self, principal: Principal, source_id: str) -> SourceStatus:
        """One source.

        Raises:
            NotFoundError: There is none that this person may see.
        """
        return self._statuses(principal, [self._source(principal, source_id)])[0]

    def collections(self, principal: Principal) -> Sequence[str]:
        """The collections that shared sources are filed under, by name."""
        seen = own_sources(self._sources, principal).values()
        return sorted({source.collection for source in seen if not source.conversation_id})

    def test(self, principal: Principal, kind: str, given: Given) -> Seen:
        """What a source would hold, before it is kept.

        Raises:
            SourceError: It can't be listed or holds nothing; what to do is said.
        """
        return self._kinds.get(kind).check(principal, given)

    def add(self, principal: Principal, kind: str, given: Given, settings: SourceSettings) -> Added:
        """Keep a source that passes the test.

        Raises:
            SameSourceError: It is there already.
            SourceError: It doesn't pass; what to do is said.
        """
        before = own_sources(self._sources, principal)
        self.test(principal, kind, given)
        added = self._kinds.get(kind).add(principal, given)
        source_id = added.source.id
        if source_id in before:  # files for a box there is: what is left empty stays as it was
            settings = settings.over(self.settings(principal, source_id))
        self._save(added.source, settings)
        return replace(added, source=self._sources.get(source_id))

    def settings(self, principal: Principal, source_id: str) -> SourceSettings:
        """What is set of a source now.

        Raises:
            NotFoundError: There is no such source.
        """
        source = self._source(principal, source_id)
        return SourceSettings(
            source.name,
            str(source.options.get("collection") or ""),
            source.labels,
            Schedule.of(source.refresh_s),
        )

    def edit(
        self, principal: Principal, source_id: str, given: Given, settings: SourceSettings
    ) -> QueuedImport | None:
        """Change a source; documents are filed anew by the import that is queued for it.

        Returns:
            That import; None where nothing changed that an import has to do with.

        Raises:
            NotFoundError: There is no such source.
            SourceError: Its new options find nothing.
        """
        before = self._source(principal, source_id)
        self._save(before, settings, self._kinds.get(before.kind).edited(before, given))
        after = self._sources.get(source_id)
        if after.options == before.options and after.collection == before.collection:
            return None
        return self._queue.enqueue(principal, source_id)

    def pause(self, principal: Principal, source_id: str) -> None:
        """Let a source rest: it isn't refreshed by itself, and what is at work on it pauses."""
        source = self._source(principal, source_id)
        self._sources.pause(source.id, paused=True)
        for job in self._queue.current(principal, source.id):
            self._queue.pause(principal, job.id)

    def resume(self, principal: Principal, source_id: str) -> None:
        """Let a source go on, and what was paused of it."""
        source = self._source(principal, source_id)
        self._sources.pause(source.id, paused=False)
        for job in self._queue.current(principal, source.id):
            self._queue.resume(principal, job.id)

    def refresh(
        self, principal: Principal, source_id: str, *, confirm_removals: bool = False
    ) -> QueuedImport:
        """Bring a source up to date as soon as a worker is free."""
        source = self._source(principal, source_id)
        return self._queue.enqueue(principal, source.id, confirm_removals=confirm_removals)

    def dry_run(self, principal: Principal, source_id: str) -> QueuedImport:
        """Find out what an import would do, as soon as a worker is free."""
        source = self._source(principal, source_id)
        return self._queue.enqueue(principal, source.id, ImportKind.DRY_RUN)

    def preview_removal(self, principal: Principal, source_id: str) -> RemovalPreview:
        """What `delete` would take out of the library."""
        status = self.get(principal, source_id)
        citing = self._traces.citing_conversations(source_id)
        return RemovalPreview(status.figures.documents, status.figures.passages, citing)

    def delete(self, principal: Principal, source_id: str) -> QueuedImport:
        """Remove a source with its documents as soon as a worker is free; imports of it end."""
        source = self._source(principal, source_id)
        for job in self._queue.current(principal, source.id):
            if job.kind is not ImportKind.REMOVAL:
                self._queue.cancel(principal, job.id)
        return self._queue.enqueue(principal, source.id, ImportKind.REMOVAL)

    def refresh_due(self, principal: Principal, now: datetime) -> Sequence[QueuedImport]:
        """Queue an import of every source whose time has come; for the worker.

        That of a person's own source is queued in their name, the others in the principal's.
        """
        busy = self._queue.busy_sources()
        begun, failed = self._traces.last_refreshes(), self._traces.failed_in_a_row()
        due = [
            source
            for source in self._sources.list()
            if source.id not in busy
            and (at := next_refresh(source, begun.get(source.id), failed.get(source.id, 0)))
            and at <= now
        ]
        return [self._queue.enqueue(owner_of(one, principal), one.id) for one in due]

    def _source(self, principal: Principal, source_id: str) -> StoredSource:
        seen = own_sources(self._sources, principal)
        if source_id not in seen:
            raise NotFoundError("There is no such source (any more): look at the list of sources.")
        return seen[source_id]

    def _statuses(
        self, principal: Principal, sources: Iterable[StoredSource]
    ) -> "Sequence[SourceStatus]":
        # The jobs first: one that ends meanwhile is then seen as job or as the last, never as none.
        jobs: dict[str, QueuedImport] = {}
        for job in self._queue.current(principal):
            jobs.setdefault(job.source_id, job)
        figures, latest = self._sources.figures(), self._traces.latest_imports()
        begun, failed = self._traces.last_refreshes(), self._traces.failed_in_a_row()
        return [
            SourceStatus(
                source,
                figures.get(source.id, SourceFigures()),
                jobs.get(source.id),
                latest.get(source.id),
                next_refresh(source, begun.get(source.id), failed.get(source.id, 0)),
            )
            for source in sources
        ]

    def _save(
        self, source: StoredSource, settings: SourceSettings, options: Given | None = None
    ) -> None:
        name = settings.name.strip() or source.name
        labels = sorted({label.strip() for label in settings.labels} - {""})
        filing = {"collection": settings.collection.strip(), "labels": labels}
        self._sources.save(
            source.id,
            name=name,
            options={**(options or {}), **filing},
            refresh_s=settings.schedule.seconds,
        )
