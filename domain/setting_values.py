"""The names of the settings, and the few of them that people change on the settings page."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from domain.errors import ConfigError
from domain.logs import HIDDEN
from domain.messages import Message, _, join_messages

PREFIX = "FOOTNOTE_"
OPEN_TO_SOURCES = "FOOTNOTE_SECRET_"
"""Prefix of the only environment variables that users may reference as a source's secret."""

_OF_THE_TESTS = {"FOOTNOTE_EVAL_DATA", "FOOTNOTE_SCREENSHOTS"}
_OF_CLIENTS = {"FOOTNOTE_URL", "FOOTNOTE_API_KEY"}
"""Variables that docs/api.md defines for API clients, which often run in the same shell."""

CHANGEABLE = (
    "openai_base_url",
    "openai_api_key",
    "chat_model",
    "embedding_provider",
    "embedding_model",
    "embedding_base_url",
    "embedding_api_key",
    "language",
    "ocr_languages",
    "deleted_retention_days",
)
"""The settings that can be stored in the data folder; all others come from the environment."""

SECRETS = frozenset({"openai_api_key", "embedding_api_key"})

_CHAT_KEY = "openai_api_key"
_ENDPOINTS = {
    _CHAT_KEY: ("openai_base_url",),
    "embedding_api_key": ("embedding_base_url", "openai_base_url"),
}
"""The settings that say where each key is sent: the first one that is set."""
KEYS_AND_ENDPOINTS = frozenset(_ENDPOINTS) | frozenset(chain(*_ENDPOINTS.values()))
_NO_KEY = "none"
_PORTS = {"http": 80, "https": 443}
_NOT_IN_ADDRESSES = "@?#\\"
"""Signs that separate the host from other parts, and that programs read differently."""


class Server(NamedTuple):
    """Scheme, host name, and port of an endpoint; with http, others on the way can read a key."""

    scheme: str
    host: str
    port: int


class Origin(StrEnum):
    """Where the value of a setting comes from; the environment includes `.env`."""

    ENVIRONMENT = "environment"
    STORED = "stored"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The current value of a setting; that of a secret is only whether it is set."""

    name: str
    value: Any
    origin: Origin

    @property
    def variable(self) -> str:
        """The environment variable that takes precedence."""
        return variable_of(self.name)

    @property
    def is_fixed(self) -> bool:
        """Whether only the environment can change it."""
        return self.origin is Origin.ENVIRONMENT


def withheld_keys(stored: Mapping[str, Any], fixed: Mapping[str, Any]) -> Mapping[str, str]:
    """No key for each endpoint that would otherwise receive a key that is not meant for it.

    - A key of the environment is not sent to a stored endpoint: many people have OPENAI_API_KEY set
      for another program, and a page must not be able to send it to any address.
    - A stored chat key is not sent to an embedding endpoint on another server.

    Args:
        stored: The stored settings that are used.
        fixed: The settings that the environment sets.
    """
    return {key: _NO_KEY for key in _ENDPOINTS if _is_withheld(key, stored, fixed)}


def _is_withheld(key: str, stored: Mapping[str, Any], fixed: Mapping[str, Any]) -> bool:
    source = _first_set((key, _CHAT_KEY), stored, fixed)
    if source in fixed:
        return _first_set(_ENDPOINTS[key], stored, fixed) in stored
    values = {**stored, **fixed}
    # On another server than the chat model.
    is_elsewhere = _server(_ENDPOINTS[key], values) != _server(_ENDPOINTS[_CHAT_KEY], values)
    return source != key and source in stored and is_elsewhere


def _first_set(names: Iterable[str], stored: Collection[str], fixed: Collection[str]) -> str:
    return next((name for name in names if name in stored or name in fixed), "")


def keys_of_changed_servers(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys in `before` that would be sent to another server with the values in `after`."""
    return [
        key
        for key, endpoints in _ENDPOINTS.items()
        if key in before and _server(endpoints, before) != _server(endpoints, after)
    ]


def _server(endpoints: Iterable[str], values: Mapping[str, Any]) -> Server:
    return server_of(next((str(values[one]) for one in endpoints if values.get(one)), ""))


def server_of(address: str) -> Server:
    """The server that receives a key; two addresses may share a key only if theirs are equal."""
    try:
        parts = urlsplit(address)
        return Server(parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0))
    except ValueError:
        return Server("", address, 0)


def address_problems(stored: Mapping[str, Any]) -> Mapping[str, str]:
    """The messages about stored endpoints with parts that could hide their host, by setting."""
    return {
        name: _(
            "{variable} must not contain a user name, a password, a query (?), or a fragment (#)."
        ).format(variable=variable_of(name))
        for name in _ENDPOINTS["embedding_api_key"]
        if any(sign in str(stored.get(name) or "") for sign in _NOT_IN_ADDRESSES)
    }


def secret_text(secret: SecretStr | None) -> str:
    """The text of a secret; "" if it is not set."""
    return secret.get_secret_value() if secret else ""


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return name.upper() if name.startswith("openai_") else f"{PREFIX}{name.upper()}"


def reject_unknown(variables: Iterable[str], settings: Iterable[str]) -> None:
    """Reject unknown variables with our prefix: a misspelled one would be ignored silently.

    Args:
        variables: The names of environment variables, in any case.
        settings: The variables of all settings.

    Raises:
        ConfigError: A variable is unknown; the message suggests the closest setting.
    """
    valid = set(settings)
    ours = {name.upper() for name in variables if name.upper().startswith(PREFIX)}
    others = valid | _OF_THE_TESTS | _OF_CLIENTS
    unknown = [name for name in ours - others if not name.startswith(OPEN_TO_SOURCES)]
    if unknown:
        raise ConfigError(join_messages(_unknown_variable(one, valid) for one in sorted(unknown)))


def _unknown_variable(typed: str, known: Iterable[str]) -> Message:
    return _("{name} is not a setting{suggestion}").format(
        name=typed, suggestion=_suggestion(typed, known)
    )


def _suggestion(typed: str, names: Iterable[str]) -> Message:
    # Compared without the common prefix, which would make all names similar.
    variables = {name.removeprefix(PREFIX): name for name in names}
    nearest = get_close_matches(typed.removeprefix(PREFIX), variables, n=1)
    return (
        _(": did you mean {variables}?").format(variables=variables[nearest[0]])
        if nearest
        else _(": see .env.example for all settings")
    )


def setting_of(problem: Mapping[str, Any]) -> str:
    """The setting that one of pydantic's errors is about; "" if it is about several."""
    return "_".join(str(part) for part in problem["loc"]).lower()


def explain(problem: Mapping[str, Any]) -> str:
    """The message for one of pydantic's errors."""
    name = setting_of(problem)
    if not name:
        return str(problem["msg"]).removeprefix("Value error, ")
    value = HIDDEN if name in SECRETS else repr(problem["input"])
    return _("{variable}: {msg} (the value is {input})").format(
        variable=variable_of(name), msg=problem["msg"], input=value
    )


@contextmanager
def config_errors() -> Iterator[None]:
    """Translate the errors of pydantic and of reading `.env` in the block to ConfigError."""
    try:
        yield
    except ValidationError as error:
        raise ConfigError(
            join_messages(explain(dict(problem)) for problem in error.errors())
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(_("The file .env is not in UTF-8: save it as UTF-8.")) from error
    except OSError as error:
        raise ConfigError(
            _("The file .env can't be read ({strerror}): make it readable, or remove it.").format(
                strerror=error.strerror
            )
        ) from error
