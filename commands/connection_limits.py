"""Limits on connections, which uvicorn lacks: how many there are, and how long they may be silent.

uvicorn closes a connection that stays silent after a response, but not one that never sends a
complete request, and its `limit_concurrency` counts such connections against everybody. Importing
this module is slow.
"""

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, cast

from domain.logs import get_logger

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as AutoHTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_S = 10.0
"""Seconds in which the head of a request must be complete."""
SILENT_BODY_S = 30.0
"""Seconds without any data of a body that is not complete."""
BODY_BYTES_PER_S = 1024
"""The speed that a body must reach on average after its first `SILENT_BODY_S` seconds."""
MAX_HEAD_BYTES = 1024 * 1024
"""Enough for the API itself to answer requests with long query strings."""
_WARNING_S = 60.0
"""Seconds between warnings about refused connections, which are many when there are any."""

_log = get_logger("web")


class OpenConnections:
    """The connections of one server, with a maximum in total and for each address.

    When a maximum is reached, a new connection replaces the one that has waited longest without a
    request. If all of them have one, the new connection is closed.
    """

    def __init__(self, maximum: int, maximum_per_address: int) -> None:
        self._maximum = maximum
        self._maximum_per_address = maximum_per_address
        self._addresses: dict[LimitedProtocol, str] = {}
        self._waiting: dict[LimitedProtocol, None] = {}
        self._by_address = Counter[str]()
        self._next_warning = 0.0

    def admit(self, connection: "LimitedProtocol", address: str) -> bool:
        """Count a new connection, unless there is no room for it."""
        if not self._has_room(address):
            self._warn(address)
            return False
        self._addresses[connection] = address
        self._by_address[address] += 1
        self._waiting[connection] = None
        return True

    def begin_request(self, connection: "LimitedProtocol") -> None:
        """Protect the connection while it has a request."""
        self._waiting.pop(connection, None)

    def end_request(self, connection: "LimitedProtocol") -> None:
        """Let the connection wait for its next request."""
        if connection in self._addresses:
            self._waiting[connection] = None

    def remove(self, connection: "LimitedProtocol") -> None:
        """Stop counting the connection; does nothing if it is not counted."""
        self._waiting.pop(connection, None)
        address = self._addresses.pop(connection, None)
        if address is not None:
            self._by_address -= Counter((address,))

    def _has_room(self, address: str) -> bool:
        if self._by_address[address] >= self._maximum_per_address:
            return self._close_waiting(address)
        return len(self._addresses) < self._maximum or self._close_waiting()

    def _warn(self, address: str) -> None:
        now = time.monotonic()
        if now >= self._next_warning:
            self._next_warning = now + _WARNING_S
            _log.warning("connections refused: too many are open", address=address)

    def _close_waiting(self, address: str | None = None) -> bool:
        for one in self._waiting:
            if address is None or self._addresses[one] == address:
                self.remove(one)
                one.transport.abort()
                return True
        return False


class LimitedProtocol(AutoHTTPProtocol):
    """uvicorn's protocol with deadlines for the head and the body of a request."""

    open_connections: ClassVar[OpenConnections]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._body_began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the connection, and wait for its first request."""
        super().connection_made(cast("asyncio.Transport", transport))
        if not self.open_connections.admit(self, self.client[0] if self.client else ""):
            self.transport.abort()
            return
        self._close_in(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on the data, and set the deadline for what is missing."""
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        self._limit_head(len(data))
        if not self._has_request:
            if self._deadline is None:
                self._close_in(HEAD_S)
        elif self.cycle.more_body:
            self._limit_body(len(data))
        else:
            self._begin_request()
            self._close_in(None)

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of a body that nobody reads."""
        super().on_response_complete()
        self._body_bytes = 0
        if not self._has_request:
            self.open_connections.end_request(self)
            self._close_in(HEAD_S if self.cycle.more_body else None)

    def handle_websocket_upgrade(self, *arguments: Any) -> None:
        """Leave the connection to the protocol of WebSockets, which sends pings."""
        self._forget()
        super().handle_websocket_upgrade(*arguments)

    @property
    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _begin_request(self) -> None:
        self.open_connections.begin_request(self)

    def _limit_head(self, size: int) -> None:
        is_in_head = self.cycle is None or self.scope is not self.cycle.scope
        self._head_bytes = self._head_bytes + size if is_in_head else 0
        if self._head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def _limit_body(self, size: int) -> None:
        """Extend the deadline by the time that the data of the body may have taken."""
        self._begin_request()
        now = self.loop.time()
        self._body_began = self._body_began if self._body_bytes else now
        self._body_bytes += size
        credit = SILENT_BODY_S + self._body_bytes / BODY_BYTES_PER_S
        self._close_in(min(SILENT_BODY_S, self._body_began + credit - now))

    def _close_in(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._close)

    def _close(self) -> None:
        if self._has_request and self.flow.read_paused:  # the server is slow, not the client
            self._close_in(SILENT_BODY_S)
            return
        self.transport.abort()

    def _forget(self) -> None:
        self.open_connections.remove(self)
        self._close_in(None)


def limited_protocol(maximum: int, maximum_per_address: int) -> type[LimitedProtocol]:
    """The protocol for one server, which has its own connections."""

    class _Protocol(LimitedProtocol):
        open_connections = OpenConnections(maximum, maximum_per_address)

    return _Protocol
