"""A loopback proxy that records the requests to a chat model's server and its responses."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.fakes.server_thread import serving_in_thread

WAIT_S = 300


@dataclass
class Exchange:
    """A request and its response so far; `disconnected` is set if the client disconnected early."""

    request: dict
    status: int = 0
    received: bytes = b""
    disconnected: bool = False
    finished: threading.Event = field(default_factory=threading.Event)

    def pieces(self) -> list[dict]:
        """The JSON values of a streamed or whole response."""
        lines = self.received.decode("utf-8", "replace").splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith(("data: {", "{"))]
        return [json.loads(one) for one in data if one.endswith("}")]

    def usage(self) -> dict[str, int]:
        """Token counts reported by the server, by their OpenAI names."""
        reported = [one["usage"] for one in self.pieces() if one.get("usage")]
        return reported[-1] if reported else {}

    def finish_reason(self) -> str | None:
        """The finish reason; None if the model did not finish."""
        choices = [choice for one in self.pieces() for choice in one.get("choices") or ()]
        return next((one["finish_reason"] for one in choices if one.get("finish_reason")), None)


@dataclass
class Recorder:
    """A proxy: its base URL, and the exchanges in order."""

    url: str
    exchanges: list[Exchange] = field(default_factory=list)


@contextmanager
def recording(url: str) -> Iterator[Recorder]:
    """Run a proxy in front of the base URL until the end of the block."""
    target = urlsplit(url)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._forward(b"", Exchange({}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            exchange = Exchange(json.loads(body))
            recorder.exchanges.append(exchange)
            self._forward(body, exchange)

        def _forward(self, body: bytes, exchange: Exchange) -> None:
            connection = http.client.HTTPConnection(target.netloc, timeout=WAIT_S)
            try:
                headers = {"Content-Type": "application/json"}
                connection.request(self.command, self.path, body, headers)
                self._send(connection.getresponse(), exchange)
            except OSError:  # the client has left: disconnecting ends the server's work
                exchange.disconnected = True
            finally:
                connection.close()
                exchange.finished.set()

        def _send(self, response: http.client.HTTPResponse, exchange: Exchange) -> None:
            exchange.status = response.status
            self.send_response(response.status)
            self.send_header("Content-Type", response.headers["Content-Type"])
            self.send_header("Connection", "close")
            self.end_headers()
            while data := response.read1(65536):
                exchange.received += data
                self.wfile.write(data)
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder = Recorder(f"http://127.0.0.1:{proxy.server_port}{target.path}")
    with serving_in_thread(proxy):
        yield recorder
