"""The address of a Confluence site, the login, and the signed-in session."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.errors import SourceError
from domain.logs import hide_secrets
from domain.messages import _
from domain.web.address_guard import AddressGuard

if TYPE_CHECKING:  # slow
    from atlassian.rest_client import AtlassianRestAPI

_CLOUD_HOSTS = (".atlassian.net", ".jira.com")
_CLOUD_SERVERS = (*_CLOUD_HOSTS, ".atlassian.com")  # also the gateway and the server of files
_GATEWAY = re.compile(r"/ex/confluence/[^/]+")  # for scoped tokens, at api.atlassian.com
# The part after a site's address in an address copied from the browser.
_INSIDE = re.compile(
    r"/(?:display|pages|spaces|rest|x|home|dashboard|login|label|labels|plugins|admin|people"
    r"|users|user|collector|spacedirectory|overview|download|[^/]+\.(?:action|jsp))(?=/|$)"
)
_WITHOUT_SCHEME = re.compile(r"^(?![a-z][a-z0-9+.-]*://)", re.IGNORECASE)


class LoginKind(StrEnum):
    """How to sign in: email and API token (Cloud), personal access token, or password."""

    CLOUD = "cloud"
    TOKEN = "token"  # noqa: S105  # not a secret
    BASIC = "basic"


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials; `user` is the email address on Cloud, and empty for a personal access token."""

    kind: LoginKind
    user: str
    secret: str = field(repr=False)


def site_url(text: str) -> str:
    """The base address of a site, from any address of it that a user pasted.

    Cloud addresses end with `/wiki`. A context path is kept; page paths, queries, and credentials
    are removed. The default scheme is https.

    Raises:
        SourceError: The address is invalid.
    """
    address = text.strip()
    try:
        parts = urlsplit(_WITHOUT_SCHEME.sub("https://", address.lstrip("/"), count=1))
        host, port = (parts.hostname or "").rstrip("."), parts.port
        host.encode("idna")  # rejects labels that are empty or longer than 63 characters (RFC 1035)
    except ValueError as error:
        raise SourceError(_no_address(address)) from error
    root = _root(host, parts.path)
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", host + root):
        raise SourceError(_no_address(address))
    literal = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{literal}{'' if port is None else f':{port}'}{root}"


def is_cloud_host(host: str) -> bool:
    """Whether the host is one of the servers of Confluence Cloud."""
    return host.endswith(_CLOUD_SERVERS)


def is_gateway(url: str) -> bool:
    """Whether it is the API gateway for scoped tokens, which browsers can't open."""
    return _GATEWAY.match(urlsplit(url).path) is not None


def _root(host: str, path: str) -> str:
    if host.endswith(_CLOUD_HOSTS):
        return "/wiki"
    if gateway := _GATEWAY.match(path):
        return f"{gateway[0]}/wiki"
    inside = _INSIDE.search(path)
    return (path if inside is None else path[: inside.start()]).rstrip("/")


def _no_address(address: str) -> str:
    return _(
        "{address} is not the address of a Confluence site, such as"
        " https://company.atlassian.net/wiki or https://confluence.company.com."
    ).format(address=repr(address))


TIMEOUTS = (10, 60)
"""Seconds to connect, and between two pieces of a response."""


def rest_client(url: str, login: Login, guard: AddressGuard) -> "AtlassianRestAPI":
    """The library's basic REST client, signed in, which never retries or waits on its own.

    It connects only to addresses that the guard permits.

    Its subclass `Confluence` is not used, because it acts differently depending on the address.

    Raises:
        SourceError: The personal access token is invalid.
    """
    from atlassian.rest_client import AtlassianRestAPI
    from requests.auth import HTTPBasicAuth

    from loaders.confluence.guarded_session import GuardedSession

    hide_secrets([login.secret])
    session = GuardedSession(guard)
    if login.kind == LoginKind.TOKEN:
        token = _token(login.secret)
        api = AtlassianRestAPI(url, token=token, retry_with_header=False, session=session)
    else:
        api = AtlassianRestAPI(url, retry_with_header=False, session=session)
        # Strings would be encoded as Latin-1, and the resulting error would show the password.
        api._session.auth = HTTPBasicAuth(login.user.encode(), login.secret.encode())
    api.timeout = TIMEOUTS  # type: ignore[assignment]  # passed on to requests
    return api


def _token(secret: str) -> str:
    if secret.isascii() and secret.isprintable():
        return secret
    raise SourceError(
        _(
            "The personal access token contains invalid characters, such as line breaks: copy"
            " it again."
        )
    )
