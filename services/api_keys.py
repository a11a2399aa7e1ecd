"""Keys with which programs call the API: made, told apart, revoked."""

import hashlib
import secrets
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from domain import ApiKey, ApiScope, Principal
from errors import InputError
from storage.api_keys import ApiKeys

PREFIX = "fn-"
"""What every secret begins with, so that scanners of repositories and people know it."""

_SECRET_BYTES = 32
_MAX_NAME_CHARS = 100


class NewApiKey(NamedTuple):
    """A key and its secret, which nobody can look up again."""

    key: ApiKey
    secret: str


@dataclass(frozen=True)
class ApiKeyService:
    """The keys of the API."""

    keys: ApiKeys

    def create(self, principal: Principal, name: str, scopes: Iterable[ApiScope]) -> NewApiKey:
        """A new key that calls for the principal.

        Raises:
            InputError: The name is empty, longer than 100 characters or can't be printed; no user
                is named; or there is no scope.
        """
        told, allowed = name.strip(), frozenset(scopes)
        if not told or len(told) > _MAX_NAME_CHARS or not told.isprintable():
            raise InputError(
                f"Give the key a name of 1 to {_MAX_NAME_CHARS} characters, in one line."
            )
        if not principal.user_id.strip():
            raise InputError("Name the user for whom the key calls.")
        if not allowed:
            raise InputError(f"Name a scope or more for the key: {', '.join(ApiScope)}.")
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        now = datetime.now(UTC)
        key = ApiKey(uuid.uuid4().hex[:12], told, principal.user_id, allowed, now)
        self.keys.add(key, _digest(secret))
        return NewApiKey(key, secret)

    def find(self, secret: str) -> ApiKey | None:
        """The key of that secret; None where there is none, or it was revoked."""
        key = self.keys.find(_digest(secret))
        return None if key is None or key.revoked_at is not None else key

    def note_use(self, key: ApiKey) -> None:
        """Remember that it was used now, to the minute; may wait for another process that writes.

        Raises:
            BusyError: That one has been writing for half a minute.
        """
        self.keys.note_use(key, datetime.now(UTC))

    def list(self) -> Sequence[ApiKey]:
        """All keys, the oldest first, those that were revoked among them."""
        return self.keys.list()

    def revoke(self, key_id: str) -> None:
        """Let it open nothing more, in any process, from now on.

        Raises:
            NotFoundError: There is no key of that id.
        """
        self.keys.revoke(key_id, datetime.now(UTC))


def _digest(secret: str) -> str:
    # No salt and no slow hash: those are for what people can remember. These are 256 random bits.
    return hashlib.sha256(secret.encode()).hexdigest()
