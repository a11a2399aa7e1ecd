"""A proxy on loopback that writes down what goes to a chat model's server and what comes back."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

WAIT_S = 300


@dataclass
class Exchange:
    """A request and its response so far; `left` is set when the client left before its end."""

    asked: dict
    status: int = 0
    received: bytes = b""
    left: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def pieces(self) -> list[dict]:
        """The JSON values of the response, of a stream or whole."""
        lines = self.received.decode("utf-8", "replace").splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith(("data: {", "{"))]
        return [json.loads(one) for one in data if one.endswith("}")]

    def usage(self) -> dict[str, int]:
        """The tokens that the server reports, by the names of OpenAI's protocol."""
        reported = [one["usage"] for one in self.pieces() if one.get("usage")]
        return reported[-1] if reported else {}

    def finish_reason(self) -> str | None:
        """Why the model ended, None where it did not."""
        choices = [choice for one in self.pieces() for choice in one.get("choices") or ()]
        return next((one["finish_reason"] for one in choices if one.get("finish_reason")), None)


@dataclass
class Recorder:
    """The proxy: its base URL, and the exchanges in their order."""

    url: str
    exchanges: list[Exchange] = field(default_factory=list)


@contextmanager
def recording(url: str) -> Iterator[Recorder]:
    """A proxy of the server at that base URL until the end of the block."""
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
            except OSError:  # the client has gone: leaving the server ends its work
                exchange.left = True
            finally:
                connection.close()
                exchange.ended.set()

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
            """The test tells what matters."""

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder = Recorder(f"http://127.0.0.1:{proxy.server_port}{target.path}")
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join(WAIT_S)
