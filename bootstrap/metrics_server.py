"""Serves the metrics of a process that has no API, on a loopback port of its own."""

import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bootstrap.server_metrics import REGISTRY, collect_metrics
from domain.logs import get_logger
from domain.web.host_policy import HostPolicy

_ADDRESS = "127.0.0.1"
_PATH = "/metrics"
_log = get_logger("processes")

StartResponse = Callable[[str, list[tuple[str, str]]], object]


def serve_metrics(role: str, port: int, setting: str) -> None:
    """Count what this process does, and serve the counts from now on.

    If the port is not available, a warning is logged, and the process runs without metrics.

    Args:
        role: What the process is: `pages` or `worker`.
        port: The port on the loopback address.
        setting: The variable that sets the port.
    """
    try:
        server = make_server(_ADDRESS, port, _answer, _Server, _Handler)
    except OSError as error:
        _log.warning(  # in the message, because logs may not be configured yet
            "The metrics of the %s are not served, because port %s is not available (%s): set"
            " another one in %s",
            role,
            port,
            error.strerror or error,
            setting,
        )
        return
    collect_metrics(role)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds of silence; otherwise, an idle connection would keep its thread

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: Prometheus asks every few seconds."""


def _answer(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Answer requests for a loopback name, as all servers of Footnote do (`HostPolicy`)."""
    hosts, origins = ([environ[key]] if key in environ else [] for key in _HEADERS)
    if refusal := HostPolicy().refusal(hosts, origins):
        return _text(start_response, f"{refusal.status} Refused", refusal.reason)
    if environ["PATH_INFO"] != _PATH:
        return _text(start_response, "404 Not Found", f"Metrics are at {_PATH}.")
    if environ["REQUEST_METHOD"] != "GET":
        return _text(start_response, "405 Method Not Allowed", "Use GET.")
    start_response("200 OK", [("Content-Type", CONTENT_TYPE_LATEST)])
    return [generate_latest(REGISTRY)]


_HEADERS = ("HTTP_HOST", "HTTP_ORIGIN")


def _text(start_response: StartResponse, status: str, text: str) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{text}\n".encode()]
