"""The settings that people store in a ledger on PostgreSQL, and which encryption key it uses."""

import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConfigError, StorageError
from domain.messages import _
from storage.ledger.database import Database
from storage.ledger.ledger_tables import SourceSecretRow
from storage.ledger.secret_store import EncryptionKeys
from storage.ledger.session_lock import SETTINGS
from storage.ledger.usage_tables import StoredSettingRow
from storage.safe_writes import attempt, just_wait
from storage.settings_store import Entries, SettingsStore, StoredSettings, is_secret, token_of

_QUERY_INTERVAL_S = 1.0
_LOCK_TIMEOUT_S = 10.0
_KEY: Final = "encryption_key"
"""The name of a secret that is no setting: whoever can decrypt it has the library's key."""


class SettingsTable(SettingsStore):
    """Reads the table at most once per second, and changes it in one transaction.

    While the database fails, what was read before is used; the first call raises StorageError.
    """

    def __init__(self, database: Database, keys: EncryptionKeys, known: Collection[str]) -> None:
        super().__init__(database.name, keys, known)
        self._database = database
        self._lock = database.session_lock(SETTINGS)
        self._writing = threading.RLock()
        self._is_locked = False
        self._reading = threading.Lock()
        self._read_at = float("-inf")
        self._changed_at = 0
        self._rows: Mapping[str, Any] | None = None

    def stamp(self) -> str:
        """The stamp of what was read within the last second, also by this call."""
        if self._reading.acquire(blocking=self._rows is None):
            try:
                if time.monotonic() - self._read_at >= _QUERY_INTERVAL_S:
                    self._try_to_read()
            finally:
                self._reading.release()
        return f"{self._changed_at} {self._keys.stamp()}" if self.all_entries() else ""

    def read(self) -> StoredSettings:
        """The values that `stamp` has read."""
        return self._usable(self.all_entries())

    def all_entries(self) -> Entries:
        """The entries that were read before; those of this moment in a `locked` block."""
        if self._rows is None:
            self._read_now()
        rows = self._rows or {}
        return {name: one for name, one in rows.items() if name != _KEY and one is not None}

    def entries(self, names: Collection[str]) -> Entries:
        """The entries of these settings; see `all_entries`."""
        entries = self.all_entries()
        return {name: entries.get(name) for name in names}

    def write(self, changes: Entries) -> None:
        """Set these entries in one transaction; an entry that is None is stored as such."""
        with self._transaction() as session:
            _put(session, changes)

    def replace(self, entries: Entries) -> None:
        """Make these the only rows, without the one that identifies the key."""
        with self._transaction() as session:
            session.execute(delete(StoredSettingRow))
            _put(session, entries)

    def take_over(self, entries: Entries) -> bool:
        """Store these entries if no setting was ever stored; returns whether it did so."""
        if not entries:
            return False
        with self.locked():
            if (self._rows or {}).keys() - {_KEY}:
                return False
            self.write(entries)
            return True

    def rotate(self) -> int:
        """Encrypt the secrets again, and identify the first key as the library's."""
        with self.locked():
            number = super().rotate()
            if self._keys.first() is not None:
                self.replace_key()
        return number

    def require_key(self) -> None:
        """Make sure that this process has the encryption key of the library.

        The first process with a key that decrypts what is stored determines it.

        Raises:
            ConfigError: The key is another one or is missing.
        """
        self._read_now()
        entry = (self._rows or {}).get(_KEY)
        if entry is None:
            self._register_key()
        elif self._keys.decrypt(token_of(entry)) is None:
            raise _another_key(self._place)

    def replace_key(self) -> None:
        """Make the first key of this process that of the library."""
        self.write({_KEY: self.encrypt("")})

    def _register_key(self) -> None:
        with self.locked():
            if (self._rows or {}).get(_KEY) is not None:  # another process was faster
                self.require_key()
                return
            tokens = self._tokens()
            if tokens and all(self._keys.decrypt(one) is None for one in tokens):
                raise _another_key(self._place)
            if self._keys.first() is not None:
                self.replace_key()

    def _tokens(self) -> list[str]:
        with self._database.read() as session:
            tokens = list(session.scalars(select(SourceSecretRow.token)))
        return [*tokens, *(token_of(one) for one in self.all_entries().values() if is_secret(one))]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude others by a lock of the database, and read what they have stored before."""
        with self._writing:
            if self._is_locked:
                yield
                return
            try:
                if self._lock and not attempt(self._lock.try_acquire, _LOCK_TIMEOUT_S, just_wait):
                    raise BusyError(
                        _("Another process is changing the settings: try again in a moment.")
                    )
                self._is_locked = True
                self._read_now()
                yield
            finally:
                self._is_locked = False
                if self._lock:
                    self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        with self.locked():
            if self._lock:
                self._lock.require()
            with self._database.write() as session:
                yield session
            self._read_now()

    def _try_to_read(self) -> None:
        try:
            self._read()
        except StorageError:
            if self._rows is None:
                raise
            self._read_at = time.monotonic()  # what needs the database reports the failure

    def _read_now(self) -> None:
        with self._reading:
            self._read()

    def _read(self) -> None:
        with self._database.read() as session:
            query = select(StoredSettingRow.name, StoredSettingRow.entry)
            rows = {name: json.loads(entry) for name, entry in session.execute(query)}
        if rows != self._rows:
            self._rows, self._changed_at = rows, time.time_ns()
        self._read_at = time.monotonic()


def _put(session: Session, entries: Entries) -> None:
    for name, entry in entries.items():
        session.merge(StoredSettingRow(name=name, entry=json.dumps(entry)))


def _another_key(place: str) -> ConfigError:
    return ConfigError(
        _(
            "The encryption key of this process is not that of the library in {place}: set the same"
            " FOOTNOTE_ENCRYPTION_KEY for all processes. If that key is lost, run `python cli.py"
            " encryption-key --replace-lost` with a new one, and enter the secrets again."
        ).format(place=place)
    )
