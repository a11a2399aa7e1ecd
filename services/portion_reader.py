"""Reads portions of large imports on behalf of the workers that perform them."""

import time
from dataclasses import dataclass, field

from domain import CancelledError
from domain.logs import get_logger
from services.imports.import_resumption import Quarantine
from services.imports.import_run import ImportTask
from services.imports.import_service import ImportService
from services.long_work import CancelableWait, Cancelled, ignore
from services.sources.source_kinds import SourceKinds
from storage.ledger.database import Database
from storage.ledger.import_portions import ImportPortions, Portion
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.source_store import Sources

_CHECK_S = 1.0

_log = get_logger("imports")


class PortionReader:
    """Helps other workers with their imports; what it can't read is left to them."""

    def __init__(self, database: Database, kinds: SourceKinds, imports: ImportService) -> None:
        self._portions = ImportPortions(database)
        self._runs = ImportRuns(database)
        self._sources = Sources(database)
        self._kinds = kinds
        self._imports = imports

    def read_next(self, worker: str, stopped: Cancelled) -> bool:
        """Take a portion of any import and read it, until it is done or `stopped`.

        Returns whether there was one.
        """
        portion = self._portions.take_any(worker)
        if portion is None:
            return False
        try:
            self._read(portion, worker, _Stop(self._portions, portion, worker, stopped))
        except CancelledError:
            self._portions.give_back(portion, worker)
        except Exception as error:  # noqa: BLE001  # the import's worker meets it again, and reports it
            _log.warning("portion not read", import_id=portion.import_id, reason=str(error))
            self._portions.give_back(portion, worker)
        else:
            self._portions.finish(portion, worker)
        return True

    def _read(self, portion: Portion, worker: str, cancelled: Cancelled) -> None:
        run = self._runs.get(portion.import_id)
        source = self._sources.get(run.source_id)
        loader = self._kinds.loader(source, CancelableWait(ignore, cancelled).wait)
        task = ImportTask(
            run.id,
            worker,
            source,
            loader,
            quarantine=Quarantine(run.quarantined),
            cancelled=cancelled,
        )
        self._imports.read_portion(task, portion)


@dataclass
class _Stop:
    """Whether to stop reading a portion, because this process or the import stops."""

    portions: ImportPortions
    portion: Portion
    worker: str
    stopped: Cancelled
    _checked_at: float = field(default_factory=time.monotonic)
    _is_lost: bool = False

    def __call__(self) -> bool:
        now = time.monotonic()
        if now - self._checked_at >= _CHECK_S:
            self._is_lost = not self.portions.is_held(self.portion, self.worker)
            self._checked_at = now
        return self._is_lost or self.stopped()
