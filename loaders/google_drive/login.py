"""Who signs in to Google: a service account, or a person whose token is stored."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from errors import SourceError

if TYPE_CHECKING:  # slow, and forms need none of it
    from google.auth.credentials import Credentials

SCOPES = ("https://www.googleapis.com/auth/drive.readonly",)
TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105  # an address, not a secret


class LoginKind(StrEnum):
    """How one signs in."""

    SERVICE_ACCOUNT = "service_account"
    OAUTH = "oauth"


_NEEDED = {
    LoginKind.SERVICE_ACCOUNT: ("client_email", "private_key", "token_uri"),
    LoginKind.OAUTH: ("client_id", "client_secret", "refresh_token"),
}
_NAMES = {
    LoginKind.SERVICE_ACCOUNT: "The service account's key",
    LoginKind.OAUTH: "The stored sign-in",
}
_ADVICE = {
    LoginKind.SERVICE_ACCOUNT: "download a JSON key of the account in the Google Cloud console",
    LoginKind.OAUTH: "make one with `python cli.py google-login CLIENT_JSON --save TOKEN_FILE`",
}
REFUSED = {
    LoginKind.SERVICE_ACCOUNT: (
        "Google refuses the service account's key: it was deleted or switched off, or this"
        " computer's clock is wrong. Make a new key in the Google Cloud console."
    ),
    LoginKind.OAUTH: (
        "The sign-in to Google has expired or was withdrawn: run `python cli.py google-login"
        " CLIENT_JSON --save TOKEN_FILE` again and give the new token to this source."
    ),
}
"""What to do where Google knows a login no more."""


@dataclass(frozen=True, slots=True)
class DriveLogin:
    """One login; its secret is in no `repr`."""

    kind: LoginKind
    _told: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, kind: str, secret_json: str) -> "DriveLogin":
        """Take the JSON of a service account's key, or the one that `authorize` gives.

        Raises:
            SourceError: It is not such JSON; the message holds nothing of it.
        """
        if kind not in list(LoginKind):
            raise SourceError(f"{kind!r} is not a way to sign in to Google Drive.")
        login, told = LoginKind(kind), _object(secret_json)
        missing = [name for name in _NEEDED[login] if not _is_text(told.get(name))]
        if missing:
            raise SourceError(f"{_NAMES[login]} lacks {', '.join(missing)}: {_ADVICE[login]}.")
        return cls(login, told)

    @property
    def email(self) -> str:
        """The service account's address, which things are shared with; empty for a person."""
        return str(self._told.get("client_email", ""))

    def fingerprint(self) -> str:
        """Differs between accounts, and tells nothing of the secret."""
        who = self.email or str(self._told.get("refresh_token"))
        return hashlib.sha256(who.encode()).hexdigest()[:16]

    def credentials(self) -> "Credentials":
        """New credentials of this login, which have fetched no access token yet.

        Raises:
            SourceError: The private key can't be read.
        """
        if self.kind is LoginKind.OAUTH:
            return self._of_person()
        from google.oauth2.service_account import Credentials

        try:
            made: Credentials = Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
                self._told, scopes=SCOPES
            )
        except ValueError as error:
            advice = _ADVICE[self.kind]
            raise SourceError(
                f"The service account's private key can't be read: {advice}."
            ) from error
        return made

    def _of_person(self) -> "Credentials":
        from google.oauth2.credentials import Credentials

        made: Credentials = Credentials(  # type: ignore[no-untyped-call]
            None,
            refresh_token=self._told["refresh_token"],
            token_uri=self._told.get("token_uri") or TOKEN_URI,
            client_id=self._told["client_id"],
            client_secret=self._told["client_secret"],
            scopes=SCOPES,
        )
        return made


def _object(secret_json: str) -> dict[str, Any]:
    try:
        told = json.loads(secret_json)
    except (ValueError, RecursionError):  # the text is a secret: no cause, which would quote it
        told = None
    return told if isinstance(told, dict) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
