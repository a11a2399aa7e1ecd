"""Keeps the library sound: recovers after a crash, checks it, rebuilds its index."""

import time
from dataclasses import dataclass

from domain import Principal
from errors import BusyError, StorageError
from services.check import CheckReport, check_index
from services.index_writer import sweep_active
from services.open_store import open_store
from services.progress import Cancelled, CancelledError, OnProgress, ignore, never
from services.reindex import IndexBuilder
from storage.conversations import Conversations
from storage.database import Database
from storage.documents import Documents
from storage.import_leases import ImportLeases
from storage.index_stores import IndexStore, IndexStores
from storage.indexes import Index, Indexes, IndexSpec, IndexState, new_index
from storage.ledger import Ledger
from storage.lock import writer_lock
from storage.sources import Sources

_LOCK_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was put right at the start; `problem` is what could not be, in words."""

    imports: int = 0
    turns: int = 0
    passages: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the active index stands to the settings; `active` is None before the first import.

    `problem` is what could not be put right at the start of this process, in words.
    """

    documents: int
    passages: int
    active: Index | None
    wanted: IndexSpec
    problem: str = ""

    @property
    def reindex_needed(self) -> bool:
        """Whether the index was made with another model or splitter than the settings say."""
        return self.active is not None and self.active.fingerprint != self.wanted.fingerprint

    @property
    def message(self) -> str:
        """What to do, or nothing where all is well."""
        if not self.reindex_needed:
            return ""
        return (
            "The settings of embedding or splitting, or what an index holds, have changed since"
            " the index was made:"
            f" re-embed {self.passages} passages with `python cli.py reindex`. Until then the old"
            " index goes on answering, with the model it was made with."
        )


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How a reindex ended; one that is not `completed` goes on where it stopped."""

    completed: bool
    passages_embedded: int
    seconds: float


class MaintenanceService:
    """What is done to the library as a whole."""

    def __init__(self, database: Database, stores: IndexStores, wanted: IndexSpec) -> None:
        """Args are kept, nothing is opened.

        Args:
            database: The ledger.
            stores: The indexes' folders.
            wanted: What the settings say an index should be made with.
        """
        self._stores = stores
        self._wanted = wanted
        self._documents = Documents(database)
        self._leases = ImportLeases(database)
        self._conversations = Conversations(database)
        self._indexes = Indexes(database)
        self._ledger = Ledger(database)
        self._sources = Sources(database)
        self._problem: tuple[Index | None, str] = (None, "")  # of that index

    def recover(self) -> Recovery:
        """Put right what a killed process left behind; for the start of each process.

        While another process writes, what it may be using is left alone. An index that can't
        be opened is told as the problem, so that a reindex can still be started; `status` tells
        it for as long as that index is the active one.
        """
        turns = self._conversations.interrupt_running()
        imports = self._leases.interrupt_dead()
        try:
            with writer_lock(self._stores.data_dir, timeout_s=0):
                self._delete_retired()
                return Recovery(imports, turns, self._sweep_active())
        except BusyError:
            return Recovery(imports, turns)
        except StorageError as error:
            self._problem = (self._indexes.active(), str(error))
            return Recovery(imports, turns, problem=str(error))

    def status(self, principal: Principal) -> IndexStatus:  # noqa: ARG002  # every call names who asks
        """Whether the index is what the settings ask for."""
        active = self._indexes.active()
        passages = 0 if active is None else self._indexes.passages(active.id)
        of, told = self._problem
        problem = told if active == of else ""
        return IndexStatus(self._documents.count(), passages, active, self._wanted, problem)

    def check(self, principal: Principal) -> CheckReport:  # noqa: ARG002  # every call names who asks
        """Compare the ledger with both stores of the active index.

        Raises:
            BusyError: An import or a reindex is running.
        """
        with writer_lock(self._stores.data_dir, timeout_s=_LOCK_TIMEOUT_S):
            active = self._indexes.active()
            if active is None:
                return CheckReport(self._documents.count(), 0)
            return check_index(self._documents, self._ledger, self._stores.open_afresh(active))

    def reindex(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        *,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ReindexReport:
        """Build an index with the settings of now from the documents' texts, then let it answer.

        The old index answers until the very end, and is deleted then. Stopped or killed, the
        next call goes on with the index that was begun, if the settings are still the same.

        Raises:
            BusyError: An import or another reindex is running.
            ModelError: The embedding failed.
            StorageError: The data folder can't be written.
        """
        started = time.monotonic()
        with writer_lock(self._stores.data_dir, timeout_s=_LOCK_TIMEOUT_S):
            index = self._begun() or self._new()
            builder = IndexBuilder(
                self._documents, self._sources, self._ledger, index, on_progress, cancelled
            )
            try:
                builder.fill()
            except CancelledError:
                return ReindexReport(False, builder.passages_embedded, time.monotonic() - started)
            self._indexes.activate(index.index.id)
            self._delete_retired()
        return ReindexReport(True, builder.passages_embedded, time.monotonic() - started)

    def _begun(self) -> IndexStore | None:
        """The index that an earlier reindex left unfinished, if it can be gone on with."""
        building = self._indexes.building()
        if building is None:
            return None
        store = self._stores.open(building)
        if building.fingerprint == self._wanted.fingerprint and _opens(store):
            return store
        self._indexes.retire(building.id)
        self._delete_retired()
        return None

    def _new(self) -> IndexStore:
        index = new_index(self._wanted, IndexState.BUILDING)
        store = self._stores.create(index)
        self._indexes.add(index)
        return store

    def _sweep_active(self) -> int:
        if active := self._indexes.active():
            store = open_store(self._indexes, self._stores, active)
            store.require_sound(contents=False)  # better told now than at a question
            store.record_first()
        return sweep_active(self._ledger, self._indexes, self._stores)

    def _delete_retired(self) -> None:
        for index in self._indexes.retired():
            if self._stores.delete(index.id):
                self._indexes.drop(index.id)


def _opens(index: IndexStore) -> bool:
    try:
        return len(index.passages.ids()) >= 0 and len(index.keywords.ids()) >= 0
    except StorageError:
        return False
