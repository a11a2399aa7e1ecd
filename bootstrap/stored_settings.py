"""The settings of the environment and of the data folder together."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from bootstrap.parts import Parts
from domain.errors import ConfigError
from domain.logs import get_logger
from domain.messages import _, join_messages
from domain.setting_values import (
    CHANGEABLE,
    SECRETS,
    Origin,
    SettingValue,
    address_problems,
    keys_of_changed_servers,
)
from settings import Settings, environment_values, invalid_values, load_settings
from storage.ledger.secret_store import EncryptionKeys
from storage.settings_file import SettingsFile, StoredSettings, settings_stamp

if TYPE_CHECKING:
    from models.chat_choice import ChatSpec

MULTI_QUERY_IGNORED = _(
    "FOOTNOTE_MULTI_QUERY is ignored, because the stored settings of the chat model can't be used."
)

_log = get_logger("storage")


def current_settings(**overrides: object) -> Settings:
    """The settings; those of the environment take precedence over those in the data folder.

    Entries of the data folder that can't be used are ignored; the settings page reports them.

    Raises:
        ConfigError: See `settings.load_settings`.
    """
    stored = _usable(overrides)
    return load_settings(stored.values, **{**_replacements(stored, overrides), **overrides})


def stamped_settings(**overrides: object) -> tuple[Settings, str]:
    """The settings, and the stamp of the stored ones (see `storage.settings_file`).

    A change while the settings are read makes the stamp outdated.

    Raises:
        ConfigError: See `settings.load_settings`.
    """
    stamp = settings_stamp(_location(overrides)[0])
    return current_settings(**overrides), stamp


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


def settings_file(settings: Settings) -> SettingsFile:
    """The settings file in the data folder."""
    key = settings.encryption_key
    return _file(settings.data_dir, key.get_secret_value() if key else "")


def _file(data_dir: Path, key: str) -> SettingsFile:
    return SettingsFile(data_dir, EncryptionKeys(data_dir, key), CHANGEABLE)


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
    data_dir, key = _location(overrides)
    return _read(data_dir, key, settings_stamp(data_dir))


def _location(overrides: Mapping[str, object]) -> tuple[Path, str]:
    """The data folder and the encryption key, which the settings file can't change."""
    texts = environment_values()
    default = Settings.model_fields["data_dir"].default
    data_dir = overrides.get("data_dir") or texts.get("data_dir") or default
    key = overrides.get("encryption_key") or texts.get("encryption_key", "")
    secret = key.get_secret_value() if isinstance(key, SecretStr) else str(key)
    return Path(str(data_dir)), secret


@lru_cache(maxsize=4)
def _read(data_dir: Path, key: str, stamp: str) -> StoredSettings:
    """The stored settings, decrypted once for each `stamp` of the file."""
    if not stamp:
        return StoredSettings({})
    return _file(data_dir, key).read()


class SettingValues:
    """The settings that people can change; see `services.settings_service.Values`."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def all(self) -> Mapping[str, SettingValue]:
        """The current values by setting."""
        settings, fixed = current_settings(data_dir=self._data_dir), environment_values()
        stored = self.stored()
        return {
            name: _setting_value(name, settings, _origin(name, fixed, stored))
            for name in CHANGEABLE
        }

    def stored(self) -> Mapping[str, Any]:
        """The stored values that are valid, with decrypted secrets."""
        return _usable({"data_dir": self._data_dir}).values

    def problems(self) -> tuple[str, ...]:
        """A message about each stored entry that can't be used."""
        overrides = {"data_dir": self._data_dir}
        stored = _usable(overrides)
        ignored = [MULTI_QUERY_IGNORED] if _replacements(stored, overrides) else []
        return (*stored.problems, *ignored)

    def check(self, stored: Mapping[str, Any]) -> None:
        """Check these stored values together with the environment.

        Raises:
            ConfigError: A value is invalid; the message names its variable.
        """
        from models.embedding_choice import build_embeddings

        parts = self._parts(stored)
        current = Parts(current_settings(data_dir=self._data_dir))
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
        return Parts(load_settings(stored, data_dir=self._data_dir))


def _setting_value(name: str, settings: Settings, origin: Origin) -> SettingValue:
    # Not the loaded value of a secret, because it may stand for a key that is withheld.
    is_set = origin is not Origin.DEFAULT
    return SettingValue(name, is_set if name in SECRETS else getattr(settings, name), origin)


def _origin(name: str, fixed: Mapping[str, str], stored: Mapping[str, Any]) -> Origin:
    if name in fixed:
        return Origin.ENVIRONMENT
    return Origin.STORED if name in stored else Origin.DEFAULT
