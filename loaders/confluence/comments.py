"""The comments of a page as text below it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from loaders.confluence.client import ConfluenceClient

if TYPE_CHECKING:  # slow
    from loaders.confluence.storage_format import Links

_EXPANDED = "body.storage,version,history,ancestors"
HEADING = "## Comments"

Content = Mapping[str, Any]


def comments_of(client: ConfluenceClient, page_id: str, links: "Links") -> str:
    """All comments as Markdown below a heading, replies after what they reply to; "" for none."""
    path = f"rest/api/content/{page_id}/child/comment"
    found = [*client.each(path, {"depth": "all", "limit": 100, "expand": _EXPANDED})]
    told = [*_told(found, links)]
    return "\n\n".join([HEADING, *told]) if told else ""


def _told(found: list[dict[str, Any]], links: "Links") -> Iterator[str]:
    from loaders.confluence.storage_format import to_markdown  # slow

    by_id = {comment["id"]: comment for comment in found}

    def line(comment: Content) -> list[Content]:
        """From the comment that began it all down to this one."""
        above = [by_id[one["id"]] for one in comment.get("ancestors") or () if one["id"] in by_id]
        return [*above, comment]

    for comment in sorted(found, key=lambda one: [_moment(above) for above in line(one)]):
        text = to_markdown(storage_of(comment) or "", links).strip()
        if text:
            *_, parent = [None, *line(comment)[:-1]]
            yield f"{_head(comment, parent)}\n\n{text}"


def storage_of(content: Content) -> str | None:
    """The storage format of its body; None where Confluence told none."""
    value = ((content.get("body") or {}).get("storage") or {}).get("value")
    return value if isinstance(value, str) else None


def _head(comment: Content, parent: Content | None) -> str:
    reply = "" if parent is None else f", in reply to {_author(parent)}"
    return f"{_author(comment)}, {_moment(comment)[0][:10]}{reply}:"


def _author(comment: Content) -> str:
    by = (comment.get("history") or {}).get("createdBy") or {}
    return str(by.get("displayName") or "Somebody")


def _moment(comment: Content) -> tuple[str, str]:
    created = (comment.get("history") or {}).get("createdDate") or ""
    return str(created), str(comment["id"])
