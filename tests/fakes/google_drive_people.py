"""Sign-in for the fake Google Drive: accounts, keys, and tokens."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.fakes.loopback import Answer, RefusedError, Request, json_answer

IMPORTER = "importer@a-project.iam.gserviceaccount.com"
PERSON = "kim@example.org"
READ_ONLY = "https://www.googleapis.com/auth/drive.readonly"
_READING = {READ_ONLY, "https://www.googleapis.com/auth/drive"}
CLIENT = {"client_id": "1234-abc.apps.googleusercontent.com", "client_secret": "GOCSPX-of-a-test"}
_JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_FORMS = {
    _JWT: {"grant_type", "assertion"},
    "refresh_token": {"grant_type", "refresh_token", "client_id", "client_secret", "scope"},
    "authorization_code": {
        *("grant_type", "code", "client_id", "client_secret", "redirect_uri", "code_verifier"),
    },
}
_CONSENT_PARAMETERS = {
    *("response_type", "client_id", "redirect_uri", "scope", "state", "access_type", "prompt"),
    *("code_challenge", "code_challenge_method", "include_granted_scopes", "login_hint"),
}
_GOOGLE = "https://oauth2.googleapis.com/token"
"""The audience that Google's own library signs for, whatever the key file contains."""

_HOUR = timedelta(hours=1)


class GrantError(Exception):
    """A refused token: OAuth's error code and description."""


@dataclass(frozen=True)
class Grant:
    account: str
    scopes: frozenset[str]
    until: datetime


class People:
    """Signs accounts in. `consents` is the user's answer in the browser."""

    def __init__(self) -> None:
        self.origin = ""
        self.consents = True
        self.token_seconds = 3599
        self._grants: dict[str, Grant] = {}
        self._refreshing: dict[str, Grant] = {}
        self._codes: dict[str, tuple[Grant, Mapping[str, str]]] = {}
        self._revoked: set[str] = set()

    def service_account(self, account: str = IMPORTER) -> dict[str, str]:
        """The JSON of a service account's key file."""
        return {
            "type": "service_account",
            "project_id": "a-project",
            "private_key_id": hashlib.sha256(account.encode()).hexdigest()[:40],
            "private_key": _private_pem(account),
            "client_email": account,
            "client_id": "1" * 21,
            "auth_uri": f"{self.origin}/o/oauth2/auth",
            "token_uri": f"{self.origin}/token",
            "universe_domain": "googleapis.com",
        }

    def authorized_user(self, account: str = PERSON) -> dict[str, str]:
        """A stored token of a user who gave consent."""
        token = self._refresh_token(Grant(account, frozenset([READ_ONLY]), _now() + _HOUR))
        return {
            "type": "authorized_user",
            **CLIENT,
            "refresh_token": token,
            "token_uri": f"{self.origin}/token",
        }

    def client_secrets(self) -> dict[str, Any]:
        """The client file of a desktop application, as Google's console provides it."""
        uris = {"auth_uri": f"{self.origin}/o/oauth2/auth", "token_uri": f"{self.origin}/token"}
        return {"installed": {**CLIENT, **uris, "redirect_uris": ["http://localhost"]}}

    def revoke(self, account: str) -> None:
        """Revoke all tokens and keys of an account, as its owner or an administrator can."""
        self._revoked.add(account)

    def expire_access(self) -> None:
        """Expire all access tokens; refresh tokens stay valid."""
        self._grants.clear()

    def account_of(self, request: Request) -> tuple[str, frozenset[str]] | None:
        """The account of a request and its scopes; None if unknown."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        grant = self._grants.get(token) if kind == "Bearer" else None
        if grant is None or grant.until < _now() or grant.account in self._revoked:
            return None
        return grant.account, grant.scopes

    def token(self, request: Request) -> Answer:
        """POST /token."""
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        known = _FORMS.get(form.get("grant_type", ""))
        if request.method != "POST" or known is None or not form.keys() <= known:
            raise RefusedError(f"the token endpoint does not take {sorted(form)}")
        try:
            return json_answer(200, self._token_response(form | _client_of(request)))
        except GrantError as error:
            code, description = error.args
            return json_answer(400, {"error": code, "error_description": description})

    def consent(self, request: Request) -> Answer:
        """GET /o/oauth2/auth: redirects the browser immediately with the user's answer."""
        params = request.params
        unknown = params.keys() - _CONSENT_PARAMETERS
        target = urlsplit(params.get("redirect_uri", ""))
        if unknown or params.get("response_type") != "code" or target.hostname not in _HOME:
            raise RefusedError(f"no such authorization: {sorted(unknown) or params}")
        if params.get("client_id") != CLIENT["client_id"]:
            raise RefusedError("the OAuth client was not found")
        reply = {"error": "access_denied"}
        if self.consents:
            reply = {"code": self._code(params), "scope": params["scope"]}
        state = {"state": params["state"]} if "state" in params else {}
        url = f"{params['redirect_uri']}?{urlencode({**state, **reply})}"
        return Answer(302, b"", "text/html", {"Location": url})

    def _code(self, params: Mapping[str, str]) -> str:
        code = f"4/{secrets.token_urlsafe(20)}"
        grant = Grant(PERSON, frozenset(params["scope"].split()), _now() + _HOUR)
        self._codes[code] = grant, params
        return code

    def _token_response(self, form: Mapping[str, str]) -> dict[str, Any]:
        if form["grant_type"] == _JWT:
            return self._access(_signed(form.get("assertion", ""), f"{self.origin}/token"))
        if any(form.get(name) != value for name, value in CLIENT.items()):
            raise GrantError("invalid_client", "Unauthorized")
        if form["grant_type"] == "refresh_token":
            grant = self._refreshing.get(form.get("refresh_token", ""))
            if grant is None:
                raise GrantError("invalid_grant", "Bad Request")
            return self._access(grant)
        grant = self._grant_for_code(form)
        return self._access(grant) | {"refresh_token": self._refresh_token(grant)}

    def _grant_for_code(self, form: Mapping[str, str]) -> Grant:
        grant, request = self._codes.pop(form.get("code", ""), (None, {}))
        if grant is None or form.get("redirect_uri") != request["redirect_uri"]:
            raise GrantError("invalid_grant", "Malformed auth code.")
        if "code_challenge" in request:
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != request["code_challenge"]:
                raise GrantError("invalid_grant", "Invalid code verifier.")
        return grant

    def _access(self, grant: Grant) -> dict[str, Any]:
        if grant.account in self._revoked:
            raise GrantError("invalid_grant", "Token has been expired or revoked.")
        token = f"ya29.{secrets.token_urlsafe(30)}"
        until = _now() + timedelta(seconds=self.token_seconds)
        self._grants[token] = Grant(grant.account, grant.scopes, until)
        return {
            "access_token": token,
            "expires_in": self.token_seconds,
            "token_type": "Bearer",
            "scope": " ".join(sorted(grant.scopes)),
        }

    def _refresh_token(self, grant: Grant) -> str:
        token = f"1//{secrets.token_urlsafe(30)}"
        self._refreshing[token] = grant
        return token


