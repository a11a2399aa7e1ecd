"""The HTTP session for a Confluence site: only permitted addresses, and a log of each request.

Importing this module is slow.
"""

from socket import socket
from typing import Any
from urllib.parse import urljoin, urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.utils import select_proxy
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from domain.errors import SourceError
from domain.logs import outgoing_request
from domain.messages import _
from domain.web.address_guard import AddressGuard
from loaders.confluence.confluence_login import is_cloud_host


class GuardedSession(Session):
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


class GuardedAdapter(HTTPAdapter):
    """Connects only to addresses that the guard permits, when a connection is opened.

    A name may get another address between a check and the connection, so the connection is made
    to the checked address. A proxy looks up names itself; only addresses are checked then.
    """

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Create the pools of guarded connections."""
        super().init_poolmanager(*arguments, **options)
        _guard_connections(self.poolmanager, self._guard)

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        """Send the request.

        Raises:
            ForbiddenAddressError: The guard permits no address of the host.
            ConnectionError: The host can't be looked up or reached now.
        """
        if select_proxy(request.url or "", options.get("proxies")):
            url = parse_url(request.url or "")
            port = url.port or (80 if url.scheme == "http" else 443)
            self._guard.check_literal((url.host or "").strip("[]"), port)
        return super().send(request, *arguments, **options)


def _guard_connections(manager: PoolManager, guard: AddressGuard) -> None:
    class Plain(_Guarded, HTTPConnection):
        address_guard = guard

    class Encrypted(_Guarded, HTTPSConnection):
        address_guard = guard

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    manager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}


class _Guarded:
    """Opens a connection to the permitted addresses of its host, one after another."""

    address_guard: AddressGuard
    host: str
    port: int
    _dns_host: str

    def _new_conn(self) -> socket:
        *others, last = self.address_guard.addresses(self.host.strip("[]"), self.port)
        for address in others:
            try:
                return self._connection_to(address)
            except HTTPError:
                continue
        return self._connection_to(last)

    def _connection_to(self, address: str) -> socket:
        name = self._dns_host
        self._dns_host = address  # only for the connection: TLS checks the name
        try:
            connection: socket = super()._new_conn()  # type: ignore[misc]  # of urllib3
        finally:
            self._dns_host = name
        return connection
