"""Fields of pages and attachments in API responses, and the versions derived from them."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from domain import DocumentRef, Skipped
from loaders.confluence.client import ConfluenceClient
from loaders.document_reader import size_problem
from loaders.formats import unsupported

_DIGITS = 16
ATTACHMENT_IDS = "att"
"""The prefix of the ids of attachments."""
PAGE_FIELDS = "version,ancestors,space,metadata.labels,history"
ATTACHMENT_FIELDS = "version,container,space,metadata.labels,history"


Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContentVersion:
    """The version of a page or an attachment.

    `number` is Confluence's own, which moves and labels don't change; `display_digest` is a digest
    of everything else that a reader sees, and `comments` a digest of the comments (empty without
    comments). `space` is the key of the space, to tell where a missing page was.
    """

    number: int
    space: str
    display_digest: str
    comments: str = ""

    def __str__(self) -> str:
        """The version in the form that the library stores."""
        return f"{self.number}/{self.space}/{self.display_digest}/{self.comments}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse a stored version; None if it has another format."""
        number, _, rest = text.partition("/")
        parts = rest.rsplit("/", 2)
        if len(parts) != 3 or not (number.isascii() and number.isdigit()):
            return None
        return cls(int(number), *parts)


def version_of(content: Mapping[str, Any], comments: str = "") -> ContentVersion:
    """The version of content with version, space, ancestors, labels, and container expanded."""
    space = content.get("space") or {}
    container = content.get("container") or {}
    displayed = (
        content.get("title"),
        content.get("status"),
        space.get("name"),
        [(one.get("id"), one.get("title")) for one in content.get("ancestors") or ()],
        labels_of(content),
        [container.get("id"), container.get("title")],
    )
    return ContentVersion(number_of(content), space_of(content), digest(displayed), comments)


def number_of(content: Mapping[str, Any]) -> int:
    """Confluence's version number; 0 if it is missing."""
    return int((content.get("version") or {}).get("number") or 0)


def digest_of_comments(comments: Iterable[tuple[str, int]]) -> str:
    """A digest of comments as (id, version number) in any order; empty without comments."""
    versions = sorted(comments)
    return digest(versions) if versions else ""


def digest(value: Any) -> str:
    """The first `_DIGITS` hex digits of the SHA-256 of the value as JSON."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()[:_DIGITS]


def labels_of(content: Mapping[str, Any]) -> list[str]:
    """The labels of a piece of content, sorted."""
    labels = ((content.get("metadata") or {}).get("labels") or {}).get("results") or ()
    return sorted({str(label.get("name", "")) for label in labels} - {""})


def space_of(content: Mapping[str, Any]) -> str:
    """The key of the content's space; empty if it is missing."""
    return str((content.get("space") or {}).get("key") or "")


def listed_file(
    client: ConfluenceClient, content: Content, max_bytes: int
) -> DocumentRef | Skipped:
    """The entry of an attachment; skipped if its format or size is not supported."""
    key, location = content["id"], location_of(client, content)
    name = str(content.get("title") or "")
    if reason := unsupported(name):
        return Skipped(key, location, reason, is_error=False, title=name)
    if reason := size_problem(size_of(content) or 0, max_bytes):
        return Skipped(key, location, reason, title=name)
    return DocumentRef(key, str(version_of(content)), location, name)


def location_of(client: ConfluenceClient, content: Content) -> str:
    """The address that opens the content."""
    by_id = f"pages/viewpage.action?pageId={content['id']}"
    return client.address((content.get("_links") or {}).get("webui") or by_id)


def size_of(content: Content) -> int | None:
    """The size of an attachment in bytes, if known."""
    size = (content.get("extensions") or {}).get("fileSize")
    return int(size) if isinstance(size, int | float) else None


def moment_of(content: Content) -> datetime | None:
    """The time of the last change, if known."""
    try:
        moment = datetime.fromisoformat((content.get("version") or {}).get("when") or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def storage_of(content: Content) -> str | None:
    """The body in storage format; None if the response has none."""
    value = ((content.get("body") or {}).get("storage") or {}).get("value")
    return value if isinstance(value, str) else None