def _client_of(request: Request) -> dict[str, str]:
    """The client in the Authorization header, which Google accepts too."""
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind != "Basic":
        return {}
    return dict(zip(CLIENT, base64.b64decode(encoded).decode().split(":", 1), strict=True))


def may_read(scopes: frozenset[str]) -> bool:
    return bool(scopes & _READING)


_HOME = ("localhost", "127.0.0.1")


def _signed(assertion: str, audience: str) -> Grant:
    """The account and scopes of a service account's signed assertion.

    Raises:
        GrantError: The signature, audience, or time is invalid.
    """
    try:
        head, claims = (json.loads(_decoded(part)) for part in assertion.split(".")[:2])
        account = claims["iss"]
        signed_part, signature = assertion.rpartition(".")[0].encode(), assertion.rpartition(".")[2]
        _key(account).public_key().verify(
            _decoded(signature), signed_part, padding.PKCS1v15(), hashes.SHA256()
        )
    except (ValueError, KeyError, InvalidSignature) as error:
        raise GrantError("invalid_grant", "Invalid JWT Signature.") from error
    seconds = _now().timestamp()
    if head["alg"] != "RS256" or claims["aud"] not in (audience, _GOOGLE):
        raise GrantError("invalid_grant", "Invalid JWT: Failed audience check.")
    if not seconds - 3660 < claims["iat"] <= seconds + 60 < claims["exp"] <= claims["iat"] + 3600:
        raise GrantError("invalid_grant", "Invalid JWT: Token must be a short-lived token.")
    if not claims.get("scope"):
        raise GrantError("invalid_scope", "Empty or missing scope not allowed.")
    return Grant(account, frozenset(claims["scope"].split()), _now() + _HOUR)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@cache
def _key(account: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=1024)  # fast to load


def _private_pem(account: str) -> str:
    return (
        _key(account)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


def _now() -> datetime:
    return datetime.now(UTC)
