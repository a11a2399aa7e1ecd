"""Shows, changes, and tests the settings that people can store."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from domain import EXTRACTIVE, Action, Principal, Role
from domain.errors import ConflictError, InputError, ModelError, ModelUnavailableError
from domain.messages import _
from domain.setting_values import (
    KEYS_AND_ENDPOINTS,
    SECRETS,
    SettingValue,
    keys_of_changed_servers,
    variable_of,
)
from models.chat_choice import (
    ChatModelChoice,
    ChatSpec,
    NoListError,
    build_chat_model,
    listed_models,
)
from services.access import require_role
from services.audit_service import AuditService
from storage.settings_store import Entries, SettingsStore

CHANGED_SINCE = _("The settings were changed again, so this change can't be undone.")

TEST_QUESTION = "Say hello in one short sentence."
TEST_TIMEOUT_S = 20.0
TEST_TOKENS = 512

Changes = Mapping[str, Any]
"""New values by setting; None resets one to its default."""


class StoredChange(NamedTuple):
    """The entries before and after a change, with encrypted secrets.

    If one of them is a key or an endpoint, all keys and endpoints are included.
    """

    before: Entries
    after: Entries


class ChatTest(NamedTuple):
    """The reply of a chat model to `TEST_QUESTION`."""

    model: str
    reply: str
    seconds: float


class Values(Protocol):
    """The settings of the environment and those that people stored; `bootstrap` implements it."""

    def all(self) -> Mapping[str, SettingValue]:
        """The current values by setting."""

    def stored(self) -> Mapping[str, Any]:
        """The stored values that are valid, with decrypted secrets."""

    def problems(self) -> tuple[str, ...]:
        """A message about each stored entry that can't be used."""

    def check(self, stored: Mapping[str, Any]) -> None:
        """Raise ConfigError if these stored values are invalid."""

    def chat_spec(self, stored: Mapping[str, Any]) -> ChatSpec:
        """The chat model for these stored values; raises ConfigError."""


