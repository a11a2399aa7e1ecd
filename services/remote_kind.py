"""What kinds of sources elsewhere share: signing in with a secret, and testing that it works."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from domain import Principal, Wait
from errors import SourceError, SourceUnavailableError
from services.import_run import Loader
from services.secrets import SourceSecrets, reference_option
from services.source_fields import Field, Given, options_of, secret_field
from services.source_kinds import Added, Seen, keep_once
from storage.sources import Sources, StoredSource, unsaved

_PATIENCE_S = 8.0
_NAMES = 4
_SECRETS = {
    "api_token": "The API token is missing: fill it in.",
    "access_token": "The personal access token is missing: fill it in.",
    "password": "The password is missing: fill it in.",
    "service_account": "The key of the service account is missing: paste its JSON.",
    "oauth_token": "The token is missing: paste what “python cli.py google-login” has written.",
}


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a connection test learns of a source before anything is listed."""

    name: str
    """How the source is called unless a person calls it otherwise."""

    options: Mapping[str, Any]
    """As they are kept: where something can be named in several ways, in one of them."""

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class RemoteKind(ABC):
    """A source that is read over the network.

    What a kind of its own adds: the options in its own words, where that is, the loader, and what
    a test sees.
    """

    name: ClassVar[str]
    fields: ClassVar[Sequence[Field]]
    is_json: ClassVar[bool] = False
    """Whether its secrets are JSON, which may be in files."""

    def __init__(self, sources: Sources, secrets: SourceSecrets) -> None:
        """Args: where sources are kept, and what they are read with."""
        self._sources = sources
        self._secrets = secrets

    @abstractmethod
    def _tidied(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options as they are kept.

        Raises:
            SourceError: One is missing or wrong; what to do is said.
        """

    @abstractmethod
    def _location(self, options: Mapping[str, Any]) -> str:
        """Where that is: the same for the same place, and readable."""

    @abstractmethod
    def _loader(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Loader:
        """The loader; nothing is asked yet."""

    @abstractmethod
    def _signed_in(self, options: Mapping[str, Any], secret: str, wait: Wait) -> SignedIn:
        """Who is signed in, and whether what is wanted is there.

        Raises:
            SourceError: It can't be reached or read; what to do is said.
        """

    @abstractmethod
    def _seen(self, options: Mapping[str, Any], secret: str, wait: Wait) -> Seen:
        """The beginning of what an import would list.

        Raises:
            SourceError: There is nothing, or it can't be listed.
        """

    def check(self, principal: Principal, given: Given) -> Seen:  # noqa: ARG002  # every call names who asks
        """Sign in, and look at the beginning of what is there."""
        options = self._options(given)
        return self._look(options, self._value(self._given_secret(options, given)))

    def add(self, principal: Principal, given: Given) -> Added:  # noqa: ARG002  # every call names who asks
        """Keep the source, and its secret encrypted."""
        options = self._options(given)
        field, told = secret_field(self.fields, options), self._given_secret(options, given)
        met = self._signed_in(options, self._value(told), Impatience())
        draft = unsaved(
            self.name,
            self._location(met.options),
            name=met.name,
            options={**met.options, **reference_option(field.name, told)},
        )
        added = keep_once(self._sources, draft)
        self._secrets.keep(added.source, field.name, told)
        return added

    def given(self, source: StoredSource) -> Given:
        """Its options; of a secret only the variable that it is in, "" for one that is kept."""
        secret = secret_field(self.fields, source.options)
        names = [one.name for one in self.fields if not one.secret or one == secret]
        return {name: source.options.get(name, "") for name in names}

    def edited(self, source: StoredSource, given: Given) -> Mapping[str, Any]:
        """Other options for the same place, once they pass the test; a new secret is kept.

        Left empty, the secret stays as it is.
        """
        free = {field.name for field in self.fields if not field.fixed}
        told = {name: value for name, value in given.items() if name in free}
        options = self._options({**source.options, **told})
        field = secret_field(self.fields, options)
        typed = str(told.get(field.name) or "").strip()
        if not typed and field == secret_field(self.fields, source.options):
            self._look(options, self._secret(source))
            return options
        typed = self._given_secret(options, told)
        self._look(options, self._value(typed))
        self._secrets.keep(source, field.name, typed)
        return {**options, **reference_option(field.name, typed)}

    def loader(self, source: StoredSource, wait: Wait) -> Loader:
        """What lists and reads it, signed in with its secret."""
        return self._loader(source.options, self._secret(source), wait)

    def forget(self, source: StoredSource) -> None:  # noqa: B027  # nothing to do, for any of them
        """Its secret goes with its row; what is elsewhere stays as it is."""

    def _options(self, given: Given) -> dict[str, Any]:
        return self._tidied(options_of(self.fields, given))

    def _value(self, told: str) -> str:
        return self._secrets.value(told, is_json=self.is_json)

    def _secret(self, source: StoredSource) -> str:
        field = secret_field(self.fields, source.options)
        return self._secrets.of(source, field.name, is_json=self.is_json)

    def _given_secret(self, options: Mapping[str, Any], given: Given) -> str:
        field = secret_field(self.fields, options)
        told = str(given.get(field.name) or "").strip()
        if not told:
            raise SourceError(_SECRETS[field.name])
        return told

    def _look(self, options: Mapping[str, Any], secret: str) -> Seen:
        wait = Impatience()
        met = self._signed_in(options, secret, wait)
        seen = self._seen(met.options, secret, wait)
        return Seen(
            seen.documents,
            seen.titles,
            seen.skipped,
            seen.is_all,
            (*met.warnings, *seen.warnings),
            (*met.notes, *seen.notes),
        )


def joined(names: Sequence[str]) -> str:
    """The first few names, as a source is called by default."""
    return ", ".join(names[:_NAMES]) + (", …" if len(names) > _NAMES else "")


class Impatience:
    """Waits while a person looks on: some seconds in all, and then says so."""

    def __init__(self) -> None:
        self._left_s = _PATIENCE_S

    def __call__(self, seconds: float, reason: str) -> None:
        """Wait that long.

        Raises:
            SourceUnavailableError: It would take too long; when to try again is said.
        """
        self._left_s -= seconds
        if self._left_s < 0:
            raise SourceUnavailableError(
                f"{reason.rstrip('.')}. Try again in {max(math.ceil(seconds), 10)} seconds."
            )
        time.sleep(seconds)
