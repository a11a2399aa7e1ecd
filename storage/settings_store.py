"""The settings that people store, wherever they are, with encrypted secrets."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from domain.errors import ConfigError
from domain.messages import _
from storage.ledger.secret_store import EncryptionKeys

_ENCRYPTED = "encrypted"

Entries = Mapping[str, Any]
"""Values by setting as they are stored: a secret is `{"encrypted": TOKEN}`."""


class StoredSettings(NamedTuple):
    """The usable values, with decrypted secrets, and a message about each entry that is not."""

    values: Mapping[str, Any]
    problems: tuple[str, ...] = ()


class SettingsStore(ABC):
    """Stores settings; entries that are not `known` are ignored, but preserved."""

    _unknown_entry: str = _(
        "The stored settings in {location} have an unknown entry, {name}: remove it."
    )

    def __init__(self, location: str, keys: EncryptionKeys, known: Collection[str]) -> None:
        """`location` is for messages."""
        self._location = location
        self._keys = keys
        self._known = known

    @abstractmethod
    def stamp(self) -> str:
        """A text that differs after a change of the entries or of the key; "" without entries."""

    @abstractmethod
    def read(self) -> StoredSettings:
        """The values; never raises an error because of stored contents."""

    @abstractmethod
    def all_entries(self) -> Entries:
        """The entries as they are stored.

        Raises:
            ConfigError: They are damaged.
            StorageError: They can't be read.
        """

    @abstractmethod
    def entries(self, names: Collection[str]) -> Entries:
        """The entries of these settings as they are stored; None for those that are not.

        Raises:
            StorageError: They can't be read.
        """

    @abstractmethod
    def write(self, changes: Entries) -> None:
        """Set these entries, and remove those that are None, all or none.

        Raises:
            StorageError: They can't be read or written.
        """

    @abstractmethod
    def replace(self, entries: Entries) -> None:
        """Make these the only entries.

        Raises:
            StorageError: They can't be written.
        """

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Exclude other writers, in all processes, during the block; may be nested.

        Raises:
            StorageError: Another writer holds the lock, or there can be none.
        """

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

    def rotate(self) -> int:
        """Encrypt all secrets with the first key, and return their number.

        Raises:
            ConfigError: The entries are damaged, or a secret can't be decrypted; nothing changed.
            StorageError: They can't be read or written.
        """
        with self.locked():
            entries = self.all_entries()
            secrets = {name: entries[name] for name in self._known if is_secret(entries.get(name))}
            plain = self.decrypt(secrets)
            if plain:
                self.write({name: self.encrypt(secret) for name, secret in plain.items()})
            return len(plain)

    def _usable(self, entries: Entries) -> StoredSettings:
        values: dict[str, Any] = {}
        problems: list[str] = []
        for name, entry in entries.items():
            try:
                values[name] = self._value(name, entry)
            except ConfigError as error:
                problems.append(str(error))
        return StoredSettings(values, tuple(problems))

    def _value(self, name: str, entry: Any) -> Any:
        if name not in self._known:
            raise ConfigError(self._unknown_entry.format(location=self._location, name=name))
        return self._decrypt(name, token_of(entry)) if is_secret(entry) else entry

    def _decrypt(self, name: str, token: str) -> str:
        secret = self._keys.decrypt(token)
        if secret is not None:
            return secret
        raise ConfigError(
            _(
                "The entry {name} in {location} was encrypted with another key: restore that key in"
                " FOOTNOTE_ENCRYPTION_KEY or {key_path}, or enter the secret again on the settings"
                " page."
            ).format(name=name, location=self._location, key_path=self._keys.path)
        )


def is_secret(entry: Any) -> bool:
    """Whether the entry is an encrypted secret."""
    return isinstance(entry, dict) and isinstance(entry.get(_ENCRYPTED), str)


def token_of(entry: Any) -> str:
    """The token of a secret's entry."""
    token: str = entry[_ENCRYPTED]
    return token
