"""The settings of the environment together with those that people store.

They are in the data folder, or in the ledger if it is on PostgreSQL.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import SecretStr

from bootstrap.parts import Parts
from domain.errors import AppError, ConfigError, StorageError
from domain.logs import get_logger
from domain.messages import _, join_messages
from domain.setting_values import (
    CHANGEABLE,
    SECRETS,
    Origin,
    SettingValue,
    address_problems,
    keys_of_changed_servers,
    secret_text,
)
from models.embedding_choice import build_embeddings
from settings import Settings, environment_values, invalid_values, load_settings
from storage.data_folder import keep_private
from storage.ledger.database import open_database
from storage.ledger.engines import is_on_server
from storage.ledger.secret_store import EncryptionKeys
from storage.settings_file import SettingsFile
from storage.settings_store import SettingsStore, StoredSettings
from storage.settings_table import SettingsTable

if TYPE_CHECKING:
    from models.chat_choice import ChatSpec

MULTI_QUERY_IGNORED = _(
    "FOOTNOTE_MULTI_QUERY is ignored, because the stored settings of the chat model can't be used."
)

_log = get_logger("storage")


class SettingsLocation(NamedTuple):
    """Where settings are stored; only the environment determines it."""

    data_dir: Path
    key: str
    database_url: str | None

    def __repr__(self) -> str:
        return f"SettingsLocation({self.data_dir})"  # without the secrets

    @property
    def keys(self) -> EncryptionKeys:
        """The encryption keys of the setting and of the data folder."""
        return EncryptionKeys(self.data_dir, self.key)

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that say so, without the key."""
        url = {"database_url": self.database_url} if self.database_url else {}
        return {"data_dir": self.data_dir, **url}


def current_settings(**overrides: object) -> Settings:
    """The settings; those of the environment take precedence over those that people store.

    Stored entries that can't be used are ignored; the settings page reports them.

    Raises:
        ConfigError: See `settings.load_settings`.
        StorageError: The ledger with the stored settings can't be opened.
    """
    stored = _usable(overrides)
    return load_settings(stored.values, **{**_replacements(stored, overrides), **overrides})


def settings_at_start(**overrides: object) -> Settings:
    """The settings for what only the environment determines, without opening the ledger.

    Raises:
        ConfigError: See `settings.load_settings`.
    """
    if is_on_server(location_in_environment(**overrides).database_url):
        return load_settings({}, multi_query=0, **overrides)  # it may need a stored model
    return current_settings(**overrides)


def stamped_settings(**overrides: object) -> tuple[Settings, str]:
    """The settings, and the stamp of the stored ones.

    A change while the settings are read makes the stamp outdated.

    Raises:
        ConfigError: See `settings.load_settings`.
        StorageError: See `current_settings`.
    """
    stamp = settings_stamp(location_in_environment(**overrides))
    return current_settings(**overrides), stamp


def settings_stamp(location: SettingsLocation) -> str:
    """A text that differs after each change of the stored settings, or of the key; "" without.

    Raises:
        StorageError: See `current_settings`.
    """
    return settings_store(location).stamp()


def location_of(settings: Settings) -> SettingsLocation:
    """Where these settings are stored."""
    key = secret_text(settings.encryption_key)
    return SettingsLocation(settings.data_dir, key, settings.database_url)


def log_ignored_entries(**overrides: object) -> None:
    """Log a warning about each stored entry that can't be used; call it after logs are configured.

    The value of an invalid entry is not logged, and neither is pydantic's message, which may
    contain the value.
    """
    stored, usable = _read_stored(overrides), _usable(overrides)
    invalid = sorted(stored.values.keys() - usable.values.keys())
    reasons = [*stored.problems, *(f"the entry {name} is invalid" for name in invalid)]
    if _replacements(usable, overrides):
        reasons.append(MULTI_QUERY_IGNORED)
    for reason in reasons:
        _log.warning("stored settings are ignored", reason=reason)


def settings_store(location: SettingsLocation) -> SettingsStore:
    """The file in the data folder, or the table in a ledger on PostgreSQL.

    Raises:
        ConfigError: The driver of PostgreSQL is not installed.
        StorageError: The ledger can't be opened.
    """
    if is_on_server(location.database_url):
        return settings_table(location)
    return _file(location)


def _file(location: SettingsLocation) -> SettingsFile:
    return SettingsFile(location.data_dir, location.keys, CHANGEABLE)


@lru_cache(maxsize=4)
def settings_table(location: SettingsLocation) -> SettingsTable:
    """The table in the ledger, which stays open; it takes the settings of the file over once.

    Raises:
        StorageError: The ledger can't be opened.
    """
    keep_private(location.data_dir)
    database = open_database(location.data_dir, location.database_url)
    table = SettingsTable(database, location.keys, CHANGEABLE)
    try:
        entries = _file(location).all_entries()
    except AppError as error:
        _log.warning("stored settings are ignored", reason=str(error))
    else:
        if table.take_over(entries):
            unknown = sorted(entries.keys() - set(CHANGEABLE))
            number = len(entries) - len(unknown)
            _log.info("stored settings are now in the ledger", settings=number, unknown=unknown)
    return table


def require_library_key(location: SettingsLocation) -> None:
    """Make sure that processes on other machines have the same encryption key as this one.

    Raises:
        ConfigError: The key is not that of the library.
        StorageError: The ledger can't be opened.
    """
    if is_on_server(location.database_url):
        settings_table(location).require_key()


