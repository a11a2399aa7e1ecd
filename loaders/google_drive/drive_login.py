"""Google logins: a service account, or a person with a stored token from a browser sign-in."""

import hashlib
import json
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain.errors import SourceError
from domain.logs import hide_secrets
from domain.messages import _

if TYPE_CHECKING:
    from google.auth.credentials import Credentials


SCOPES = ("https://www.googleapis.com/auth/drive.readonly",)
TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105  # an address, not a secret


_TOKEN_SERVERS = (("https", "oauth2.googleapis.com"), ("https", "accounts.google.com"))


class LoginKind(StrEnum):
    """How to sign in."""

    SERVICE_ACCOUNT = "service_account"
    OAUTH = "oauth"


_NEEDED = {
    LoginKind.SERVICE_ACCOUNT: ("client_email", "private_key", "token_uri"),
    LoginKind.OAUTH: ("client_id", "client_secret", "refresh_token"),
}
_SECRETS = {"private_key", "client_secret", "refresh_token"}
_NAMES = {
    LoginKind.SERVICE_ACCOUNT: _("The service account's key"),
    LoginKind.OAUTH: _("The stored sign-in"),
}
_ADVICE = {
    LoginKind.SERVICE_ACCOUNT: _("download a JSON key of the account in the Google Cloud console"),
    LoginKind.OAUTH: _(
        "create one with `python cli.py google-login CLIENT_JSON --save TOKEN_FILE`"
    ),
}
REFUSED = {
    LoginKind.SERVICE_ACCOUNT: (
        _(
            "Google rejected the service account's key: it was deleted or disabled, or this"
            " computer's clock is wrong. Create a new key in the Google Cloud console."
        )
    ),
    LoginKind.OAUTH: (
        _(
            "The sign-in to Google has expired or was revoked: run `python cli.py"
            " google-login CLIENT_JSON --save TOKEN_FILE` again, and enter the new token in"
            " this source."
        )
    ),
}
"""The advice to users if Google no longer accepts a login."""


@dataclass(frozen=True, slots=True)
class DriveLogin:
    """A login; its `repr` does not contain the secret."""

    kind: LoginKind
    _values: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, kind: str, secret_json: str) -> "DriveLogin":
        """Create a login from the JSON of a service account's key, or that of `authorize`.

        Raises:
            SourceError: The JSON is invalid; the message contains nothing from it.
        """
        login, values = LoginKind(kind), _object(secret_json)
        missing = [name for name in _NEEDED[login] if not _is_text(values.get(name))]
        if missing:
            raise SourceError(
                _("{names} lacks {missing}: {advice}.").format(
                    names=_NAMES[login], missing=", ".join(missing), advice=_ADVICE[login]
                )
            )
        hide_secrets(values[name] for name in _NEEDED[login] if name in _SECRETS)
        return cls(login, values)

    @property
    def email(self) -> str:
        """The service account's address, to share items with; empty for a person."""
        return str(self._values.get("client_email", ""))

    def fingerprint(self) -> str:
        """A fingerprint that differs between accounts and does not reveal the secret."""
        who = self.email or str(self._values.get("refresh_token"))
        return hashlib.sha256(who.encode()).hexdigest()[:16]

    def require_token_server(self, api_url: str) -> None:
        """Check that access tokens come from Google, or from the server of `api_url`.

        Otherwise, whoever enters a secret could make this machine send requests to any address.

        Raises:
            SourceError: The secret names another server.
        """
        token_uri = str(self._values.get("token_uri") or TOKEN_URI)
        if _server(token_uri) not in (*_TOKEN_SERVERS, _server(api_url)):
            raise SourceError(
                _("{names} names a server for tokens that is not Google's: {advice}.").format(
                    names=_NAMES[self.kind], advice=_ADVICE[self.kind]
                )
            )

    def credentials(self) -> "Credentials":
        """New credentials for this login, without an access token.

        Raises:
            SourceError: The private key can't be read.
        """
        if self.kind is LoginKind.OAUTH:
            return self._of_person()
        from google.oauth2.service_account import Credentials

        try:
            new_credentials: Credentials = Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
                self._values, scopes=SCOPES
            )
        except ValueError as error:
            advice = _ADVICE[self.kind]
            raise SourceError(
                _("The service account's private key can't be read: {advice}.").format(
                    advice=advice
                )
            ) from error
        return new_credentials

    def _of_person(self) -> "Credentials":
        from google.oauth2.credentials import Credentials

        credentials: Credentials = Credentials(  # type: ignore[no-untyped-call]
            None,
            refresh_token=self._values["refresh_token"],
            token_uri=self._values.get("token_uri") or TOKEN_URI,
            client_id=self._values["client_id"],
            client_secret=self._values["client_secret"],
            scopes=SCOPES,
        )
        return credentials


