"""The client library's connection to a site. Import it inside functions: it loads slowly."""

from atlassian.rest_client import AtlassianRestAPI
from requests import Session

from loaders.confluence.login import Login, LoginKind

TIMEOUTS = (10, 60)
"""Seconds for the connection, and between two pieces of an answer."""


def connected(url: str, login: Login) -> AtlassianRestAPI:
    """The library's plain GET, signed in, which neither retries nor waits by itself.

    It is the base of its `Confluence`, which would take another way by the look of the address.
    """
    if login.kind == LoginKind.TOKEN:
        api = AtlassianRestAPI(url, token=login.secret, retry_with_header=False)
    else:
        api = AtlassianRestAPI(
            url, username=login.user, password=login.secret, retry_with_header=False
        )
    api.timeout = TIMEOUTS  # type: ignore[assignment]  # it is handed on to requests
    return api


def session_of(api: AtlassianRestAPI) -> Session:
    """The session that is signed in, for downloads: the library's own hold all in memory."""
    return api._session
