"""Catalogues are added as sources, and imported: at once, or as a job of the queue."""

from dataclasses import dataclass
from pathlib import Path

from domain import ImportReport, Principal, QueuedImport
from services.catalogue_kind import KIND
from services.imports import ImportService
from services.local_paths import require_there
from services.patience import Patience
from services.progress import OnProgress, ignore, never
from services.queue import ImportQueue
from services.source_kinds import SameSourceError, SourceKinds
from services.source_status import SourceSettings
from services.sources import SourceService
from storage.sources import StoredSource

FILE_NAME = "catalogue.yaml"


@dataclass(frozen=True)
class CatalogueImports:
    """Brings the library up to date with catalogues; `sample` is the folder of the sample."""

    sources: SourceService
    kinds: SourceKinds
    queue: ImportQueue
    imports: ImportService
    sample: Path

    def run(
        self,
        principal: Principal,
        path: Path,
        *,
        confirm_removals: bool = False,
        on_progress: OnProgress = ignore,
    ) -> ImportReport:
        """Make the library hold what the catalogue holds now; it is added where it is new.

        Args:
            principal: Who adds it.
            path: The description, or the folder of one that is called catalogue.yaml.
            confirm_removals: Remove places even if most of the catalogue is gone.
            on_progress: Told how far it has come.

        Raises:
            SourceError: There is no description at `path`, it is wrong, or its data can't be read.
            BusyError: Another import is running.
            StorageError: The data folder can't be written.
            ModelError: Embedding failed.
        """
        source = self._source(principal, path)
        patience = Patience(on_progress, never)
        return self.imports.run(
            principal,
            source,
            self.kinds.loader(source, patience.wait),
            confirm_removals=confirm_removals,
            on_progress=patience.tell,
        )

    def run_sample(self, principal: Principal, *, on_progress: OnProgress = ignore) -> ImportReport:
        """Import the sample catalogue; raises what `run` raises."""
        return self.run(principal, self.sample, on_progress=on_progress)

    def queue_sample(self, principal: Principal) -> QueuedImport:
        """Add the sample catalogue and have it imported as soon as a worker is free.

        Raises:
            SourceError: It does not lie where it ships.
        """
        return self.queue.enqueue(principal, self._source(principal, self.sample).id)

    def _source(self, principal: Principal, path: Path) -> StoredSource:
        require_there(path)
        file = path / FILE_NAME if path.is_dir() else path
        given = {"path": str(file.resolve())}
        try:
            return self.sources.add(principal, KIND, given, SourceSettings()).source
        except SameSourceError as same:
            return same.source
