"""The base class of remote kinds of sources: signs in with a secret and tests connections."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from domain import Principal, Wait
from domain.errors import SourceError, SourceUnavailableError
from domain.messages import _
from services.access import Access
from services.imports.import_plan import Loader
from services.sources.secret_service import SourceSecrets, reference_option
from services.sources.source_kinds import (
    Field,
    FieldValues,
    SourceAddition,
    SourcePreview,
    keep_once,
    options_of,
    secret_field,
)
from storage.ledger.source_store import StoredSource, new_source

_MAX_WAIT_S = 8.0
_NAMES = 4
_SECRETS = {
    "api_token": _("The API token is missing: enter it."),
    "access_token": _("The personal access token is missing: enter it."),
    "password": _("The password is missing: enter it."),
    "service_account": _("The key of the service account is missing: paste its JSON."),
    "oauth_token": _(
        "The token is missing: paste the contents of the file that “python cli.py google-login"
        " CLIENT_JSON --save TOKEN_FILE” wrote."
    ),
}


@dataclass(frozen=True, slots=True)
class SignIn:
    """The result of signing in, before documents are listed."""

    name: str
    """The default name of the source."""

    options: Mapping[str, Any]
    """The options to store, in canonical form."""

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class RemoteKind(ABC):
    """A kind of source that is read over the network.

    Files of more than `max_file_bytes` are skipped.
    """

    name: ClassVar[str]
    fields: ClassVar[Sequence[Field]]
    is_json: ClassVar[bool] = False
    """Whether its secrets are JSON, which may be in files."""

    access: Access
    secrets: SourceSecrets
    max_file_bytes: int

    @abstractmethod
    def _normalize(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options in the form to be stored.

        Raises:
            SourceError: An option is missing or invalid; the message says what to do.
        """

    @abstractmethod
    def _location(self, options: Mapping[str, Any]) -> str:
        """A readable identifier, equal if and only if the sources are the same."""

    @abstractmethod
    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Loader:
        """Create the loader without sending a request."""

    @abstractmethod
    def _sign_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignIn:
        """Sign in and check that the selection exists.

        Raises:
            SourceError: The source can't be reached or read; the message says what to do.
        """

    @abstractmethod
    def _listing(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SourcePreview:
        """Preview the first documents that an import would list, without warnings and notes.

        Raises:
            SourceError: There are no documents, or they can't be listed.
        """

    def check(self, principal: Principal, values: FieldValues) -> SourcePreview:  # noqa: ARG002  # every use case takes a principal
        """Sign in and list the first documents."""
        options = self._options(values)
        return self._test(options, self._value(self._entered_secret(options, values)))

    def add(self, principal: Principal, values: FieldValues) -> SourceAddition:
        """Save the source and its encrypted secret."""
        options = self._options(values)
        field, secret = secret_field(self.fields, options), self._entered_secret(options, values)
        account = self._sign_in(options, self._value(secret), BoundedWait())
        draft = new_source(
            self.name,
            self._location(account.options),
            name=account.name,
            options={**account.options, **reference_option(field.name, secret)},
        )
        added = keep_once(self.access, principal, draft)
        self.secrets.save(added.source, field.name, secret)
        return added

    def field_values(self, source: StoredSource) -> FieldValues:
        """The source's options; for a secret, the name of its variable, or "" if it is stored."""
        secret = secret_field(self.fields, source.options)
        names = [one.name for one in self.fields if not one.secret or one == secret]
        return {name: source.options.get(name, "") for name in names}

    def edited_options(self, source: StoredSource, values: FieldValues) -> Mapping[str, Any]:
        """The new options after a successful test; saves the secret if a new one was entered."""
        free = {field.name for field in self.fields if not field.fixed}
        entered = {name: value for name, value in values.items() if name in free}
        options = self._options({**source.options, **entered})
        field = secret_field(self.fields, options)
        typed = str(entered.get(field.name) or "").strip()
        if not typed and field == secret_field(self.fields, source.options):
            self._test(options, self._secret(source))
            return options
        typed = self._entered_secret(options, entered)
        self._test(options, self._value(typed))
        self.secrets.save(source, field.name, typed)
        return {**options, **reference_option(field.name, typed)}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """The loader, signed in with the source's secret."""
        return self._loader(source.options, self._secret(source), wait)

    def forget(self, source: StoredSource) -> None:  # noqa: B027  # no kind has anything to delete
        """Do nothing: the secret is deleted with the source's row."""

    def _options(self, values: FieldValues) -> dict[str, Any]:
        return self._normalize(options_of(self.fields, values))

    def _value(self, text: str) -> str:
        return self.secrets.value(text, is_json=self.is_json)

    def _secret(self, source: StoredSource) -> str:
        field = secret_field(self.fields, source.options)
        return self.secrets.of(source, field.name, is_json=self.is_json)

    def _entered_secret(self, options: Mapping[str, Any], values: FieldValues) -> str:
        field = secret_field(self.fields, options)
        secret = str(values.get(field.name) or "").strip()
        if not secret:
            raise SourceError(_SECRETS[field.name])
        return secret

    def _test(self, options: Mapping[str, Any], secret: str) -> SourcePreview:
        wait = BoundedWait()
        account = self._sign_in(options, secret, wait)
        result = self._listing(account.options, secret, wait)
        return replace(result, warnings=account.warnings, notes=account.notes)


def joined(names: Sequence[str], limit: int = _NAMES) -> str:
    """Join the first few names, such as into a default name for a source."""
    return ", ".join(names[:limit]) + (", …" if len(names) > limit else "")


class BoundedWait:
    """Waits a few seconds in total, because a user is waiting, and raises an error after that."""

    def __init__(self) -> None:
        self._remaining_s = _MAX_WAIT_S

    def __call__(self, seconds: float, reason: str) -> None:
        """Wait if enough time is left.

        Raises:
            SourceUnavailableError: The wait would take too long; the message says when to try
                again.
        """
        self._remaining_s -= seconds
        if self._remaining_s < 0:
            raise SourceUnavailableError(
                _("{value}. Try again in {seconds} seconds.").format(
                    value=reason, seconds=max(math.ceil(seconds), 10)
                )
            )
        time.sleep(seconds)
