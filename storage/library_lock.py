"""The lock of a library: one process at a time writes to its indexes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from domain.messages import _
from storage.ledger.database import Database
from storage.ledger.session_lock import LIBRARY
from storage.safe_writes import just_wait, writer_lock


class LibraryLock:
    """The lock of the data folder and, with a ledger on PostgreSQL, also one of the database.

    Processes on other machines may share the database and a search server, but not the folder.
    """

    def __init__(self, data_dir: Path, database: Database) -> None:
        """Lock nothing yet."""
        self._data_dir = data_dir
        self._session_lock = database.session_lock(LIBRARY)

    @contextmanager
    def hold(self, timeout_s: float, on_wait: Callable[[], None] = just_wait) -> Iterator[None]:
        """Hold the lock, which is not reentrant.

        Args:
            timeout_s: How long to wait for another process, for each of the two locks.
            on_wait: Called repeatedly while waiting; an error that it raises ends the wait.

        Raises:
            BusyError: Another process still holds the lock.
            StorageError: The folder or the database can't be written to.
        """
        with ExitStack() as held:
            held.enter_context(writer_lock(self._data_dir, timeout_s, on_wait))
            if self._session_lock is not None:
                busy_message = _busy_message(timeout_s)
                held.enter_context(self._session_lock.hold(timeout_s, on_wait, busy_message))
            yield

    def require_held(self) -> None:
        """Make sure, before a write, that the lock is still held.

        The lock of the folder can't be lost.

        Raises:
            StorageUnavailableError: The connection to the database has ended.
        """
        if self._session_lock is not None:
            self._session_lock.require()


def _busy_message(timeout_s: float) -> str:
    return _(
        "Another process, perhaps on another machine, is writing to the library; waited {timeout_s}"
        " seconds. Let it finish (or stop it), then try again."
    ).format(timeout_s=f"{timeout_s:g}")