class SettingsService:
    """Stores settings; the environment takes precedence over them.

    All processes use a change soon after: pages and API at their next request,
    the worker before its next import. Each call raises ForbiddenError unless the principal is an
    administrator.
    """

    def __init__(
        self,
        values: Values,
        store: SettingsStore,
        require_key: Callable[[], None],
        audit: AuditService,
    ) -> None:
        """`require_key` raises ConfigError if the encryption key is lost."""
        self._values = values
        self._store = store
        self._require_key = require_key
        self._audit = audit

    def values(self, principal: Principal) -> Mapping[str, SettingValue]:
        """The current values by setting; those of secrets only say whether they are set."""
        require_role(principal, Role.ADMIN)
        return self._values.all()

    def problems(self, principal: Principal) -> tuple[str, ...]:
        """A message about each stored entry that is ignored because it can't be used."""
        require_role(principal, Role.ADMIN)
        return self._values.problems()

    def change(self, principal: Principal, changes: Changes) -> StoredChange:
        """Store the changes, all or none; returns what `undo` needs.

        A stored key is removed if its endpoint moves to another server, unless it is entered again.

        Raises:
            InputError: The environment sets one of the settings.
            ConfigError: A value is invalid, or the encryption key is lost or damaged.
            StorageError: The settings can't be read or written.
        """
        require_role(principal, Role.ADMIN)
        with self._store.locked():
            self._require_changeable(changes)
            changes = self._with_removed_keys(changes)
            self._values.check(self._after(changes))
            before = self._store.entries(_settings_to_record(changes))
            new = {name: self._entry(name, value) for name, value in changes.items()}
            self._write(principal, new)
        self._record(principal, new)
        return StoredChange(before, {**before, **new})

    def undo(self, principal: Principal, change: StoredChange) -> None:
        """Restore the entries from before the change.

        Raises:
            InputError: The environment sets one of the settings now.
            ConflictError: The settings, or the servers or keys of models, were changed since.
            ConfigError: An earlier value is invalid, or its secret can't be decrypted.
            StorageError: The settings can't be read or written.
        """
        require_role(principal, Role.ADMIN)
        with self._store.locked():
            if self._store.entries(change.after) != change.after:
                raise ConflictError(CHANGED_SINCE)
            entries = {n: one for n, one in change.before.items() if one != change.after[n]}
            self._require_changeable(entries)
            self._values.check(self._after(self._store.decrypt(entries)))
            self._write(principal, entries)
        self._record(principal, entries)

    def test_chat(self, principal: Principal, changes: Changes) -> ChatTest:
        """Ask the chat model that these changes select for a short reply; stores nothing.

        Raises:
            ConfigError: The address or the key is malformed.
            InputError: The changes select no model.
            ModelError: The model failed, or its reply is empty.
        """
        require_role(principal, Role.ADMIN)
        spec = self._chat_spec(changes)
        model = build_chat_model(spec)
        if model is None:
            raise InputError(_("Enter the endpoint and the name of the model to test."))
        began = time.monotonic()
        reply = str(model.invoke(TEST_QUESTION).content).strip()
        if not reply:
            raise ModelError(
                _("{model} replied without text: try again, or choose another model.").format(
                    model=spec.model
                )
            )
        return ChatTest(spec.model, reply, time.monotonic() - began)

    def chat_models(self, principal: Principal, changes: Changes) -> list[str]:
        """The names of the models that the endpoint lists; stores nothing.

        Raises:
            ConfigError: The address or the key is malformed.
            ModelUnavailableError: The endpoint does not list its models.
        """
        require_role(principal, Role.ADMIN)
        endpoint = self._values.chat_spec(self._after(changes)).endpoint()
        try:
            return listed_models(endpoint)
        except NoListError as error:
            raise ModelUnavailableError(
                _("{host} does not list its models. {reason}").format(
                    host=endpoint.host, reason=str(error)
                )
            ) from error

    def rotate(self) -> int:
        """Encrypt all stored secrets with the first key, and return their number.

        Raises:
            ConfigError: The settings are damaged, or a secret can't be decrypted; nothing changed.
            StorageError: The settings can't be read or written.
        """
        return self._store.rotate()

    def _write(self, principal: Principal, entries: Entries) -> None:
        # A ledger that was moved takes the settings along: a later change of the file is lost.
        self._audit.require_writable(principal, Action.SETTINGS_CHANGED)
        self._store.write(entries)

    def _record(self, principal: Principal, entries: Entries) -> None:
        """Record the new values, except those of secrets and addresses, which may contain some."""
        shown = {name: one for name, one in entries.items() if name not in KEYS_AND_ENDPOINTS}
        self._audit.record(
            principal, Action.SETTINGS_CHANGED, "", settings=sorted(entries), values=shown
        )

    def _chat_spec(self, changes: Changes) -> ChatSpec:
        """The spec with limits for a test; its model is the only one offered if none is set."""
        spec = self._values.chat_spec(self._after(changes))
        label = ChatModelChoice(spec).resolve().label
        return replace(
            spec,
            model="" if label == EXTRACTIVE else label,
            max_tokens=min(spec.max_tokens or TEST_TOKENS, TEST_TOKENS),
            timeout_s=min(spec.timeout_s, TEST_TIMEOUT_S),
            answer_timeout_s=min(spec.answer_timeout_s, TEST_TIMEOUT_S),
            retries=0,
        )

    def _after(self, changes: Changes) -> Mapping[str, Any]:
        after = {**self._values.stored(), **self._with_removed_keys(changes)}
        return {name: value for name, value in after.items() if value is not None}

    def _with_removed_keys(self, changes: Changes) -> Changes:
        stored = self._values.stored()
        moved = keys_of_changed_servers(stored, {**stored, **changes})
        return {**dict.fromkeys(moved), **changes}

    def _entry(self, name: str, value: Any) -> Any:
        if value is None or name not in SECRETS:
            return value
        self._require_key()
        return self._store.encrypt(value)

    def _require_changeable(self, changes: Changes) -> None:
        values = self._values.all()
        for name in changes:
            if name not in values:
                raise InputError(_("{name} can't be changed here.").format(name=name))
            if values[name].is_fixed:
                raise InputError(
                    _("The environment sets {variable}: change it there.").format(
                        variable=variable_of(name)
                    )
                )


def _settings_to_record(changes: Changes) -> Collection[str]:
    """The settings whose later changes prevent an undo: a key must not return to another server."""
    return changes.keys() | (KEYS_AND_ENDPOINTS if changes.keys() & KEYS_AND_ENDPOINTS else set())
