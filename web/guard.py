"""ASGI middleware that refuses other hosts and origins, and adds safe headers to responses."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from web.policy import HostPolicy, Refusal

_log = logging.getLogger("footnote.web")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
"""An ASGI application."""

Respond = Callable[[Refusal, Message, Receive, Send], Awaitable[None]]
"""Sends the response to an HTTP request that was refused."""

SAFE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""For every response of every server."""

DATA_HEADERS: Mapping[str, str] = {
    **SAFE_HEADERS,
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""For servers whose responses are data, not pages."""


class HostGuard:
    """Lets a request or a WebSocket pass only where the policy allows its host and origin.

    It belongs outside everything else that answers. A WebSocket is refused with status 403 before
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
            app: What answers.
            policy: Which hosts and origins are allowed.
            headers: Added to each response that has none of that name.
            probes: Paths that tell the health of the server and nothing else.
            respond: Sends refusals; without one they are plain text.
        """
        self._app = app
        self._policy = policy
        self._headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
        self._probes = frozenset(probes)
        self._respond = respond or respond_in_plain_text
        self._logged: set[Refusal] = set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer or refuse a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, self._with_headers(send))
            return
        self._report(refusal)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # the server makes it a 403
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
        # Once, since a web page could fill the log; and a browser shows no reason of a WebSocket.
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
    """Send the reason of the refusal as a line of text."""
    body = f"{refusal.reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
