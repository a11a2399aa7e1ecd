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
from domain.web.host_guard import SAFE_HEADERS, HostGuard
from domain.web.request_log import RequestLog
from ui.shared.safe_html import script_names, script_text
from ui.shared.server_address import ServerAddress

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
