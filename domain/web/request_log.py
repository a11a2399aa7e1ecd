"""ASGI middleware that gives each request an id and logs it as one line."""

import logging
import re
import time
from collections.abc import Iterable

from domain.logs import elapsed_ms, get_logger, log_context, new_id
from domain.web.host_guard import App, Message, Receive, Send

REQUEST_ID = "X-Request-ID"
_NAME = REQUEST_ID.lower().encode()
_VALID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TOKEN = re.compile(r"(?<=/)[A-Za-z0-9_-]{43}(?=/|$)")  # 256 bits in base64, as in a link

_log = get_logger("web")


class RequestLog:
    """Logs method, `loggable_path`, status, and duration.

    The query is omitted, because it contains search terms.

    A request without a status was aborted before its response.

    The id is that of the request's X-Request-ID header if it is valid, and is returned in the same
    header of the response. The middleware must be outside everything that can respond.
    """

    def __init__(self, app: App, probes: Iterable[str] = (), level: int = logging.INFO) -> None:
        """Wrap an application.

        Args:
            app: The application whose requests are logged.
            probes: Paths of health checks, which are logged at debug.
            level: The log level of all other requests.
        """
        self._app = app
        self._probes = frozenset(probes)
        self._requests_level = level

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it when it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, status = _id_of(scope), None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), (_NAME, request_id.encode())]
                message = {**message, "headers": headers}
            await send(message)

        level = logging.DEBUG if scope["path"] in self._probes else self._requests_level
        began = time.perf_counter()
        with log_context(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_id)
            finally:
                path = loggable_path(scope["path"])
                fields = {"method": scope["method"], "path": path, "status": status}
                _log.log(level, "request", **fields, ms=elapsed_ms(began))


def loggable_path(path: str) -> str:
    """The path of a request, in which "…" replaces each token, because it is a secret."""
    return _TOKEN.sub("…", path)


def _id_of(scope: Message) -> str:
    incoming = next(
        (text.decode("latin-1") for name, text in scope["headers"] if name == _NAME), ""
    )
    return incoming if _VALID.fullmatch(incoming) else new_id()
