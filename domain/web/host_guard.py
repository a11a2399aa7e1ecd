"""ASGI middleware that rejects unknown hosts and origins and adds security headers."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from domain.logs import get_logger
from domain.web.host_policy import HostPolicy, Refusal

_log = get_logger("web")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""An ASGI application."""

Respond = Callable[[Refusal, Message, Receive, Send], Awaitable[None]]
"""Sends the response to a rejected HTTP request."""

SAFE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers for every response of every server."""

DATA_HEADERS: Mapping[str, str] = {
    **SAFE_HEADERS,
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Headers for servers whose responses are data, not pages."""


class HostGuard:
    """Passes on a request or a WebSocket only if the policy allows its host and origin.

    It must be outside everything that can respond. A WebSocket is rejected with status 403 before
    it is accepted.
    """

    def __init__(
        self,
        app: App,
        policy: HostPolicy,
        headers: Mapping[str, str],
        probes: Iterable[str] = (),
        respond: Respond | None = None,
    ) -> None:
        """Guard an application.

        Args:
            app: The application to guard.
            policy: Decides which hosts and origins are allowed.
            headers: Headers to add to each response that does not contain them.
            probes: Paths of health checks, which reveal nothing else.
            respond: Sends the response to rejected requests; plain text by default.
        """
        self._app = app
        self._policy = policy
        self._headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
        self._probes = frozenset(probes)
        self._respond = respond or respond_in_plain_text
        self._logged: set[Refusal] = set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on or reject it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, self._with_headers(send))
            return
        self._report(refusal)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # the server turns it into a 403
        else:
            await self._respond(refusal, scope, receive, self._with_headers(send))

    def _refusal(self, scope: Message) -> Refusal | None:
        hosts, origins = [], []
        for name, text in scope["headers"]:
            if name == b"host":
                hosts.append(text.decode("latin-1"))
            elif name == b"origin":
                origins.append(text.decode("latin-1"))
        return self._policy.refusal(hosts, origins, from_probe=scope["path"] in self._probes)

    def _report(self, refusal: Refusal) -> None:
        # Logged, because a browser shows no reason for a rejected WebSocket; but only once, because
        # a web page could fill the log.
        if refusal not in self._logged:
            self._logged.add(refusal)
            _log.warning("A request was refused: %s", refusal.reason)

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}
                more = [header for header in self._headers if header[0] not in names]
                message = {**message, "headers": [*own, *more]}
            await send(message)

        return sending


async def respond_in_plain_text(
    refusal: Refusal, _scope: Message, _receive: Receive, send: Send
) -> None:
    """Send the reason for the rejection as a line of text."""
    body = f"{refusal.reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
