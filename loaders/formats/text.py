"""Plain text and Markdown: kept as they are."""

import re

from loaders.encoding import decode
from loaders.formats.content import Content, one_line

_FRONT_TITLE = re.compile(r"\A---\n(?:.*\n){0,50}?title:[ \t]*(.+)\n", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}#[ \t]+(.+?)[ \t]*#*[ \t]*$")
_TITLE_LINES = 200  # further down, a heading is not the document's title


def read(data: bytes) -> Content:
    """Read text or Markdown; the title is the front matter's or the first level-1 heading."""
    decoded = decode(data)
    return Content(
        decoded.text,
        title=_title(decoded.text[:20_000].replace("\r\n", "\n")),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _title(text: str) -> str:
    if match := _FRONT_TITLE.match(text):
        return one_line(match[1]).strip("\"'")
    in_code = False
    for line in text.split("\n")[:_TITLE_LINES]:
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and (match := _HEADING.match(line)):
            return one_line(match[1])
    return ""
