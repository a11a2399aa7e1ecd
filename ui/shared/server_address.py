"""ASGI middleware that tells Streamlit's page the address of its server.

Without it, a page such as `/library` first connects to `/library/_stcore`, fails, and waits.
"""

from domain.web.host_guard import App, Message, Receive, Send
from ui.shared.safe_html import script_text

_BEFORE = b"<title>"
_DROPPED = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}
_REPLACED = {b"content-length", b"etag", b"last-modified"}


class ServerAddress:
    """Adds `script/address.js` to each HTML page."""

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
