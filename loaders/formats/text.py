"""Plain text and Markdown: kept as they are."""

import re

from loaders.encoding import decode
from loaders.formats.content import Content, one_line

_FRONT_TITLE = re.compile(r"\A---\n(?:.*\n){0,50}?title:[ \t]*(.+)\n", re.IGNORECASE)


def read(data: bytes) -> Content:
    """Read text or Markdown; the title is the front matter's."""
    decoded = decode(data)
    return Content(
        decoded.text,
        title=_title(decoded.text[:20_000].replace("\r\n", "\n")),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _title(text: str) -> str:
    match = _FRONT_TITLE.match(text)
    return one_line(match[1]).strip("\"'") if match else ""
