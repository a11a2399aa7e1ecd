"""A proxy before an S3 server that lets chosen requests fail, and records all of them."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from tests.s3.server import Server


class Fault(StrEnum):
    """How a request fails."""

    SLOW_DOWN = "503 SlowDown"
    HANGS = "no answer"
    TRUNCATED = "half of the body"


class Request(NamedTuple):
    """A request that has arrived."""

    method: str
    path: str


_SLOW_DOWN = (
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)


class Proxy(ThreadingHTTPServer):
    """Forwards requests; the next ones fail with `faults`, in order, unless it is None."""

    daemon_threads = True

    def __init__(self, target: Server):
        self.target = target
        self.faults: list[Fault | None] = []
        self.requests: list[Request] = []
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def server(self) -> Server:
        """The address and settings of the server behind this proxy."""
        return self.target.at(self.server_address[1])

    def methods(self) -> list[str]:
        """The methods of the requests since the last call."""
        methods = [request.method for request in self.requests]
        self.requests.clear()
        return methods

    def handle_error(self, request, client_address):  # the client has closed the connection
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _handle(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(Request(self.command, self.path))
        fault = self.server.faults.pop(0) if self.server.faults else None
        if fault is Fault.HANGS:
            self.server.released.wait(30)
            self.close_connection = True
        elif fault is Fault.SLOW_DOWN:
            self._reply(503, [("Content-Length", str(len(_SLOW_DOWN)))], _SLOW_DOWN)
        else:
            self._forward(data, is_truncated=fault is Fault.TRUNCATED)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = _handle

    def _forward(self, data, *, is_truncated):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target.port, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name != "Connection"}
        connection.request(self.command, self.path, data, headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if is_truncated:
            body, self.close_connection = body[: len(body) // 2], True
        self._reply(response.status, response.getheaders(), body)

    def _reply(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextmanager
def proxy(target: Server) -> Iterator[Proxy]:
    """A proxy before this server."""
    with Proxy(target) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield running
        finally:
            running.released.set()
            running.shutdown()
