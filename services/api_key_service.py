"""Creates, verifies, and revokes the keys with which programs call the API."""

import hashlib
import secrets
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from domain import ApiKey, ApiScope, Principal
from domain.errors import InputError
from domain.messages import _
from storage.ledger.api_key_store import ApiKeys


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Limits of one API process, and the origins whose web pages may call it.

    `answers` is the maximum number of concurrent answers, `max_file_bytes` the maximum size of an
    uploaded file.
    """

    requests_per_minute: int
    answers: int
    max_file_bytes: int
    cors_origins: tuple[str, ...] = ()


PREFIX = "fn-"
"""The prefix of every secret, by which people and secret scanners recognize it."""

_SECRET_BYTES = 32
_MAX_NAME_CHARS = 100


class NewApiKey(NamedTuple):
    """A key and its secret, which can't be retrieved later."""

    key: ApiKey
    secret: str


@dataclass(frozen=True)
class ApiKeyService:
    """The API keys of all users."""

    keys: ApiKeys

    def create(self, principal: Principal, name: str, scopes: Iterable[ApiScope]) -> NewApiKey:
        """Create a key that calls the API on behalf of the principal.

        Raises:
            InputError: The name is empty, not printable, or longer than 100 characters; the
                principal's user id is blank; or `scopes` is empty.
        """
        label, allowed = name.strip(), frozenset(scopes)
        if not label or len(label) > _MAX_NAME_CHARS or not label.isprintable():
            raise InputError(
                _("Give the key a name of 1 to {max_name_chars} characters, on one line.").format(
                    max_name_chars=_MAX_NAME_CHARS
                )
            )
        if not principal.user_id.strip():
            raise InputError(_("Specify the user on whose behalf the key makes calls."))
        if not allowed:
            raise InputError(
                _("Specify one or more scopes for the key: {apiscope}.").format(
                    apiscope=", ".join(ApiScope)
                )
            )
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        now = datetime.now(UTC)
        key = ApiKey(uuid.uuid4().hex[:12], label, principal.user_id, allowed, now)
        self.keys.add(key, _digest(secret))
        return NewApiKey(key, secret)

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret; None if there is none or it was revoked."""
        key = self.keys.find(_digest(secret))
        return None if key is None or key.revoked_at is not None else key

    def note_use(self, key: ApiKey) -> None:
        """Record the current time as the key's last use, at most once a minute.

        May wait for another process that is writing.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        self.keys.note_use(key, datetime.now(UTC))

    def list(self) -> Sequence[ApiKey]:
        """All keys, including revoked ones, oldest first."""
        return self.keys.list()

    def revoke(self, key_id: str) -> None:
        """Invalidate a key immediately, in all processes.

        Raises:
            NotFoundError: There is no key with this id.
        """
        self.keys.revoke(key_id, datetime.now(UTC))


def _digest(secret: str) -> str:
    # Salts and slow hashes protect passwords that people can remember. This is 256 random bits.
    return hashlib.sha256(secret.encode()).hexdigest()
