"""A lock of a PostgreSQL database, for work that takes longer than a transaction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import BusyError, StorageUnavailableError
from domain.messages import _
from storage.ledger import postgresql
from storage.safe_writes import attempt

if TYPE_CHECKING:
    from storage.ledger.ledger_location import LedgerLocation

LIBRARY: Final = 0x666F6F7472656573
"""The key of the advisory lock for writing to the indexes."""
SETTINGS: Final = LIBRARY + 1
"""The key of that for changing settings; the lock of transactions that write has another one."""

_ACQUIRE = text("SELECT pg_try_advisory_lock(:key), pg_backend_pid()")
_RELEASE = text("SELECT pg_advisory_unlock(:key)")
_PROCESS = text("SELECT pg_backend_pid()")


class SessionLock:
    """Held by one process of all machines, over a connection of its own, with which it ends."""

    def __init__(self, engine: Engine, location: "LedgerLocation", key: int) -> None:
        """Connect to nothing yet."""
        # A transaction would be ended by the server as idle.
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._location = location
        self._key = {"key": key}
        self._connection: Connection | None = None
        self._process = 0

    @contextmanager
    def hold(
        self, timeout_s: float, on_wait: Callable[[], None], busy_message: str
    ) -> Iterator[None]:
        """Hold the lock, which is not reentrant.

        Raises:
            BusyError: Another process still holds it; the message is `busy_message`.
            StorageError: The database can't be used.
        """
        try:
            if not attempt(self._try_acquire, timeout_s, on_wait):
                raise BusyError(busy_message)
            yield
        finally:
            self._release()

    def _try_acquire(self) -> bool:
        try:
            if self._connection is None:
                self._connection = self._engine.connect()
            is_acquired, self._process = self._connection.execute(_ACQUIRE, self._key).one()
        except SQLAlchemyError as error:
            raise self._location.explanation(error) from error
        return bool(is_acquired)

    def require(self) -> None:
        """Make sure that the lock is still held.

        Raises:
            StorageUnavailableError: The connection has ended, and another process may have acquired
                the lock.
        """
        try:
            # After an error, SQLAlchemy may connect again, without the lock.
            if self._connection and self._connection.scalar(_PROCESS) == self._process:
                return
        except SQLAlchemyError as error:
            raise self._lost() from error
        raise self._lost()

    def _release(self) -> None:
        """Release the lock, if it is held, and the connection."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.execute(_RELEASE, self._key)
        except SQLAlchemyError:
            connection.invalidate()  # the server releases the locks of a connection with it
        finally:
            connection.close()

    def _lost(self) -> StorageUnavailableError:
        reason = _("the connection that locked the library has ended")
        return postgresql.connection_lost(self._location, reason)
