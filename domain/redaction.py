"""Removes secrets from text that leaves the program, such as log lines."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

HIDDEN = "***"
_MIN_CHARS = 6
"""Shorter secrets are not redacted, because keys such as `none` would hide ordinary words."""

_NAME = (
    r"(?:token|secret|password|passwd|passphrase|api[_-]?key|private[_-]?key|access[_-]?key"
    r"|encryption[_-]?key|signature|credentials?)"
)
_SECRET_NAME = re.compile(rf"(?:{_NAME}|authorization|cookie)\Z", re.IGNORECASE)
_PATTERNS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(://)[^/?#\s\"'<>]*@", rf"\1{HIDDEN}@"),
        (r"\b((?:cookie|authorization)\b['\"]?\s*[:=]\s*)[^\r\n]+", rf"\1{HIDDEN}"),
        (r"\b(bearer)\s+[\w.~+/=-]{6,}", rf"\1 {HIDDEN}"),
        (r"([?&;](?:key|sig|code|auth|pass|pwd|sid|session)=)[^&#\s\"']+", rf"\1{HIDDEN}"),
        (rf"({_NAME}\b['\"]?\s*[:=]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s&\"',;)}}]+)", rf"\1{HIDDEN}"),
        (r"\b(?:sk|fn|pk|xox[abp]|gh[ps])[-_][\w-]{16,}", HIDDEN),
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*-----|$)", HIDDEN),
    )
]
_known: tuple[str, ...] = ()


def hide_secrets(secrets: Iterable[str]) -> None:
    """Redact these values from now on, including their percent-encoded and JSON-escaped forms."""
    global _known  # one tuple per process, replaced atomically
    values = {secret.strip() for secret in secrets}
    forms = {
        form
        for value in values
        if len(value) >= _MIN_CHARS
        for form in (
            value,
            quote(value),
            quote(value, safe=""),
            json.dumps(value)[1:-1],
            repr(value)[1:-1],
        )
    }
    if not forms <= set(_known):
        _known = (*sorted({*_known, *forms}, key=len, reverse=True),)


def url_password(url: str) -> str:
    """The password in a URL, or ""."""
    try:
        return urlsplit(url).password or ""
    except ValueError:  # not a URL; its user reports the error
        return ""


def redact(text: str) -> str:
    """Hide known secrets, URL credentials, and values of names that look like secrets."""
    for secret in _known:
        text = text.replace(secret, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def redact_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Redact all texts in the fields, and hide fields whose names look like secrets."""
    return {
        redact(name): HIDDEN if _SECRET_NAME.search(name) else _redact_value(value)
        for name, value in fields.items()
    }


def _redact_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return redact_fields({str(name): item for name, item in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [_redact_value(item) for item in value]
    return redact(str(value))
