"""Checks the claims of an ID token, and reads a person from them.

The server of the pages has verified the token's signature and nonce before it stored the claims
in its signed cookie, which lasts 30 days whatever the token says.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from domain import Account, Role
from domain.errors import SignInError
from domain.messages import Message, _

Claims = Mapping[str, Any]

SKEW = timedelta(seconds=60)
_MAX_NAME_CHARS = 200
_MAX_EMAIL_CHARS = 254  # RFC 5321
_LONG_EMAIL = _(
    "Your e-mail address has more than {limit} characters: ask the administrator of the sign-in"
    " service to correct it."
)
_OF_ANOTHER = _("This sign-in was made for another provider or program: sign in again.")
DISABLED = _("Your account is disabled: ask an administrator to enable it.")
_INCOMPLETE = _(
    "The sign-in does not say who you are ({claim} is missing): ask the administrator of the"
    " sign-in service."
)


@dataclass(frozen=True, slots=True)
class SignInOptions:
    """How people sign in; `session` is the time until they must do so again."""

    issuer: str
    client_id: str
    groups_claim: str
    public_url: str
    session: timedelta
    default_role: Role


def check_claims(claims: Claims, options: SignInOptions, now: datetime) -> None:
    """Check that the claims are complete, current, and meant for this program.

    Raises:
        SignInError: They are not; the message says why.
    """
    for claim in ("iss", "sub", "aud", "iat"):
        if not claims.get(claim):
            raise SignInError(_INCOMPLETE.format(claim=claim))
    if not isinstance(claims["iss"], str) or _issuer(claims) != options.issuer.rstrip("/"):
        raise SignInError(_OF_ANOTHER)
    if not _is_for(claims, options.client_id):
        raise SignInError(_OF_ANOTHER)
    if problem := _time_problem(issue_time(claims), options.session, now):
        raise SignInError(problem)


def _is_for(claims: Claims, client_id: str) -> bool:
    """Whether the token is for this client, which `azp` must name if there are others."""
    audience = claims["aud"]
    audiences = audience if isinstance(audience, list) else [audience]
    party = claims.get("azp", client_id if len(audiences) == 1 else None)
    return client_id in audiences and party == client_id


def _time_problem(issued_at: datetime, session: timedelta, now: datetime) -> Message | None:
    if issued_at > now + SKEW:
        return _(
            "The sign-in is dated in the future: correct the clock of this server or of the"
            " sign-in service, and sign in again."
        )
    if issued_at <= now - session:
        return _("Your session has expired: sign in again.")
    return None


def issue_time(claims: Claims) -> datetime:
    """The time of the sign-in.

    Raises:
        SignInError: It is not a time.
    """
    seconds = claims["iat"]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise SignInError(_INCOMPLETE.format(claim="iat"))
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise SignInError(_INCOMPLETE.format(claim="iat")) from error


def session_digest(claims: Claims) -> str:
    """What identifies one sign-in, without revealing its nonce."""
    return _digest(account_id(claims), str(claims.get("nonce") or claims["iat"]))


def account_id(claims: Claims) -> str:
    """The id of the person's account."""
    return _digest(_issuer(claims), str(claims["sub"]))


def _issuer(claims: Claims) -> str:
    return str(claims["iss"]).rstrip("/")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def account_of(claims: Claims, options: SignInOptions, now: datetime) -> Account:
    """The account of a person who signs in for the first time.

    Raises:
        SignInError: The e-mail address is too long.
    """
    return Account(
        account_id(claims),
        _issuer(claims),
        str(claims["sub"]),
        _name(claims),
        _email(claims),
        options.default_role,
        groups_of(claims, options),
        created_at=now,
        signed_in_at=issue_time(claims),
        seen_at=now,
        email_verified=bool(verified_email(claims)),
    )


def verified_email(claims: Claims) -> str:
    """The person's e-mail address, if the provider has verified it; otherwise "".

    Anyone can enter the address of somebody else at a provider that does not verify it.
    """
    return _email(claims) if claims.get("email_verified") is True else ""


def _name(claims: Claims) -> str:
    names = (claims.get(one) for one in ("name", "preferred_username", "email", "sub"))
    return next(filter(None, map(_line, names)), "")[:_MAX_NAME_CHARS]


def _email(claims: Claims) -> str:
    """The whole address, because a part of it could be that of somebody else.

    Raises:
        SignInError: It is too long.
    """
    email = _line(claims.get("email"))
    if len(email) > _MAX_EMAIL_CHARS:
        raise SignInError(_LONG_EMAIL.format(limit=_MAX_EMAIL_CHARS))
    return email


def _line(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if text.isprintable() else ""


def groups_of(claims: Claims, options: SignInOptions) -> frozenset[str]:
    """The names of groups in a list, or of a single one; nothing else is a group."""
    value = claims.get(options.groups_claim)
    several = value if isinstance(value, list) else [value]
    return frozenset(one for one in several if isinstance(one, str) and one)
