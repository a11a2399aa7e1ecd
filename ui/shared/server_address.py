"""ASGI middleware that tells Streamlit's page the address of its server.

Without it, a page such as `/library` first connects to `/library/_stcore`, fails, and waits.
"""

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ui.shared.safe_html import script_text

_BEFORE = b"<title>"
_DROPPED = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}
_REPLACED = {"content-length", "etag", "last-modified"}


class ServerAddress(BaseHTTPMiddleware):
    """Adds `script/address.js` to each HTML page; everything else is passed on unchanged."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        if scope["type"] == "http" and scope["method"] == "GET" and _accepts_page(scope):
            await super().__call__(_for_whole_page(scope), receive, send)
        else:
            await self.app(scope, receive, send)

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Respond with the complete page."""
        response = await call_next(request)
        is_page = response.headers.get("content-type", "").startswith("text/html")
        if response.status_code != 200 or not is_page:
            return response
        parts = response.body_iterator  # type: ignore[attr-defined]  # `call_next` always has one
        text = b"".join([part async for part in parts])
        script = f"<script>{script_text('address')}</script>\n    ".encode()
        headers = {name: one for name, one in response.headers.items() if name not in _REPLACED}
        page = Response(text.replace(_BEFORE, script + _BEFORE, 1), headers=headers)
        page.headers.add_vary_header("Accept")
        return page


def _accepts_page(scope: Scope) -> bool:
    return any(name == b"accept" and b"text/html" in text for name, text in scope["headers"])


def _for_whole_page(scope: Scope) -> Scope:
    """The request of a page, for an answer with the whole page (8 kB) and without compression.

    A browser may still have the page of an earlier version, whose tag and time are those of
    Streamlit's file, too.
    """
    headers = [header for header in scope["headers"] if header[0] not in _DROPPED]
    return {**scope, "headers": headers}
