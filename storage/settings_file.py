"""The settings that people store in the data folder, with encrypted secrets."""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from domain.messages import _
from errors import ConfigError, StorageError
from storage.ledger.secret_store import KEY_FILE, EncryptionKeys

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
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


class SettingsFile:
    """Reads the file, and replaces it atomically.

    A file that can't be read as JSON counts as empty; the first change renames it, so that it is
    not lost. Entries that are not `known` are ignored, but preserved.
    """

    def __init__(self, data_dir: Path, keys: EncryptionKeys, known: Collection[str]) -> None:
        self.path = data_dir / SETTINGS_FILE
        self._keys = keys
        self._known = known

    def read(self) -> StoredSettings:
        """The values; never raises an error because of the contents of the file."""
        try:
            entries = self._entries()
        except ConfigError as error:
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
        """The entries of these settings as they are in the file; None for those that are not."""
        try:
            entries = self._entries()
        except ConfigError:
            entries = {}
        return {name: entries.get(name) for name in names}

    def encrypted(self, secret: str) -> Entries:
        """The entry of a secret.

        Raises:
            ConfigError: The encryption key is damaged, or it can't be created.
        """
        key = self._keys.first() or self._keys.create()
        return {_ENCRYPTED: key.encrypt(secret.encode()).decode()}

    def write(self, changes: Entries) -> None:
        """Set these entries, and remove those that are None.

        Raises:
            StorageError: The file can't be written.
        """
        with self._locked():
            try:
                entries = dict(self._entries())
            except ConfigError:
                self.path.replace(self.path.with_name(DAMAGED_FILE))
                entries = {}
            entries.update(changes)
            self._replace({name: one for name, one in entries.items() if one is not None})

    def rotate(self) -> int:
        """Encrypt all secrets with the first key, and return their number.

        Raises:
            ConfigError: A secret can't be decrypted; nothing was changed.
            StorageError: The file can't be written.
        """
        found = self.entries(self._known)
        secrets = {name: one for name, one in found.items() if _is_secret(one)}
        plain = {name: self._value(name, one) for name, one in secrets.items()}
        if plain:
            self.write({name: self.encrypted(secret) for name, secret in plain.items()})
        return len(plain)

    def _entries(self) -> Entries:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ConfigError(
                _("The settings file {path} can't be read ({strerror}): make it readable.").format(
                    path=self.path, strerror=error.strerror or error
                )
            ) from error
        except (ValueError, RecursionError):  # the cause could show the content
            entries = None
        if not isinstance(entries, dict):
            raise ConfigError(
                _(
                    "The settings file {path} is damaged, so its settings are not used: correct"
                    " it, or set them again on the settings page. The first change there renames"
                    " the file to {name}."
                ).format(path=self.path, name=DAMAGED_FILE)
            )
        return entries

    def _value(self, name: str, entry: Any) -> Any:
        if name not in self._known:
            raise ConfigError(
                _("The settings file {path} has an unknown entry, {name}: remove it.").format(
                    path=self.path, name=name
                )
            )
        return self._decrypted(name, entry[_ENCRYPTED]) if _is_secret(entry) else entry

    def _decrypted(self, name: str, token: str) -> str:
        from cryptography.fernet import InvalidToken

        for key in self._keys.all():
            try:
                return key.decrypt(token).decode()
            except InvalidToken:
                continue
        raise ConfigError(
            _(
                "The entry {name} in {path} was encrypted with another key: restore that key in"
                " FOOTNOTE_ENCRYPTION_KEY or {key_path}, or enter the secret again on the settings"
                " page."
            ).format(name=name, path=self.path, key_path=self._keys.path)
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock  # loads asyncio; readers don't need it

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600):
                yield
        except OSError as error:  # includes lock timeouts
            raise StorageError(
                _(
                    "The settings can't be written to {path} ({strerror}): grant write permission"
                    " to the user who runs Footnote, and check the free space."
                ).format(path=self.path, strerror=error.strerror or error)
            ) from error

    def _replace(self, entries: Entries) -> None:
        new = self.path.with_name(f"{self.path.name}.new")
        new.unlink(missing_ok=True)  # left by a killed process
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(entries, file, ensure_ascii=False, indent=2, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)


def _is_secret(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(_ENCRYPTED), str)
