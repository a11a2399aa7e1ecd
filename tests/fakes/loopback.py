"""An HTTP server on loopback for fakes: logs requests, injects faults, can be unplugged."""

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.fakes.faults import Fault, Faults, no_faults

POLL = 0.02
LOOPBACK_SOURCES = {"FOOTNOTE_ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
"""The environment that lets sources be read from fakes."""
LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>Log in</body></html>"
FAULTY_STATUS = {
    Fault.TOO_MANY: 429,
    Fault.TOO_MANY_RETRY_AFTER: 429,
    Fault.FAILED: 500,
    Fault.UNAVAILABLE: 503,
    Fault.REFUSED: 400,
}


@dataclass(frozen=True)
class Request:
    """A request; `path` is decoded, and header names are in lower case."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoggedRequest:
    """A request in the log; `status` is the HTTP status, or the injected fault."""

    method: str
    path: str
    params: dict[str, str]
    status: int | Fault


class RefusedError(Exception):
    """A request outside the protocol; the message gives the reason."""


def json_answer(status: int, value: Any, **headers: str) -> Answer:
    return Answer(status, json.dumps(value).encode(), headers=headers)


class Loopback:
    """Base of the fakes: subclasses `answer`; this class logs, injects faults, and sends.

    Serves from `start` to `close`, or inside a `with` block, always on the same port.
    """

    def __init__(self) -> None:
        self.faults: Faults = no_faults()
        self.requests: list[LoggedRequest] = []
        self.refused: list[str] = []
        self.lock = threading.RLock()
        self.unplug_after: int | None = None
        """The network fails after this many more requests, in the middle of the next."""
        self._http: _Http | None = None
        self._port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def answer(self, request: Request) -> Answer:
        """The response, computed by one thread at a time; RefusedError becomes a 400."""
        raise NotImplementedError

    def refusal(self, message: str) -> Any:
        """The body of the 400 that names the refused part."""
        return {"statusCode": 400, "message": message}

    def fault_answer(self, fault: Fault, request: Request) -> Answer | None:
        """The response that replaces the regular one; None for faults that corrupt it."""
        if fault is Fault.LOGIN_PAGE:
            return Answer(200, LOGIN_PAGE, "text/html; charset=utf-8")
        if fault not in FAULTY_STATUS:
            return None
        has_header = fault is Fault.TOO_MANY_RETRY_AFTER
        headers = {"Retry-After": str(self.faults.retry_after)} if has_header else {}
        status = FAULTY_STATUS[fault]
        return json_answer(status, {"statusCode": status, "message": str(fault)}, **headers)

    def __enter__(self):
        self.plug()
        return self

    def __exit__(self, *exception: object) -> None:
        self.unplug()

    def plug(self) -> None:
        """Serve, or serve again, on the same port."""
        if self._http is None:
            self._http = _Http(("127.0.0.1", self._port), self)
            self._port = self._http.server_address[1]

    def unplug(self) -> None:
        """Take the network away: cut connections and refuse new ones."""
        http, self._http = self._http, None
        if http is not None:
            http.end()

    def counts(self) -> Counter[str]:
        """Number of requests by path."""
        return Counter(request.path for request in self.requests)

    def answer_or_refuse(self, request: Request) -> Answer:
        """The response, or a 400 that is recorded in `refused`."""
        with self.lock:
            try:
                return self.answer(request)
            except RefusedError as error:
                self.refused.append(f"{request.method} {request.path}: {error}")
                return json_answer(400, self.refusal(str(error)))

    def is_network_down(self) -> bool:
        """Whether the network fails before this request is answered."""
        with self.lock:
            if self.unplug_after is None:
                return self._http is None
            self.unplug_after -= 1
            if self.unplug_after >= 0:
                return False
            self.unplug_after = None
        self.unplug()
        return True


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, fake: Loopback):
        super().__init__(address, _Handler)
        self.fake = fake
        self.open: set[socket.socket] = set()
        threading.Thread(target=self.serve_forever, args=(POLL,), daemon=True).start()

    def process_request(self, request, client_address):
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """Print nothing: clients may disconnect, and the network can be unplugged."""

    def end(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in list(self.open):
            _disconnect(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Http

    def log_message(self, format, *args):
        """The log is `Loopback.requests`."""

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        address = urlsplit(self.path)
        request = Request(
            self.command,
            unquote(address.path),
            dict(parse_qsl(address.query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(length),
        )
        if self.server.fake.is_network_down():
            _disconnect(self.connection)
            self.close_connection = True
            return
        self._reply(request)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

    def _reply(self, request: Request) -> None:
        fake = self.server.fake
        fault = fake.faults.draw(f"{request.method} {self.path}")
        is_faulty = fault is not None and fault is not Fault.SLOW
        fault_answer = fake.fault_answer(fault, request) if is_faulty else None
        answer = fault_answer or fake.answer_or_refuse(request)
        status = fault if is_faulty else answer.status
        fake.requests.append(LoggedRequest(request.method, request.path, request.params, status))
        if fault is Fault.SLOW:
            time.sleep(fake.faults.slow_seconds)
        if is_faulty and fault_answer is None:
            self._corrupt(fault, answer)
        else:
            self._send(answer)

    def _corrupt(self, fault: Fault, answer: Answer) -> None:
        is_json = answer.type.startswith("application/json")
        if fault is Fault.CLOSED:
            self.close_connection = True
        elif fault is Fault.BROKEN_JSON and is_json:
            self._send(replace(answer, body=answer.body[: len(answer.body) // 2]))
        else:  # half a file with a matching Content-Length would look like a whole file
            self._send(answer, sent=len(answer.body) // 2)

    def _send(self, answer: Answer, sent: int | None = None) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[:sent])
        self.wfile.flush()
        self.close_connection = self.close_connection or sent is not None


def _disconnect(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the client may have disconnected
        connection.shutdown(socket.SHUT_RDWR)
