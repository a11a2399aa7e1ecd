"""The state of the installation, for operators."""

import os
import platform
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from domain import ImportRun, ImportState, Principal, Role, TurnState
from domain.version import VERSION
from services.access import Access, require_role
from services.imports.maintenance import IndexStatus, MaintenanceService
from services.imports.readable_records import ReadableRecords
from storage.ledger.conversation_store import Conversations
from storage.ledger.import_leases import Workers
from storage.ledger.import_queue_store import ImportRuns


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """The state at one moment.

    `runs` and `turns` have the number of recorded runs of imports and of stored turns for every
    state, and `free_bytes` is the free space on the disk of the data folder.
    """

    version: str
    python: str
    index: IndexStatus
    runs: Mapping[str, int]
    turns: Mapping[str, int]
    has_worker: bool
    free_bytes: int


@dataclass(frozen=True, slots=True)
class RunProblem:
    """A run that failed, left documents unread, or needs confirmation; with its source's name."""

    source: str
    run: ImportRun


@dataclass(frozen=True)
class StatusService:
    """Reads the state from the ledger and the disk of the data folder."""

    maintenance: MaintenanceService
    access: Access
    runs: ImportRuns
    conversations: Conversations
    workers: Workers
    data_dir: Path

    def current(self, principal: Principal) -> SystemStatus:
        """The state now.

        Raises:
            ForbiddenError: The principal is not an administrator.
            StorageError: The ledger can't be read.
        """
        require_role(principal, Role.ADMIN)
        runs, turns = self.runs.count_by_state(), self.conversations.count_turns_by_state()
        return SystemStatus(
            version=VERSION,
            python=platform.python_version(),
            index=self.maintenance.status(principal),
            runs={state.value: runs.get(state, 0) for state in ImportState},
            turns={state.value: turns.get(state, 0) for state in TurnState},
            has_worker=self.workers.any_alive(),
            free_bytes=shutil.disk_usage(self.data_dir).free,
        )

    def sizes(self) -> dict[str, int]:
        """The sizes of the files and folders in the data folder by name, in bytes, largest first.

        Files and folders that are deleted meanwhile do not count, and links are not followed.
        """
        with os.scandir(self.data_dir) as entries:
            sizes = {entry.name: _size(Path(entry)) for entry in entries if not entry.is_symlink()}
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    def problems(self, principal: Principal, *, limit: int = 5) -> list[RunProblem]:
        """The latest runs with problems of sources that the principal may read, latest first.

        Raises:
            ForbiddenError: The principal is not an administrator.
        """
        require_role(principal, Role.ADMIN)
        own = self.access.library_sources(principal)
        records = ReadableRecords(self.access, principal)
        runs = self.runs.problems(list(own), limit=limit)
        return [RunProblem(own[run.source_id].name, records.run(run)) for run in runs]


def _size(path: Path) -> int:
    if path.is_file():
        return _file_size(path)
    return sum(
        _file_size(Path(folder, name)) for folder, _, names in os.walk(path) for name in names
    )


def _file_size(file: Path) -> int:
    with suppress(FileNotFoundError):
        status = file.lstat()
        return status.st_size if stat.S_ISREG(status.st_mode) else 0
    return 0