def require_key_at_start(settings: Settings) -> None:
    """Require the encryption key of the library, unless the ledger can't be opened now.

    The first request then does so.

    Raises:
        ConfigError: The key is not that of the library.
    """
    with suppress(StorageError):
        require_library_key(location_of(settings))


def replace_lost_key(settings: Settings) -> None:
    """Make the first key of these settings that of a library on PostgreSQL whose key is lost.

    Raises:
        ConfigError: The ledger is not on PostgreSQL, or FOOTNOTE_ENCRYPTION_KEY is not set or
            invalid, or the key is not lost, because this process has it.
        StorageError: The ledger can't be opened or written.
    """
    location = location_of(settings)
    if not is_on_server(location.database_url):
        raise ConfigError(_("Only a library on PostgreSQL has a key that must be replaced."))
    if not location.key:
        raise ConfigError(
            _(
                "FOOTNOTE_ENCRYPTION_KEY is not set: set it as on the other machines. Only if that"
                " key is lost, set it to a new one from `python cli.py encryption-key`."
            )
        )
    settings_table(location).replace_lost_key()


def _usable(overrides: Mapping[str, object]) -> StoredSettings:
    """The stored values that are valid, and a message about each entry that is not."""
    stored = _read_stored(overrides)
    invalid = invalid_values(stored.values, **overrides) if stored.values else {}
    invalid = {**invalid, **address_problems(stored.values)}
    values = {name: one for name, one in stored.values.items() if name not in invalid}
    for key in keys_of_changed_servers(stored.values, values):
        values.pop(key, None)  # its endpoint is invalid, and it must not go to another one
    return StoredSettings(values, (*stored.problems, *invalid.values()))


def _replacements(stored: StoredSettings, overrides: Mapping[str, object]) -> dict[str, object]:
    """Values in place of those of the environment that need an entry that can't be used."""
    if not stored.problems:
        return {}
    try:
        load_settings(stored.values, **overrides)
    except ConfigError:
        return {"multi_query": 0}
    return {}


def _read_stored(overrides: Mapping[str, object]) -> StoredSettings:
    location = location_in_environment(**overrides)
    return _read(location, settings_stamp(location))


def location_in_environment(**overrides: object) -> SettingsLocation:
    """Where the settings are stored, from the environment, without reading them.

    Raises:
        ConfigError: The file `.env` can't be read.
    """
    used = {name: one for name, one in overrides.items() if one is not None}
    texts: dict[str, Any] = {**environment_values(), **used}
    key = texts.get("encryption_key") or ""
    return SettingsLocation(
        Path(texts.get("data_dir") or Settings.model_fields["data_dir"].default),
        key.get_secret_value() if isinstance(key, SecretStr) else key,
        texts.get("database_url"),
    )


@lru_cache(maxsize=4)
def _read(location: SettingsLocation, stamp: str) -> StoredSettings:
    """The stored settings, decrypted once for each `stamp`."""
    if not stamp:
        return StoredSettings({})
    return settings_store(location).read()


class SettingValues:
    """The settings that people can change; see `services.settings_service.Values`."""

    def __init__(self, location: SettingsLocation) -> None:
        self._overrides = location.overrides

    def all(self) -> Mapping[str, SettingValue]:
        """The current values by setting."""
        settings, fixed = current_settings(**self._overrides), environment_values()
        stored = self.stored()
        return {
            name: _setting_value(name, settings, _origin(name, fixed, stored))
            for name in CHANGEABLE
        }

    def stored(self) -> Mapping[str, Any]:
        """The stored values that are valid, with decrypted secrets."""
        return _usable(self._overrides).values

    def problems(self) -> tuple[str, ...]:
        """A message about each stored entry that can't be used."""
        stored = _usable(self._overrides)
        ignored = [MULTI_QUERY_IGNORED] if _replacements(stored, self._overrides) else []
        return (*stored.problems, *ignored)

    def check(self, stored: Mapping[str, Any]) -> None:
        """Check these stored values together with the environment.

        Raises:
            ConfigError: A value is invalid; the message names its variable.
        """
        parts = self._parts(stored)
        current = Parts(current_settings(**self._overrides))
        _unused = parts.chat_choice  # checks the address and the key
        if parts.embedding_spec != current.embedding_spec:
            build_embeddings(parts.embedding_spec, parts.cache_dir)

    def chat_spec(self, stored: Mapping[str, Any]) -> "ChatSpec":
        """The chat model for these stored values.

        Raises:
            ConfigError: A value is invalid; the message names its variable.
        """
        return self._parts(stored).chat_spec

    def _parts(self, stored: Mapping[str, Any]) -> Parts:
        if problems := address_problems(stored):
            raise ConfigError(join_messages(problems.values()))
        return Parts(load_settings(stored, **self._overrides))


def _setting_value(name: str, settings: Settings, origin: Origin) -> SettingValue:
    # Not the loaded value of a secret, because it may stand for a key that is withheld.
    is_set = origin is not Origin.DEFAULT
    return SettingValue(name, is_set if name in SECRETS else getattr(settings, name), origin)


def _origin(name: str, fixed: Mapping[str, str], stored: Mapping[str, Any]) -> Origin:
    if name in fixed:
        return Origin.ENVIRONMENT
    return Origin.STORED if name in stored else Origin.DEFAULT
