"""Decides who makes a call to the API, from its API key or bearer token."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain import Account, ApiKey, ApiScope, Principal, Role
from domain.errors import SignInError
from domain.messages import _
from services.api_key_service import PREFIX, ApiKeyService
from storage.ledger.account_store import Accounts

if TYPE_CHECKING:  # slow, and not needed without a provider
    from services.sign_in.token_service import TokenService

_DISABLED = _(
    "The account of this key's user is disabled: ask an administrator to enable it, or use another"
    " key."
)


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """Who makes a call, and what they may do.

    `origin` is the key, or the account of the person for whom a bearer token was issued.
    """

    origin: ApiKey | Account
    principal: Principal
    scopes: frozenset[ApiScope]

    @property
    def id(self) -> str:
        """What identifies the key or the person."""
        return self.origin.id


@dataclass(frozen=True)
class CallerService:
    """The callers of the API. Without `tokens`, bearer tokens are refused like unknown keys."""

    api_keys: ApiKeyService
    accounts: Accounts
    tokens: "TokenService | None" = None

    def caller(self, secret: str) -> ApiCaller:
        """Who sent this key or token.

        Raises:
            SignInError: It is not valid, or no longer, or the user's account is disabled.
            SignInUnavailableError: The token can't be checked now.
        """
        if self.tokens is None or not self.is_token(secret):
            return self._with_key(self.api_keys.verify(secret))
        account, principal = self.tokens.verify(secret, datetime.now(UTC))
        return ApiCaller(account, principal, _scopes_of(principal.role))

    def is_token(self, secret: str) -> bool:
        """Whether it is checked as a token, for which the provider may have to be asked."""
        return self.tokens is not None and "." in secret and not secret.startswith(PREFIX)

    def _with_key(self, key: ApiKey) -> ApiCaller:
        principal, account = key.principal, self.accounts.find(key.user_id)
        if account is not None and account.disabled_at is not None:
            self.api_keys.audit.record_refusal(principal, account.id, "disabled")
            raise SignInError(_DISABLED)
        if account is not None and not account.role.includes(principal.role):
            principal = replace(principal, role=account.role)
        return ApiCaller(key, principal, key.scopes)

    def note_use(self, caller: ApiCaller) -> None:
        """Record the current time as the last use of the key or account, if it is not recent.

        May wait for another process that is writing.

        Raises:
            BusyError: Another process has been writing for half a minute.
        """
        now = datetime.now(UTC)
        match caller.origin:
            case ApiKey() as key:
                self.api_keys.note_use(key)
            case Account() as account:
                self.accounts.note_use(account, now)


ROLES = {ApiScope.MANAGE: Role.EDITOR, ApiScope.METRICS: Role.ADMIN}
"""The roles that people with a token need for scopes; other scopes are open to every role."""


def _scopes_of(role: Role) -> frozenset[ApiScope]:
    return frozenset(scope for scope in ApiScope if role.includes(ROLES.get(scope, Role.READER)))
