"""Reads one page, blog post or attachment as a document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from domain import DocumentRef, Skipped
from errors import NothingToReadError, UnreadableError, UnreadableNowError
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.comments import comments_of, storage_of
from loaders.confluence.site_links import SiteLinks, Users
from loaders.confluence.versions import ContentVersion, number_of, version_of
from loaders.confluence.wanted import Wanted, labels_of, space_of
from loaders.formats import read_document, unsupported

if TYPE_CHECKING:  # slow, and a listing needs none of it
    from langchain_core.documents import Document

ATTACHMENT_IDS = "att"
"""What the ids of attachments begin with."""
SHOWN = "version,ancestors,space,metadata.labels,history"
ATTACHED = "version,container,space,metadata.labels,history"

Content = Mapping[str, Any]


class Documents:
    """The documents of a site, by reference."""

    def __init__(self, client: ConfluenceClient, wanted: Wanted, max_bytes: int) -> None:
        """Read what is wanted: comments along with pages, and attachments up to `max_bytes`."""
        self._client = client
        self._wanted = wanted
        self._max_bytes = max_bytes
        self._users = Users(client)

    def read(self, ref: DocumentRef) -> "Document":
        """The page or attachment of that key.

        Raises:
            UnreadableError: It has no text, or its file can't be read; the message says why.
            SourceError: As `ConfluenceClient.get`.
        """
        is_file = ref.key.startswith(ATTACHMENT_IDS)
        expanded = ATTACHED if is_file else f"body.storage,{SHOWN}"
        asked = {"expand": expanded} | ({"status": "any"} if self._wanted.archived else {})
        content = self._client.content(ref.key, asked)
        if content.get("status") == "trashed":
            raise UnreadableNowError("it was put in the trash while the import was running")
        document = self._attachment(content) if is_file else self._page(content, ref)
        document.metadata |= _details(content)
        document.metadata |= {
            "key": ref.key,
            "version": _version(content, ref),
            "location": location_of(self._client, content),
        }
        return document

    def _page(self, content: Content, ref: DocumentRef) -> "Document":
        from langchain_core.documents import Document  # slow

        from loaders.confluence.storage_format import to_markdown  # slow

        links = SiteLinks(self._client, self._users, str(content["id"]), space_of(content))
        storage = storage_of(content)
        text = "" if storage is None else to_markdown(storage, links).strip()
        comments = self._comments_of(ref, links)
        if not text and not comments:
            kind = UnreadableError if storage is None else NothingToReadError
            raise kind(_without_text(storage))
        metadata = {
            "title": content.get("title") or "",
            "format": "confluence",
            "encoding": None,
            "pages": [],
            "warnings": [] if storage is not None else [_without_text(storage)],
        }
        whole = "\n\n".join(filter(None, (text, comments)))
        return Document(page_content=whole, metadata=metadata)

    def _comments_of(self, ref: DocumentRef, links: SiteLinks) -> str:
        """Asked for where the listing saw some, or saw nothing."""
        listed = ContentVersion.parse(ref.version)
        if not self._wanted.comments or (listed is not None and not listed.comments):
            return ""
        return comments_of(self._client, ref.key, links)

    def _attachment(self, content: Content) -> "Document":
        name = str(content.get("title") or "")
        size = size_of(content)
        if size is not None and size > self._max_bytes:
            raise UnreadableError(too_large(size, self._max_bytes))
        link = (content.get("_links") or {}).get("download")
        if not link:
            raise UnreadableError("Confluence names no address to download this file from")
        data = self._client.download(link, size=size, max_bytes=self._max_bytes)
        document = read_document(name, data)
        document.metadata["page_title"] = (content.get("container") or {}).get("title") or ""
        return document


def listed_file(
    client: ConfluenceClient, content: Content, max_bytes: int
) -> DocumentRef | Skipped:
    """An attachment as a listing tells it: skipped where its format or its size is not read."""
    key, location = content["id"], location_of(client, content)
    name = str(content.get("title") or "")
    if reason := unsupported(name):
        return Skipped(key, location, reason, is_error=False, title=name)
    size = size_of(content)
    if size is not None and size > max_bytes:
        return Skipped(key, location, too_large(size, max_bytes), title=name)
    return DocumentRef(key, str(version_of(content)), location, name)


def location_of(client: ConfluenceClient, content: Content) -> str:
    """The address that opens it."""
    by_id = f"pages/viewpage.action?pageId={content['id']}"
    return client.address((content.get("_links") or {}).get("webui") or by_id)


def size_of(content: Content) -> int | None:
    """The bytes of an attachment; None where it does not tell."""
    size = (content.get("extensions") or {}).get("fileSize")
    return int(size) if isinstance(size, int | float) else None


def too_large(size: int, most: int) -> str:
    """Why a file of that size is not read."""
    return f"{size / 2**20:.1f} MiB is more than the limit of {most / 2**20:.1f} MiB: split it"


def moment_of(content: Content) -> datetime | None:
    """When it was last changed; None where it does not tell."""
    try:
        moment = datetime.fromisoformat((content.get("version") or {}).get("when") or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _version(content: Content, ref: DocumentRef) -> str:
    """The version that was listed, unless it was edited since.

    Comments count as listed too: one that came meanwhile is seen by the next listing.
    """
    listed = ContentVersion.parse(ref.version)
    if listed is not None and listed.number == number_of(content):
        return ref.version
    return str(version_of(content, "" if listed is None else listed.comments))


def _details(content: Content) -> dict[str, Any]:
    """What is told of it beside its text."""
    changed, moment = content.get("version") or {}, moment_of(content)
    ancestors = content.get("ancestors") or ()
    told = {
        "page_id": str((content.get("container") or content)["id"]),
        "space": space_of(content),
        "space_name": (content.get("space") or {}).get("name") or "",
        "ancestors": [str(one.get("title") or "") for one in ancestors],
        "ancestor_ids": [str(one.get("id") or "") for one in ancestors],
        "page_version": number_of(content),
        "author": _name((content.get("history") or {}).get("createdBy")),
        "changed_by": _name(changed.get("by")),
        "labels": labels_of(content),
    }
    return told if moment is None else told | {"modified_at": _utc_text(moment)}


def _name(person: Any) -> str:
    return str((person or {}).get("displayName") or "")


def _utc_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _without_text(storage: str | None) -> str:
    if storage is None:
        return "Confluence gave no body of this page: open it there, save it and import it again"
    return "0 characters: the page holds no text"