def _object(secret_json: str) -> dict[str, Any]:
    try:
        value = json.loads(secret_json)
    except (ValueError, RecursionError):  # the text is secret: drop the cause, which would quote it
        value = None
    return value if isinstance(value, dict) else {}


def _server(url: str) -> tuple[str, str]:
    """The scheme and the host with its port, both "" if the address is malformed."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme, parts.netloc.lower()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


SIGN_IN_TIMEOUT_S = 600
"""Seconds that the person has to allow access in the browser."""
_PROMPT = "Open this address in a browser on this computer, sign in, and allow access:\n\n{url}\n"
_DONE = "Footnote can now read your Google Drive. You can close this window."


def authorize(client_json: str, port: int = 0, *, open_browser: bool = True) -> str:
    """Ask a person to allow this program to read their Drive, and wait for the answer.

    During the wait, Google redirects the browser to a server on this computer that no other
    computer can reach.

    Args:
        client_json: The JSON of an OAuth client of the type "Desktop app".
        port: The server's port; 0 is any free port.
        open_browser: Open the browser in addition to printing the address.

    Returns:
        The JSON that `DriveLogin.of("oauth", ...)` takes. It is a secret.

    Raises:
        SourceError: The client is invalid, or the person did not allow access in time.
    """
    from google_auth_oauthlib.flow import (  # type: ignore[import-untyped]  # slow
        InstalledAppFlow,
        WSGITimeoutError,
    )
    from oauthlib.oauth2.rfc6749.errors import OAuth2Error  # type: ignore[import-untyped]
    from requests.exceptions import RequestException

    flow = InstalledAppFlow.from_client_config(_client(client_json), SCOPES)
    try:
        credentials = flow.run_local_server(
            port=port,
            open_browser=open_browser and _has_browser(),
            authorization_prompt_message=_PROMPT,
            success_message=_DONE,
            timeout_seconds=SIGN_IN_TIMEOUT_S,
            prompt="consent",  # otherwise Google returns a refresh token only the first time
        )
    except WSGITimeoutError as error:
        minutes = SIGN_IN_TIMEOUT_S // 60
        raise SourceError(
            _(
                "Nobody signed in within {minutes} minutes: run `python cli.py google-login"
                " CLIENT_JSON --save TOKEN_FILE` again."
            ).format(minutes=minutes)
        ) from error
    except (OAuth2Error, Warning) as error:  # Warning: the scope differs from the requested one
        raise SourceError(
            _(
                "Google denied access ({error}): run `python cli.py google-login CLIENT_JSON"
                " --save TOKEN_FILE` again, and grant access to Google Drive."
            ).format(error=error)
        ) from error
    except (RequestException, OSError) as error:
        raise SourceError(
            _(
                "The sign-in was interrupted ({error}): run `python cli.py google-login"
                " CLIENT_JSON --save TOKEN_FILE` again."
            ).format(error=error)
        ) from error
    if not credentials.refresh_token:
        raise SourceError(
            _(
                "Google returned no refresh token: run `python cli.py google-login CLIENT_JSON"
                " --save TOKEN_FILE` again."
            )
        )
    return _token_json(credentials)


def _client(client_json: str) -> dict[str, Any]:
    client = _object(client_json).get("installed")
    needed = {"client_id", "client_secret", "auth_uri", "token_uri"}
    if not isinstance(client, dict) or not needed <= client.keys():
        raise SourceError(
            _(
                'This is not the JSON of an OAuth client of the type "Desktop app": create'
                " one in the Google Cloud console and download its JSON."
            )
        )
    return {"installed": client}


def _has_browser() -> bool:
    try:
        webbrowser.get()
    except webbrowser.Error:  # a server without a browser: the address is printed
        return False
    return True


def _token_json(credentials: Any) -> str:
    """The credentials as JSON, without the access token, which would have expired when used."""
    token = {
        "type": "authorized_user",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "refresh_token": credentials.refresh_token,
        "token_uri": credentials.token_uri,
    }
    return json.dumps(token, indent=2)
