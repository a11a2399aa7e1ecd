"""What the server of the pages lets pass: hosts, origins, and what a page may load."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

import bootstrap
from errors import ConfigError
from ui.scripts import script_names, script_text
from web.guard import SAFE_HEADERS, HostGuard

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEALTH = "/_stcore/health"


def server_middleware() -> list[Middleware]:
    """What stands before everything that Streamlit serves.

    A wrong setting ends the process: without it nobody knows whom to let in.
    """
    try:
        policy = bootstrap.page_host_policy(st.get_option("server.address") or "")
    except ConfigError as error:
        raise SystemExit(f"Footnote: {error}") from error
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    probes = [f"/{base}{_HEALTH}" if base else _HEALTH]
    headers = {**SAFE_HEADERS, "Content-Security-Policy": page_security_policy()}
    return [Middleware(HostGuard, policy=policy, headers=headers, probes=probes)]


def page_security_policy() -> str:
    """What a page may load, run and connect to: this server, and nothing else.

    Scripts within the page are allowed by their digest. Styles are not restricted: Streamlit makes
    them while it runs, and the pages bring their own.
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
