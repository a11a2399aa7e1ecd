"""Lists a source and plans what is to be done: for an import and for its dry run alike."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain import Before, DocumentRef, Gone, Listed, Mark, NewOptions
from services.import_plan import Plan, plan
from services.import_run import Loader
from services.progress import Cancelled, OnProgress, Progress, Stage, stop_if
from storage.documents import KnownVersion
from storage.imports import Failure, Imports
from storage.left_out import left_out_of
from storage.sources import StoredSource


@dataclass(frozen=True, slots=True)
class Planner:
    """Compares sources with the ledger. `formats_version` is that of the readers."""

    imports: Imports
    formats_version: int

    def plan(
        self,
        source: StoredSource,
        loader: Loader,
        known: Mapping[str, KnownVersion],
        on_progress: OnProgress,
        cancelled: Cancelled,
        *,
        keys: Collection[str] = (),
        confirm_removals: bool = False,
    ) -> Plan:
        """What an import of the source has to do now; see `services.import_plan.plan`.

        Raises:
            CancelledError: The wish to stop came.
            SourceError: The source can't be listed.
        """
        failures = self.imports.failures(source.id)
        return plan(
            _listed(loader, before_of(known, failures, source.mark), on_progress, cancelled),
            known,
            failures,
            formats_version=self.formats_version,
            confirm_removals=confirm_removals,
            keys=keys,
            left_out=left_out_of(source.options),
        )


def before_of(
    known: Mapping[str, KnownVersion],
    failures: Mapping[str, Failure],
    mark: Mapping[str, Any],
) -> Before:
    """What a loader is told of earlier imports."""
    return Before(_refs(known), _refs(failures), mark)


def _refs(told: Mapping[str, KnownVersion] | Mapping[str, Failure]) -> dict[str, DocumentRef]:
    return {
        key: DocumentRef(key, one.version, one.location, one.title) for key, one in told.items()
    }


def _listed(
    loader: Loader, before: Before, on_progress: OnProgress, cancelled: Cancelled
) -> Iterator[Listed]:
    on_progress(Progress(Stage.LISTING, 0, 0))  # a source may take long before its first entry
    for done, entry in enumerate(loader.list(before)):
        stop_if(cancelled)
        on_progress(Progress(Stage.LISTING, done, 0, _name(entry)))
        yield entry


def _name(entry: Listed) -> str:
    if isinstance(entry, Mark | NewOptions):
        return ""
    return entry.key if isinstance(entry, Gone) else entry.name
