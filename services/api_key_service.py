"""Creates, verifies, and revokes the keys with which programs call the API."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from domain import Action, ApiKey, ApiScope, Principal, Role
from domain.errors import InputError, SignInError
from domain.messages import _
from services.access import require_role
from services.audit_service import AuditService
from services.reader_names import checked_groups
from services.secret_tokens import new_token, token_digest
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

MAX_LIFETIME = timedelta(days=3650)

_WRONG_KEY = _(
    "This API key is unknown or was revoked: `python cli.py api-key create NAME --scope read"
    " --scope ask` creates another one."
)
_EXPIRED = _(
    "This API key expired on {date}: `python cli.py api-key create NAME --scope read --scope ask`"
    " creates another one."
)
_MAX_NAME_CHARS = 100


class NewApiKey(NamedTuple):
    """A key and its secret, which can't be retrieved later."""

    key: ApiKey
    secret: str


@dataclass(frozen=True)
class ApiKeyService:
    """The API keys of all users.

    To manage them, a principal must be an administrator; otherwise, the calls raise ForbiddenError.
    """

    keys: ApiKeys
    audit: AuditService

    def create(
        self,
        principal: Principal,
        owner: Principal,
        name: str,
        scopes: Iterable[ApiScope],
        lifetime: timedelta | None = None,
    ) -> NewApiKey:
        """Create a key that calls the API on behalf of its owner.

        Args:
            principal: An administrator.
            owner: The user, who need not have an account, and the groups.
            name: What the key is for.
            scopes: What the key permits.
            lifetime: How long it is valid, up to ten years; None for an unlimited time.

        Raises:
            InputError: The name is empty, not printable, or longer than 100 characters; the
                owner's user id is blank; a group is malformed; `scopes` is empty; or the
                lifetime is out of range.
        """
        require_role(principal, Role.ADMIN)
        _check_lifetime(lifetime)
        secret, now = PREFIX + new_token(), datetime.now(UTC)
        key = ApiKey(
            uuid.uuid4().hex[:12],
            _checked_name(name),
            _checked_user(owner),
            _checked_scopes(scopes),
            now,
            expires_at=None if lifetime is None else now + lifetime,
            groups=checked_groups(owner.groups),
        )
        self.keys.add(key, token_digest(secret))
        self.audit.record(
            principal,
            Action.API_KEY_CREATED,
            key.id,
            user_id=key.user_id,
            scopes=sorted(key.scopes),
        )
        return NewApiKey(key, secret)

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret, expired or not; None if there is none or it was revoked."""
        key = self.keys.find(token_digest(secret))
        return None if key is None or key.revoked_at is not None else key

    def verify(self, secret: str) -> ApiKey:
        """The valid key with this secret.

        Raises:
            SignInError: There is none, it was revoked, or it has expired.
        """
        key = self.find(secret)
        if key is None:
            raise SignInError(_WRONG_KEY)
        if key.has_expired(datetime.now(UTC)):
            raise SignInError(_EXPIRED.format(date=f"{key.expires_at:%Y-%m-%d}"))
        return key

    def note_use(self, key: ApiKey) -> None:
        """Record the current time as the key's last use, at most once a minute.

        May wait for another process that is writing.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        self.keys.note_use(key, datetime.now(UTC))

    def list(self, principal: Principal) -> Sequence[ApiKey]:
        """All keys, including revoked and expired ones, oldest first."""
        require_role(principal, Role.ADMIN)
        return self.keys.list()

    def revoke(self, principal: Principal, key_id: str) -> None:
        """Invalidate a key immediately, in all processes.

        Raises:
            NotFoundError: There is no key with this id.
        """
        require_role(principal, Role.ADMIN)
        self.keys.revoke(key_id, datetime.now(UTC))
        self.audit.record(principal, Action.API_KEY_REVOKED, key_id)


def _checked_name(name: str) -> str:
    label = name.strip()
    if not label or len(label) > _MAX_NAME_CHARS or not label.isprintable():
        raise InputError(
            _("Give the key a name of 1 to {max_name_chars} characters, on one line.").format(
                max_name_chars=_MAX_NAME_CHARS
            )
        )
    return label


def _checked_user(owner: Principal) -> str:
    if not owner.user_id.strip():
        raise InputError(_("Specify the user on whose behalf the key makes calls."))
    return owner.user_id


def _checked_scopes(scopes: Iterable[ApiScope]) -> frozenset[ApiScope]:
    permitted = frozenset(scopes)
    if not permitted:
        raise InputError(
            _("Specify one or more scopes for the key: {apiscope}.").format(
                apiscope=", ".join(ApiScope)
            )
        )
    return permitted


def _check_lifetime(lifetime: timedelta | None) -> None:
    if lifetime is not None and not timedelta(0) < lifetime <= MAX_LIFETIME:
        raise InputError(
            _("An API key can expire after 1 to {days} days.").format(days=MAX_LIFETIME.days)
        )
