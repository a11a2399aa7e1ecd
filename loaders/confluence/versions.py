"""When a page counts as changed: what of it shows in the library, as a short text."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from loaders.confluence.wanted import labels_of, space_of

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class ContentVersion:
    """The version of a page or an attachment.

    `number` is Confluence's own, which moves and labels leave as it is; `shown` is a digest of what
    else a reader sees, `comments` one of its comments (empty without any). `space` is its key: of
    a page that is missing it tells where it was.
    """

    number: int
    space: str
    shown: str
    comments: str = ""

    def __str__(self) -> str:
        """The version as the library keeps it."""
        return f"{self.number}/{self.space}/{self.shown}/{self.comments}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The version that was written so; None where it was not."""
        number, _, rest = text.partition("/")
        parts = rest.rsplit("/", 2)
        if len(parts) != 3 or not (number.isascii() and number.isdigit()):
            return None
        return cls(int(number), *parts)


def version_of(content: Mapping[str, Any], comments: str = "") -> ContentVersion:
    """The version of content with its version, space, ancestors, labels and container expanded."""
    space = content.get("space") or {}
    container = content.get("container") or {}
    shown = (
        content.get("title"),
        content.get("status"),
        space.get("name"),
        [(one.get("id"), one.get("title")) for one in content.get("ancestors") or ()],
        labels_of(content),
        [container.get("id"), container.get("title")],
    )
    return ContentVersion(number_of(content), space_of(content), digest(shown), comments)


def number_of(content: Mapping[str, Any]) -> int:
    """Its version number; 0 where it is not told."""
    return int((content.get("version") or {}).get("number") or 0)


def digest_of_comments(comments: Iterable[tuple[str, int]]) -> str:
    """A digest of (id, version number) in any order; empty without any."""
    found = sorted(comments)
    return digest(found) if found else ""


def digest(told: Any) -> str:
    """The beginning of a SHA-256 over it as JSON."""
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()[:_DIGITS]
