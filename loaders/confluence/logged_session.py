"""The HTTP session for a Confluence site, which logs each request; importing it is slow."""

from typing import Any
from urllib.parse import urljoin, urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter

from domain.errors import SourceError
from domain.logs import outgoing_request
from domain.messages import _
from domain.web.address_guard import AddressGuard
from loaders.confluence.confluence_login import is_cloud_host
from loaders.guarded_adapter import GuardedAdapter


class LoggedSession(Session):
    """Logs each request, including every step of a redirect, and stays on the site."""

    def __init__(self, guard: AddressGuard) -> None:
        super().__init__()
        self._adapter = GuardedAdapter(guard)

    def get_adapter(self, url: str) -> BaseAdapter:  # noqa: ARG002  # the signature of requests
        """The adapter for every address, regardless of what a library mounts."""
        return self._adapter

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Send and log the request.

        Raises:
            ForbiddenAddressError: The guard permits no address of the host.
            SourceError: The response redirects to another server.
        """
        with outgoing_request(request.method or "", request.url or "") as sent:
            response = super().send(request, **options)
            sent.status = response.status_code
        return response

    def get_redirect_target(self, response: Response) -> str | None:
        """The address to which the response redirects, if it does.

        Raises:
            SourceError: It is on another server. The servers of Confluence Cloud are one.
        """
        target = super().get_redirect_target(response)
        if target is None or _is_same_server(response.url, urljoin(response.url, target)):
            return target
        raise SourceError(
            _(
                "{url} redirects to another server, which is not followed: enter the address to"
                " which it leads."
            ).format(url=response.url)
        )


def _is_same_server(url: str, target: str) -> bool:
    old, new = urlsplit(url), urlsplit(target)
    if old.hostname and is_cloud_host(old.hostname) and is_cloud_host(new.hostname or ""):
        return new.scheme == "https"
    if old.hostname != new.hostname:
        return False
    return old.port == new.port or (old.port, new.scheme, new.port) == (None, "https", None)
