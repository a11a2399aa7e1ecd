"""The settings that people store in the data folder, with encrypted secrets."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.errors import ConfigError, StorageError
from domain.messages import _
from storage.ledger.ledger_location import KEY_FILE
from storage.ledger.secret_store import EncryptionKeys
from storage.safe_writes import replace_private_text

if TYPE_CHECKING:
    from filelock import FileLock

SETTINGS_FILE = "settings.json"
DAMAGED_FILE = "settings.json.damaged"
_ENCRYPTED = "encrypted"
_LOCK_TIMEOUT_S = 10.0

Entries = Mapping[str, Any]
"""Values by setting as they are in the file: a secret is `{"encrypted": TOKEN}`."""


class StoredSettings(NamedTuple):
    """The usable values, with decrypted secrets, and a message about each entry that is not."""

    values: Mapping[str, Any]
    problems: tuple[str, ...] = ()


def settings_stamp(data_dir: Path) -> str:
    """A text that differs after each change of the file, or of the key; "" if there is no file."""
    file = _stamp(data_dir / SETTINGS_FILE)
    return f"{file} {_stamp(data_dir / KEY_FILE)}" if file else ""


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    # The time of the last change of the status, because new permissions can make it readable.
    return f"{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_size}-{status.st_ino}"


class _DamagedFileError(ConfigError):
    """The file is not JSON, or not an object."""


class SettingsFile:
    """Reads the file, and replaces it atomically.

    A file that is not JSON counts as empty; the first change renames it, so that it is not lost. A
    file that can't be read is never replaced. Entries that are not `known` are ignored, but
    preserved.
    """

    def __init__(self, data_dir: Path, keys: EncryptionKeys, known: Collection[str]) -> None:
        self.path = data_dir / SETTINGS_FILE
        self._keys = keys
        self._known = known

    def read(self) -> StoredSettings:
        """The values; never raises an error because of the contents of the file."""
        try:
            entries = self._entries()
        except (ConfigError, StorageError) as error:
            return StoredSettings({}, (str(error),))
        values: dict[str, Any] = {}
        problems: list[str] = []
        for name, entry in entries.items():
            try:
                values[name] = self._value(name, entry)
            except ConfigError as error:
                problems.append(str(error))
        return StoredSettings(values, tuple(problems))

    def entries(self, names: Collection[str]) -> Entries:
        """The entries of these settings as they are in the file; None for those that are not.

        Raises:
            StorageError: The file can't be read.
        """
        try:
            entries = self._entries()
        except _DamagedFileError:
            entries = {}
        return {name: entries.get(name) for name in names}

    def decrypt(self, entries: Entries) -> Mapping[str, Any]:
        """The values of these entries; None stays None.

        Raises:
            ConfigError: A setting is unknown, or a secret can't be decrypted.
        """
        return {name: self._value(name, one) for name, one in entries.items()}

    def encrypt(self, secret: str) -> Entries:
        """The entry of a secret.

        Raises:
            ConfigError: The encryption key is damaged, or it can't be created.
        """
        key = self._keys.first() or self._keys.create()
        return {_ENCRYPTED: key.encrypt(secret.encode()).decode()}

    def write(self, changes: Entries) -> None:
        """Set these entries, and remove those that are None.

        Raises:
            StorageError: The file can't be read or written.
        """
        with self.locked():
            try:
                entries = dict(self._entries())
            except _DamagedFileError:
                entries = {}
                with self._write_errors():
                    self.path.replace(self._free_name())
            entries.update(changes)
            with self._write_errors():
                self._replace({name: one for name, one in entries.items() if one is not None})

    def rotate(self) -> int:
        """Encrypt all secrets with the first key, and return their number.

        Raises:
            ConfigError: The file is damaged, or a secret can't be decrypted; nothing was changed.
            StorageError: The file can't be read or written.
        """
        if not self.path.exists():  # don't create the lock file
            return 0
        with self.locked():
            entries = self._entries()
            secrets = {name: entries[name] for name in self._known if _is_secret(entries.get(name))}
            plain = self.decrypt(secrets)
            if plain:
                self.write({name: self.encrypt(secret) for name, secret in plain.items()})
            return len(plain)

    def _entries(self) -> Entries:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(
                _("The settings file {path} can't be read ({strerror}): make it readable.").format(
                    path=self.path, strerror=error.strerror or error
                )
            ) from error
        except (ValueError, RecursionError):  # the cause could show the content
            entries = None
        if not isinstance(entries, dict):
            raise _DamagedFileError(
                _(
                    "The settings file {path} is damaged, so its settings are not used: correct"
                    " it, or set them again on the settings page. The first change there renames"
                    " the file to {name}."
                ).format(path=self.path, name=self._free_name().name)
            )
        return entries

    def _value(self, name: str, entry: Any) -> Any:
        if name not in self._known:
            raise ConfigError(
                _("The settings file {path} has an unknown entry, {name}: remove it.").format(
                    path=self.path, name=name
                )
            )
        return self._decrypt(name, entry[_ENCRYPTED]) if _is_secret(entry) else entry

    def _decrypt(self, name: str, token: str) -> str:
        secret = self._keys.decrypt(token)
        if secret is not None:
            return secret
        raise ConfigError(
            _(
                "The entry {name} in {path} was encrypted with another key: restore that key in"
                " FOOTNOTE_ENCRYPTION_KEY or {key_path}, or enter the secret again on the settings"
                " page."
            ).format(name=name, path=self.path, key_path=self._keys.path)
        )

    def _free_name(self) -> Path:
        """The name for a damaged file; it must not replace an earlier one."""
        names = (f"{DAMAGED_FILE}.{n}" for n in count(2))
        paths = map(self.path.with_name, chain([DAMAGED_FILE], names))
        return next(path for path in paths if not path.exists())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other writers, in all processes, during the block; may be nested.

        Raises:
            StorageError: The lock can't be created, or another writer holds it.
        """
        with self._write_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @cached_property
    def _lock(self) -> "FileLock":
        from filelock import FileLock  # loads asyncio; readers don't need it

        return FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600)

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # includes lock timeouts
            raise StorageError(
                _(
                    "The settings can't be written to {path} ({strerror}): grant write permission"
                    " to the user who runs Footnote, and check the free space."
                ).format(path=self.path, strerror=error.strerror or error)
            ) from error

    def _replace(self, entries: Entries) -> None:
        text = json.dumps(entries, ensure_ascii=False, indent=2, sort_keys=True)
        replace_private_text(self.path, f"{text}\n")


def _is_secret(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(_ENCRYPTED), str)
