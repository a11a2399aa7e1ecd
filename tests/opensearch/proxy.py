"""A TCP proxy before a node: its connections can be cut, silenced, and restored."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.opensearch.home import HOST, free_ports

ANSWER_S = 30
_CHUNK = 2**16


class Proxy:
    """Forwards connections; `restore` undoes `cut` and `silence` for new connections."""

    def __init__(self, url: str) -> None:
        self._target = HOST, urlsplit(url).port
        (self._port,) = free_ports([None])
        self._silent_at: bytes | None = None
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._late: list[tuple[socket.socket, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    def restore(self) -> None:
        self._silent_at = None
        if self._listener is None:
            self._listener = socket.create_server((HOST, self._port))
            threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def cut(self) -> None:
        """Break all connections and refuse new ones."""
        listener, self._listener = self._listener, None
        for one in (listener, *self._open):
            if one is not None:
                _shut_down(one)
        if listener is not None:
            listener.close()

    def silence(self, at: bytes = b"") -> None:
        """Accept requests without forwarding them, from the first one that contains `at` on."""
        self._silent_at = at

    def deliver(self) -> list[bytes]:
        """Send the requests of the silent time late, and return the beginning of each answer."""
        late, self._late = self._late, []
        answers = []
        for server, request in late:
            with server:
                server.settimeout(ANSWER_S)
                server.sendall(request)
                answers.append(server.recv(_CHUNK))
        return answers

    def close(self) -> None:
        self.cut()
        for server, _ in self._late:
            server.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._forward, args=[client], daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            server = socket.create_connection(self._target)
            self._open |= {client, server}
            try:
                kept = self._exchange(client, server)
            finally:
                self._open -= {client, server}
            if kept:
                self._late.append((server, kept))
            else:
                server.close()

    def _exchange(self, client: socket.socket, server: socket.socket) -> bytes:
        """Forward both ways until one side closes, and return what must not be forwarded."""
        kept = b""
        while True:
            for one in select.select([client, server], [], [])[0]:
                data = one.recv(_CHUNK)
                if not data:
                    return kept
                if one is server:
                    client.sendall(data)
                elif kept or self._is_silent(data):
                    kept += data
                else:
                    server.sendall(data)

    def _is_silent(self, data: bytes) -> bool:
        if self._silent_at is None or self._silent_at not in data:
            return False
        self._silent_at = b""
        return True


def _shut_down(one: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        one.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(url: str) -> Iterator[Proxy]:
    """A proxy before the node at this URL, until the end of the block."""
    proxy = Proxy(url)
    proxy.restore()
    try:
        yield proxy
    finally:
        proxy.close()
