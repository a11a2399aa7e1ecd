"""Which Confluence site is meant, and as whom it is asked."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from errors import SourceError

_CLOUD_HOSTS = (".atlassian.net", ".jira.com")
_GATEWAY = re.compile(r"/ex/confluence/[^/]+")  # of scoped tokens, at api.atlassian.com
# What follows the address of a site when somebody copies it from the address bar.
_INSIDE = re.compile(
    r"/(?:display|pages|spaces|rest|x|home|dashboard|login|label|labels|plugins|admin|people"
    r"|users|user|collector|spacedirectory|overview|download|[^/]+\.(?:action|jsp))(?=/|$)"
)
_WITHOUT_SCHEME = re.compile(r"^(?![a-z][a-z0-9+.-]*://)", re.IGNORECASE)


class LoginKind(StrEnum):
    """How one signs in: Cloud's e-mail and API token, a personal access token, a password."""

    CLOUD = "cloud"
    TOKEN = "token"  # noqa: S105  # a name
    BASIC = "basic"


@dataclass(frozen=True, slots=True)
class Login:
    """Who asks. `user` is the e-mail address on Cloud, and empty with a personal access token."""

    kind: LoginKind
    user: str
    secret: str = field(repr=False)


def site_url(text: str) -> str:
    """The address that all of a site's paths are below, from what a person pasted.

    Cloud's ends in `/wiki`; a context path is kept; the parts of a page's own address, a query
    and credentials are dropped; https where no scheme is given.

    Raises:
        SourceError: It is no address.
    """
    told = text.strip()
    try:
        parts = urlsplit(_WITHOUT_SCHEME.sub("https://", told.lstrip("/"), count=1))
        host, port = (parts.hostname or "").rstrip("."), parts.port
        host.encode("idna")  # refuses an empty label and one over 63 characters (RFC 1035)
    except ValueError as error:
        raise SourceError(_no_address(told)) from error
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", host):
        raise SourceError(_no_address(told))
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{'' if port is None else f':{port}'}{_root(host, parts.path)}"


def is_gateway(url: str) -> bool:
    """Whether it is the address for scoped tokens, which only programs open."""
    return _GATEWAY.match(urlsplit(url).path) is not None


def _root(host: str, path: str) -> str:
    if host.endswith(_CLOUD_HOSTS):
        return "/wiki"
    if gateway := _GATEWAY.match(path):
        return f"{gateway[0]}/wiki"
    inside = _INSIDE.search(path)
    return (path if inside is None else path[: inside.start()]).rstrip("/")


def _no_address(told: str) -> str:
    return (
        f"{told!r} is no address of a Confluence site: it looks like"
        " https://company.atlassian.net/wiki or https://confluence.company.com."
    )
