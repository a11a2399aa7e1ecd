"""The settings that people store in a ledger on PostgreSQL, and which encryption key it uses."""

import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.errors import ConfigError, StorageError
from domain.logs import get_logger
from domain.messages import _
from storage.ledger.database import Database
from storage.ledger.ledger_tables import SourceSecretRow
from storage.ledger.secret_store import EncryptionKeys
from storage.ledger.session_lock import SETTINGS
from storage.ledger.usage_tables import StoredSettingRow
from storage.safe_writes import just_wait
from storage.settings_store import Entries, SettingsStore, StoredSettings, is_secret, token_of

_QUERY_INTERVAL_S = 1.0
_LOCK_TIMEOUT_S = 10.0
_KEY: Final = "encryption_key"
"""The name of a secret that is no setting: whoever can decrypt it has the library's key."""
_BUSY = _("Another process is changing the settings: try again in a moment.")
_ANOTHER_KEY = _(
    "The encryption key of this process is not that of the library in {location}: set the same"
    " FOOTNOTE_ENCRYPTION_KEY for all processes. If the key is in the file encryption.key of a data"
    " folder, set the variable to the contents of that file. To use a new key, set it to NEW,OLD"
    " on one machine, run `python cli.py encryption-key --rotate` there, and then start the others."
    " Only if the key is lost, run `python cli.py encryption-key --replace-lost` with a new one,"
    " and enter the secrets again."
)
_KEY_IS_NOT_USABLE = _(
    "The encryption key of this process is not that of the library: ask the administrator."
)
_ROTATE = (
    "the first encryption key does not decrypt all secrets, so other machines can't start with it:"
    " run `python cli.py encryption-key --rotate`, or put the earlier key first"
)

_log = get_logger("storage")


class SettingsTable(SettingsStore):
    """Reads the table at most once per second, and changes it in one transaction.

    While the database fails, what was read before is used; the first call raises StorageError.
    """

    _unknown_entry = _(
        "The table stored_settings in {location} has an unknown entry, {name}: delete its row,"
        " unless a newer version of Footnote has stored it."
    )

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
        """Make the known ones the only rows, without the one that identifies the key."""
        with self._transaction() as session:
            session.execute(delete(StoredSettingRow))
            _put(session, self._known_ones(entries))

    def take_over(self, entries: Entries) -> bool:
        """Store the known ones if no setting was ever stored; returns whether it did so."""
        known = self._known_ones(entries)
        self._read_now()
        if not known or self._has_settings():
            return False  # without the lock, which another process may hold for long
        with self.locked():
            if self._has_settings():
                return False
            self.write(known)
            return True

    def rotate(self) -> int:
        """Encrypt the secrets again, and identify the first key as the library's."""
        with self.locked():
            number = super().rotate()
            if self._keys.first() is not None:
                self._replace_key()
        return number

    def require_key(self) -> None:
        """Make sure that this process has the encryption key of the library.

        The first process whose first key decrypts all that is stored determines it, and creates
        a key if there is none and nothing is encrypted. If only its other keys decrypt something,
        that must be rotated first.

        Raises:
            ConfigError: The key is another one or is missing.
        """
        self._read_now()
        if self._key_token() is None:
            self._register_key()
        else:
            self._require(self._decrypts_all())

    def replace_lost_key(self) -> None:
        """Make the first key of this process that of a library whose key is lost.

        Raises:
            ConfigError: This process can decrypt what is stored.
        """
        with self.locked():
            if self._decrypts_all():
                raise ConfigError(
                    _(
                        "The encryption key of the library is not lost: this process has it. To"
                        " change it, run `python cli.py encryption-key --rotate`."
                    )
                )
            self._replace_key()

    def _replace_key(self) -> None:
        self.write({_KEY: self.encrypt("")})

    def _register_key(self) -> None:
        with self.locked():
            self._require(self._decrypts_all())
            if self._key_token() is not None:  # another process was faster
                return
            if all(map(self._keys.first_decrypts, self._tokens())):
                self._replace_key()
            else:
                _log.warning("secrets are encrypted with an earlier key", reason=_ROTATE)

    def _decrypts_all(self) -> bool:
        """Whether this process decrypts what identifies the key, or else each stored secret."""
        token = self._key_token()
        tokens = self._tokens() if token is None else [token]
        return all(self._keys.decrypt(one) is not None for one in tokens)

    def _require(self, has_key: bool) -> None:
        if not has_key:
            error = ConfigError(_ANOTHER_KEY.format(location=self._location))
            error.public_message = _KEY_IS_NOT_USABLE
            raise error

    def _key_token(self) -> str | None:
        entry = (self._rows or {}).get(_KEY)
        return token_of(entry) if is_secret(entry) else None

    def _has_settings(self) -> bool:
        return bool((self._rows or {}).keys() - {_KEY})

    def _known_ones(self, entries: Entries) -> Entries:
        return {name: one for name, one in entries.items() if name in self._known}

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
            with (
                self._lock.hold(_LOCK_TIMEOUT_S, just_wait, _BUSY) if self._lock else nullcontext()
            ):
                self._is_locked = True
                try:
                    self._read_now()
                    yield
                finally:
                    self._is_locked = False

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
