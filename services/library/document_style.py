"""Decides by its format how the text of a document is read."""

from enum import StrEnum
from pathlib import PurePosixPath

from domain import is_on_web


class Style(StrEnum):
    """What the text of a document is: Markdown that a person wrote, plain text, or neither.

    Text that Footnote extracted from another format uses Markdown only for headings, lists, tables,
    and code; everything else in it is literal.
    """

    MARKDOWN = "markdown"
    EXTRACTED = "extracted"
    PLAIN = "plain"


_PLAIN = ("txt", "png", "jpg", "tif", "webp", "bmp", "gif")
_WRITTEN = ("md", "markdown", "ipynb", "confluence", "place")


def style_of(format_: str, location: str = "") -> Style:
    """The style of a document by its format, such as "md", or if unknown, by its location."""
    name = format_ or location
    suffix = PurePosixPath(name).suffix.lower().removeprefix(".") or name.lower()
    if suffix in _PLAIN:
        return Style.PLAIN
    is_written = suffix in _WRITTEN or is_on_web(name)
    return Style.MARKDOWN if is_written else Style.EXTRACTED
