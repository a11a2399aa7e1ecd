"""The state of the installation, for operators."""

import os
import platform
import shutil
import stat
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from domain import ImportRun, ImportState
from domain.version import VERSION
from storage.ledger.document_store import Documents
from storage.ledger.import_leases import Workers
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.index_store import Indexes, IndexSpec
from storage.ledger.source_store import Sources

_WAITING = (
    ImportState.QUEUED,
    ImportState.RUNNING,
    ImportState.PAUSED,
    ImportState.INTERRUPTED,
)


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """The state at one moment.

    `fingerprint` and `engine` describe the active index and are empty before the first import;
    `is_current` is whether the index has the configured embedding and splitting. `runs` has the
    number of runs that have not ended, for each state, and `free_bytes` the free space on the disk
    of the data folder.
    """

    version: str
    python: str
    fingerprint: str
    engine: str
    is_current: bool
    documents: int
    passages: int
    runs: Mapping[str, int]
    has_worker: bool
    free_bytes: int


@dataclass(frozen=True, slots=True)
class RunProblem:
    """A run that failed or left documents out, with the name of its source."""

    source: str
    run: ImportRun


@dataclass(frozen=True)
class StatusService:
    """Reads the state from the ledger and the disk of the data folder."""

    sources: Sources
    documents: Documents
    indexes: Indexes
    runs: ImportRuns
    workers: Workers
    configured: IndexSpec
    data_dir: Path

    def current(self) -> SystemStatus:
        """The state now.

        Raises:
            StorageError: The ledger can't be read.
        """
        index = self.indexes.active()
        runs = Counter(run.state for run in self.runs.current())
        return SystemStatus(
            version=VERSION,
            python=platform.python_version(),
            fingerprint=index.fingerprint if index else "",
            engine=index.spec.engine if index else "",
            is_current=index is not None and index.fingerprint == self.configured.fingerprint,
            documents=self.documents.count(),
            passages=self.indexes.passages(index.id) if index else 0,
            runs={state.value: runs[state] for state in _WAITING},
            has_worker=self.workers.any_alive(),
            free_bytes=shutil.disk_usage(self.data_dir).free,
        )

    def sizes(self) -> dict[str, int]:
        """The sizes of the files and folders in the data folder by name, in bytes, largest first.

        Files that are deleted meanwhile do not count.
        """
        with os.scandir(self.data_dir) as entries:
            sizes = {entry.name: _size(Path(entry)) for entry in entries}
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    def problems(self, limit: int = 5) -> list[RunProblem]:
        """The latest runs with problems, latest first."""
        names = {source.id: source.name for source in self.sources.list()}
        runs = self.runs.problems(limit=limit)
        return [RunProblem(names.get(run.source_id, ""), run) for run in runs]


def _size(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    total = 0
    for file in files:
        with suppress(FileNotFoundError):
            status = file.lstat()
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total
