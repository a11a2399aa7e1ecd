"""Limits the connections of HTTP clients of models to permitted addresses."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import httpcore2
from httpx2 import Client, HTTPTransport, Request

from domain.web.address_guard import AddressGuard

_FIRST_S = 3.0
"""The time limit in seconds for each address of a name but the last."""


def guard_connections(client: Client, guard: AddressGuard | None) -> None:
    """Let the client connect only to addresses that the guard permits; None permits all.

    The connection is made to the checked address, because a name may have another one later. TLS
    still checks the name. A proxy looks up names itself; only addresses are checked then.
    """
    if guard is None:
        return
    # httpx2 has no option for the backend of its pool.
    transport = client._transport
    if isinstance(transport, HTTPTransport):
        client.event_hooks["request"].append(partial(_check, guard))
        pool = transport._pool
        pool._network_backend = _GuardedBackend(guard, pool._network_backend)


def _check(guard: AddressGuard, request: Request) -> None:
    """Check a host that is an address, before each request and each redirect."""
    url = request.url
    guard.check_literal(url.host, url.port or (80 if url.scheme == "http" else 443))


def _addresses(guard: AddressGuard, host: str, port: int) -> Sequence[str]:
    try:
        return guard.addresses(host, port)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error


class _GuardedBackend(httpcore2.NetworkBackend):
    """Tries the permitted addresses of a host, with little time for each but the last."""

    def __init__(self, guard: AddressGuard, backend: httpcore2.NetworkBackend) -> None:
        self._guard = guard
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *arguments: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        """Connect; raises ForbiddenAddressError if no address of the host is permitted."""
        *others, last = _addresses(self._guard, host, port)
        first_s = _FIRST_S if timeout is None else min(timeout, _FIRST_S)
        for address in others:
            try:
                return self._backend.connect_tcp(address, port, first_s, *arguments, **options)
            except (httpcore2.NetworkError, httpcore2.TimeoutException):
                continue
        return self._backend.connect_tcp(last, port, timeout, *arguments, **options)
