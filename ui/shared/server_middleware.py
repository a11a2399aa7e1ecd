"""The page server's access control (hosts, origins, what a page may load) and page address."""

import logging
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

import bootstrap
from domain.errors import ConfigError
from domain.web.host_guard import SAFE_HEADERS, App, HostGuard, Message, Receive, Send
from domain.web.request_log import RequestLog
from ui.shared.safe_html import script_names, script_text

_BEFORE = b"<title>"
_DROPPED = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}
_REPLACED = {b"content-length", b"etag", b"last-modified"}


class ServerAddress:
    """ASGI middleware that tells Streamlit's page its server's address, with `script/address.js`.

    Without it, a page such as `/library` first connects to `/library/_stcore`, fails, and waits.
    """

    def __init__(self, app: App) -> None:
        """`app` serves the pages; everything else that it serves is passed on unchanged."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        if scope["type"] == "http" and scope["method"] == "GET" and _accepts_page(scope):
            scope, send = _for_whole_page(scope), _PageSender(send).send
        await self._app(scope, receive, send)


def _accepts_page(scope: Message) -> bool:
    return any(name == b"accept" and b"text/html" in text for name, text in scope["headers"])


def _for_whole_page(scope: Message) -> Message:
    """The request of a page, for an answer with the whole page (8 kB) and without compression.

    A browser may still have the page of an earlier version, whose tag and time are those of
    Streamlit's file, too.
    """
    headers = [header for header in scope["headers"] if header[0] not in _DROPPED]
    return {**scope, "headers": headers}


class _PageSender:
    """Holds back the messages of an HTML page until it is complete."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)

    async def _send_page(self, start: Message) -> None:
        script = f"<script>{script_text('address')}</script>\n    ".encode()
        body = self._body.replace(_BEFORE, script + _BEFORE, 1)
        headers = [header for header in start["headers"] if header[0].lower() not in _REPLACED]
        headers += [(b"content-length", str(len(body)).encode()), (b"vary", b"Accept")]
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _is_page(start: Message) -> bool:
    headers: dict[bytes, bytes] = {name.lower(): text for name, text in start.get("headers", ())}
    is_complete: bool = start["status"] == 200
    return is_complete and headers.get(b"content-type", b"").startswith(b"text/html")


_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEALTH = "/_stcore/health"


def server_middleware() -> list[Middleware]:
    """The middleware around everything that Streamlit serves.

    An invalid setting ends the process, because the permitted hosts would be unknown.
    """
    try:
        policy = bootstrap.page_host_policy(st.get_option("server.address") or "")
    except ConfigError as error:
        raise SystemExit(f"Footnote: {error}") from error
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    probes = [f"/{base}{_HEALTH}" if base else _HEALTH]
    headers = {**SAFE_HEADERS, "Content-Security-Policy": page_security_policy()}
    guard = Middleware(HostGuard, policy=policy, headers=headers, probes=probes)
    # At debug level only: a page loads a hundred files, while actions go through a WebSocket.
    return [Middleware(RequestLog, level=logging.DEBUG), guard, Middleware(ServerAddress)]


def page_security_policy() -> str:
    """The Content-Security-Policy: pages may load from and connect to this server only.

    Inline scripts are allowed by their digests. Inline styles are not restricted, because
    Streamlit generates them at run time and the pages add their own.
    """
    scripts = " ".join(f"'{_digest(text)}'" for text in _scripts_within_pages())
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def _scripts_within_pages() -> list[str]:
    index = Path(st.__file__).parent / "static" / "index.html"
    streamlits = _INLINE_SCRIPT.findall(index.read_text(encoding="utf-8"))
    return [*streamlits, *map(script_text, script_names())]


def _digest(script: str) -> str:
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
