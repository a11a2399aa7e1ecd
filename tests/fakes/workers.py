"""Workers that share a library, each with a ledger and stores of its own, as in processes."""

from functools import partial

from domain import ImportKind, ImportState
from domain.errors import BusyError, StorageUnavailableError
from services.imports.import_run import ImportTask
from services.imports.leased_run import LeasedRun
from storage.ledger.import_queue_store import ImportRuns
from storage.processes import process_name
from tests.fakes.library import DictLoader, Library


def documents(name, count=70):
    return {f"{name}{n:03}.txt": f"The {name} document {n}. " * 3 for n in range(count)}


class HookedLoader(DictLoader):
    """Calls `on_read` with the number of documents read so far, before each one."""

    def __init__(self, texts, on_read=lambda _number: None):
        super().__init__(texts)
        self.on_read = on_read

    def read(self, ref):
        self.on_read(len(self.reads))
        return super().read(ref)


class Worker:
    """A worker process: it shares only the data folder and the database with the others."""

    def __init__(self, data_dir):
        self.library = Library(data_dir)
        self.runs = ImportRuns(self.library.database)
        self.name = process_name()
        self.run = None
        self.error = None

    def add(self, name):
        """Queue an import of a new source, and return the source."""
        source = self.library.sources.ensure("directory", f"/{name}", name=name)
        self.runs.enqueue(source.id, "anna", ImportKind.IMPORT, {})
        return source

    def claim(self):
        self.run = self.library.leases.claim(self.name)
        return self.run

    def perform(self, loader, on_progress=lambda _: None):
        """Perform the claimed run, and return its state."""
        leases, run = self.library.leases, self.run
        leased = LeasedRun(
            leases,
            run.id,
            self.name,
            default_state=ImportState.INTERRUPTED,
            on_progress=on_progress,
        )
        try:
            leased.run(partial(self._work, loader))
        except (BusyError, StorageUnavailableError) as error:
            self.error = error
        return self.runs.get(run.id).state

    def _work(self, loader, on_progress, cancelled):
        source = self.library.sources.get(self.run.source_id)
        task = ImportTask(
            self.run.id, self.name, source, loader, on_progress=on_progress, cancelled=cancelled
        )
        return self.library.imports.perform(task)

    def take_over(self):
        """Claim the run of another worker, as after the expiry of its lease."""
        [run] = [one for one in self.runs.current() if one.state is ImportState.RUNNING]
        with self.library.database.write() as session:
            session.connection().exec_driver_sql("UPDATE imports SET state = 'interrupted'")
        assert self.claim().id == run.id
