"""Adds catalogs as sources, and imports them directly or through the queue."""

from dataclasses import dataclass
from pathlib import Path

from domain import ImportReport, ImportRun, Principal
from services.imports.import_queue import ImportQueue
from services.imports.import_service import ImportService
from services.long_work import CancelableWait, OnProgress, ignore, never
from services.sources.catalog_kind import KIND
from services.sources.source_kinds import SameSourceError, SourceKinds, require_there
from services.sources.source_service import SourceService, SourceSettings
from storage.ledger.source_store import StoredSource

FILE_NAME, LEGACY_FILE_NAME = "catalog.yaml", "catalogue.yaml"


@dataclass(frozen=True)
class CatalogImports:
    """Imports catalogs; `sample` is the folder of the sample catalog."""

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
        """Import a catalog, which is added as a source if it is new.

        Args:
            principal: The owner of the catalog.
            path: The description, or a folder with a catalog.yaml.
            confirm_removals: Remove places even if most of the catalog is gone.
            on_progress: Called with the progress.

        Raises:
            SourceError: There is no description at `path`, it is invalid, or the data can't be
                read.
            BusyError: Another import is running.
            StorageError: The data folder can't be written.
            ModelError: Embedding failed.
        """
        source = self._source(principal, path)
        wait = CancelableWait(on_progress, never)
        return self.imports.run(
            principal,
            source,
            self.kinds.loader(source, wait.wait),
            confirm_removals=confirm_removals,
            on_progress=wait.report,
        )

    def queue_sample(self, principal: Principal) -> ImportRun:
        """Add the sample catalog, and queue its import.

        Raises:
            SourceError: Its files are missing.
        """
        return self.queue.enqueue(principal, self._source(principal, self.sample).id)

    def _source(self, principal: Principal, path: Path) -> StoredSource:
        require_there(path)
        file = _description_in(path) if path.is_dir() else path
        fields = {"path": str(file.resolve())}
        try:
            return self.sources.add(principal, KIND, fields, SourceSettings()).source
        except SameSourceError as error:
            return error.source


def _description_in(folder: Path) -> Path:
    """The description file in a folder; earlier versions of Footnote named it catalogue.yaml."""
    file, legacy_file = folder / FILE_NAME, folder / LEGACY_FILE_NAME
    return legacy_file if legacy_file.is_file() and not file.exists() else file
