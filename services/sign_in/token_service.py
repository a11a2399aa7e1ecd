"""Checks bearer tokens of the OpenID provider, with which programs call the API for people."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt
from jwt import PyJWK

from domain import Account, Action, Principal
from domain.errors import SignInError
from domain.logs import get_logger
from domain.messages import Message, _
from services.audit_service import AuditService
from services.sign_in.claims import (
    DISABLED,
    SKEW,
    Claims,
    SignInOptions,
    account_id,
    account_of,
    groups_of,
    verified_email,
)
from services.sign_in.provider_keys import ALGORITHMS, ProviderKeys
from storage.ledger.account_store import Accounts

MAX_TOKEN_CHARS = 16 * 1024
_REQUIRED = ("exp", "iat", "iss", "aud", "sub")
_UNREADABLE = (jwt.PyJWTError, ValueError, OverflowError, RecursionError)

_TOO_LONG = _("This token is too long: at most {maximum} characters are accepted.")
_EXPIRED = _("This token has expired: get another one from the sign-in service.")
_NOT_YET = _(
    "This token is dated in the future: correct the clock of this server or of the sign-in service."
)
_OF_ANOTHER = _("This token was issued by another sign-in service or for another program.")
_INCOMPLETE = _("This token lacks the claim {claim}.")
_FORGED = _("This token was not signed by the sign-in service.")

_log = get_logger("sign_in")


@dataclass(frozen=True)
class TokenService:
    """The people for whom bearer tokens were issued.

    The `audience` is what tokens for this API name as theirs.
    """

    keys: ProviderKeys
    audience: str
    accounts: Accounts
    audit: AuditService
    options: SignInOptions

    def verify(self, token: str, now: datetime) -> tuple[Account, Principal]:
        """The account of the person, created at the first call, and the principal for the call.

        The principal has the role of the account, and the groups and the verified email address in
        the token.

        Raises:
            SignInError: The token is not valid, or the account is disabled.
            SignInUnavailableError: The token can't be checked now.
        """
        claims = self._claims(token)
        account = self.accounts.find(account_id(claims))
        if account is None:
            account = self.accounts.put(account_of(claims, self.options, now))
            self.audit.record(account.principal, Action.SIGN_IN_OK, account.id)
        if account.disabled_at is not None:
            self.audit.record_refusal(account.principal, account.id, "disabled")
            raise _refusal(DISABLED)
        groups, email = groups_of(claims, self.options), verified_email(claims)
        return account, Principal(account.id, groups, account.role, email=email)

    def _claims(self, token: str) -> Claims:
        if len(token) > MAX_TOKEN_CHARS:
            raise _refusal(_TOO_LONG.format(maximum=MAX_TOKEN_CHARS))
        try:
            return self._verified(token, self._key(token))
        except _UNREADABLE as error:
            raise _refusal(_reason(error), error) from error

    def _key(self, token: str) -> PyJWK:
        header = jwt.get_unverified_header(token)
        key_id = header.get("kid")
        key = None
        if header.get("alg") in ALGORITHMS and key_id:
            key = self.keys.find(key_id)
        if key is None:
            raise _refusal(_FORGED)
        return key

    def _verified(self, token: str, key: PyJWK) -> dict[str, Any]:
        issuer = self.options.issuer.rstrip("/")
        claims = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            audience=self.audience,
            issuer=[issuer, f"{issuer}/"],
            leeway=SKEW,
            options={"require": list(_REQUIRED)},
        )
        if not claims["sub"]:
            raise jwt.MissingRequiredClaimError("sub")
        return claims


def _reason(error: Exception) -> Message:
    match error:
        case jwt.MissingRequiredClaimError():
            return _INCOMPLETE.format(claim=error.claim)
        case jwt.ExpiredSignatureError():
            return _EXPIRED
        case jwt.ImmatureSignatureError():
            return _NOT_YET
        case jwt.InvalidAudienceError() | jwt.InvalidIssuerError():
            return _OF_ANOTHER
    return _FORGED


def _refusal(reason: Message, error: Exception | None = None) -> SignInError:
    _log.info("token refused", error=type(error).__name__ if error else "")
    return SignInError(reason)
