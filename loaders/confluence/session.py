"""The client library's connection to a site. Import it inside functions: it loads slowly."""

from atlassian.rest_client import AtlassianRestAPI
from requests import Session
from requests.auth import HTTPBasicAuth

from errors import SourceError
from loaders.confluence.login import Login, LoginKind

TIMEOUTS = (10, 60)
"""Seconds for the connection, and between two pieces of an answer."""


def connected(url: str, login: Login) -> AtlassianRestAPI:
    """The library's plain GET, signed in, which neither retries nor waits by itself.

    It is the base of its `Confluence`, which would take another way by the look of the address.

    Raises:
        SourceError: The personal access token can be none.
    """
    if login.kind == LoginKind.TOKEN:
        api = AtlassianRestAPI(url, token=_token(login.secret), retry_with_header=False)
    else:
        api = AtlassianRestAPI(url, retry_with_header=False)
        # Text would be sent as Latin-1, and an error of that shows the password.
        api._session.auth = HTTPBasicAuth(login.user.encode(), login.secret.encode())
    api.timeout = TIMEOUTS  # type: ignore[assignment]  # it is handed on to requests
    return api


def _token(secret: str) -> str:
    if secret.isascii() and secret.isprintable():
        return secret
    raise SourceError(
        "The personal access token holds characters that no token has, such as line breaks: copy it"
        " once more."
    )


def session_of(api: AtlassianRestAPI) -> Session:
    """The session that is signed in, for downloads: the library's own hold all in memory."""
    return api._session
