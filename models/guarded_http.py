"""Limits the connections of HTTP clients of models to permitted addresses."""

import asyncio
from typing import Any

import httpcore2
from httpx2 import AsyncHTTPTransport, HTTPTransport

from domain.web.address_guard import AddressGuard


def guard_connections(transport: object, guard: AddressGuard | None) -> None:
    """Let the transport connect only to addresses that the guard permits; None permits all.

    The connection is made to the checked address, because a name may have another one later. TLS
    still checks the name.
    """
    # httpx2 has no option for the backend of its pool.
    if guard is not None and isinstance(transport, HTTPTransport):
        pool = transport._pool
        pool._network_backend = _GuardedBackend(guard, pool._network_backend)
    elif guard is not None and isinstance(transport, AsyncHTTPTransport):
        async_pool = transport._pool
        async_pool._network_backend = _GuardedAsyncBackend(guard, async_pool._network_backend)


class _GuardedBackend(httpcore2.NetworkBackend):
    """Opens connections to the permitted addresses of a host, one after another."""

    def __init__(self, guard: AddressGuard, backend: httpcore2.NetworkBackend) -> None:
        self._guard = guard
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, *arguments: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        """Connect; raises ForbiddenAddressError if no address of the host is permitted."""
        *others, last = self._guard.addresses(host, port)
        for address in others:
            try:
                return self._backend.connect_tcp(address, port, *arguments, **options)
            except (httpcore2.NetworkError, httpcore2.TimeoutException):
                continue
        return self._backend.connect_tcp(last, port, *arguments, **options)


class _GuardedAsyncBackend(httpcore2.AsyncNetworkBackend):
    """The same for asynchronous clients."""

    def __init__(self, guard: AddressGuard, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._guard = guard
        self._backend = backend

    async def connect_tcp(
        self, host: str, port: int, *arguments: Any, **options: Any
    ) -> httpcore2.AsyncNetworkStream:
        """Connect; raises ForbiddenAddressError if no address of the host is permitted."""
        # Looking up a name blocks.
        *others, last = await asyncio.to_thread(self._guard.addresses, host, port)
        for address in others:
            try:
                return await self._backend.connect_tcp(address, port, *arguments, **options)
            except (httpcore2.NetworkError, httpcore2.TimeoutException):
                continue
        return await self._backend.connect_tcp(last, port, *arguments, **options)

    async def sleep(self, seconds: float) -> None:
        """Sleep as the backend does."""
        await self._backend.sleep(seconds)
