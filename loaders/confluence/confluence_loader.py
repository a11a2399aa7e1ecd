"""A Confluence site as a source: lists the selected pages and attachments, and reads them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain import NEVER_IMPORTED, Cursor, DocumentRef, ListingEntry, PreviousImport, utc_text
from domain.errors import (
    NothingToReadError,
    SourceUnavailableError,
    TemporarilyUnreadableError,
    UnreadableError,
)
from domain.messages import _
from loaders import document_reader
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.confluence_content import (
    ATTACHMENT_FIELDS,
    ATTACHMENT_IDS,
    PAGE_FIELDS,
    Content,
    ContentVersion,
    digest,
    labels_of,
    location_of,
    moment_of,
    number_of,
    size_of,
    space_of,
    storage_of,
    version_of,
)
from loaders.confluence.confluence_listing import Listing
from loaders.confluence.confluence_permissions import ConfluencePermissions, Subjects
from loaders.confluence.confluence_selection import ConfluenceSelection
from loaders.confluence.responses import ContentRefusedError
from loaders.confluence.site import Site, SiteLinks, Users
from loaders.directory_loader import DEFAULT_MAX_BYTES
from loaders.document_reader import read_document, size_problem

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from loaders.confluence.storage_format import Links


QUESTIONS = frozenset({"page", "blog_post", "content", "attachment", "space", "user"})
"""The methods of `Links`."""


def read_storage(storage: str, links: "Links") -> str:
    """Convert a page like `loaders.confluence.storage_format.to_markdown`, with limits.

    The reader process asks this one about links.

    Raises:
        UnreadableError: The page exceeds a limit, or can't be converted. `links` may raise other
            errors.
    """

    def answer(method: str, arguments: list[Any]) -> str:
        if method not in QUESTIONS or not all(isinstance(one, str | None) for one in arguments):
            raise ValueError(method)
        target: str = getattr(links, method)(*arguments)
        return target

    body = storage.encode("utf-8", "surrogatepass")
    _result, text = document_reader.DOCUMENTS.call("read_storage", {}, body, answer)
    try:
        return text.decode("utf-8", "surrogatepass")
    except ValueError as error:
        raise document_reader.DOCUMENTS.invalid_reply() from error


_EXPANDED = "body.storage,version,history,ancestors"
HEADING = "## Comments"


def comments_of(client: ConfluenceClient, page_id: str, links: "Links") -> str:
    """All comments as Markdown below a heading, replies after their parents; "" if none."""
    path = f"rest/api/content/{page_id}/child/comment"
    comments = [*client.each(path, {"depth": "all", "limit": 100, "expand": _EXPANDED})]
    threads = [*_threads(comments, links)]
    return "\n\n".join([HEADING, *threads]) if threads else ""


def _threads(comments: list[dict[str, Any]], links: "Links") -> Iterator[str]:
    by_id = {comment["id"]: comment for comment in comments}

    def line(comment: Content) -> list[Content]:
        """The thread from the first comment down to this one."""
        above = [by_id[one["id"]] for one in comment.get("ancestors") or () if one["id"] in by_id]
        return [*above, comment]

    for comment in sorted(comments, key=lambda one: [_moment(above) for above in line(one)]):
        text = read_storage(storage_of(comment) or "", links).strip()
        if text:
            *_, parent = [None, *line(comment)[:-1]]
            yield f"{_comment_head(comment, parent)}\n\n{text}"


def _comment_head(comment: Content, parent: Content | None) -> str:
    reply = "" if parent is None else f", in reply to {_author(parent)}"
    return f"{_author(comment)}, {_moment(comment)[0][:10]}{reply}:"


def _author(comment: Content) -> str:
    return _name((comment.get("history") or {}).get("createdBy")) or "Somebody"


def _moment(comment: Content) -> tuple[str, str]:
    created = (comment.get("history") or {}).get("createdDate") or ""
    return str(created), str(comment["id"])


def _version(content: Content, ref: DocumentRef) -> str:
    """The listed version, unless the content was edited since.

    Comments are not updated: the next listing detects those added since.
    """
    listed = ContentVersion.parse(ref.version)
    if listed is not None and listed.number == number_of(content):
        return ref.version
    return str(version_of(content, "" if listed is None else listed.comments))


def _details(content: Content) -> dict[str, Any]:
    """The metadata from Confluence."""
    changed, moment = content.get("version") or {}, moment_of(content)
    ancestors = content.get("ancestors") or ()
    details = {
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
    return details if moment is None else details | {"modified_at": utc_text(moment)}


def _name(person: Any) -> str:
    return str((person or {}).get("displayName") or "")


def _without_text(storage: str | None) -> str:
    if storage is None:
        return _(
            "Confluence returned this page without its text: open and save the page in"
            " Confluence, then import again"
        )
    return _("0 characters: the page has no text")


OVERLAP = timedelta(hours=24)
"""Each listing starts this long before the last known change: dates in queries are in the account's
time zone, up to 14 hours off, with minute granularity, and the search index lags behind."""
WHOLE_AFTER = timedelta(hours=24)


class Deletions(StrEnum):
    """When to detect deletions, moves, and new labels, which requires a full listing."""

    ALWAYS = "always"
    DAILY = "daily"


class ConfluenceLoader:
    """Lists and reads the selected pages, blog posts, and attachments of a site.

    Keys are Confluence's ids. A full listing takes one request per 200 pages and one per missing
    document.
    """

    reads_without_listing = True

    def __init__(
        self,
        client: ConfluenceClient,
        selection: ConfluenceSelection,
        *,
        deletions: Deletions = Deletions.ALWAYS,
        mirrors_permissions: bool = False,
        max_bytes: int = DEFAULT_MAX_BYTES,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Create a loader; with daily `deletions` it lists only edits in between.

        With `mirrors_permissions`, documents have the restrictions of their pages and spaces, and
        each listing is full, because Confluence does not count new restrictions as edits.
        `max_bytes` limits each attachment.
        """
        self._client = client
        self._site = Site(client, selection)
        self._deletions = deletions
        self._mirrors_permissions = mirrors_permissions
        self._max_bytes = max_bytes
        self._now = now
        self._users = Users(client)

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[ListingEntry]:
        """Yield the selected documents, explanations of missing ones, and a cursor.

        Pages come before attachments; otherwise the order is arbitrary. A version changes with the
        content, title, space, location, labels, and comments. Content in a hidden space is yielded
        as an uncertain `Removed`, content that can't be checked as `Skipped`.

        Raises:
            SourceError: The site can't be listed completely: the credentials are wrong, a space or
                page does not exist, Confluence rejects the query, or the listing loops.
            SourceUnavailableError: The site can't be reached now.
        """
        begun = self._now()
        self._site.user()  # with an expired token, a site may look empty without an error
        since = self._since(previous.cursor, begun)
        newest = None if since is None else since + OVERLAP
        permissions = (
            ConfluencePermissions(self._client, Subjects(self._client))
            if self._mirrors_permissions
            else None
        )
        listing = Listing(self._site, previous, since, self._max_bytes, newest, permissions)
        yield from listing.entries()
        yield Cursor(
            {
                # At most now: pages migrated from elsewhere may have dates in the future.
                "watermark": min(listing.newest or begun, begun).isoformat(),
                "whole": begun.isoformat() if since is None else previous.cursor["whole"],
                "wanted": self._selection_digest(),
            }
        )

    def read(self, ref: DocumentRef) -> "Document":
        """Read a document that `list` yielded.

        Returns:
            The text as Markdown, with key, version, location, title, format, labels, modified_at
            (UTC, such as `2026-11-21T10:00:00Z`), page_id, space, space_name, ancestors,
            ancestor_ids (from the topmost), page_version, author, and changed_by in its metadata;
            for attachments also page_title, the title of their page. Comments, if selected, follow
            under a heading.

        Raises:
            UnreadableError: The document can't be read; the message gives the reason.
                TemporarilyUnreadableError if a retry may succeed.
            SourceUnavailableError: The site can't be reached now.
            SourceError: The credentials are no longer accepted.
        """
        try:
            return self._document(ref)
        except ContentRefusedError as error:
            raise TemporarilyUnreadableError(_refusal(error)) from error
        except SourceUnavailableError as error:
            if not self._client.answers():
                raise
            raise TemporarilyUnreadableError(
                _("{error} Other pages can be read.").format(error=error)
            ) from error

    def _document(self, ref: DocumentRef) -> "Document":
        is_file = ref.key.startswith(ATTACHMENT_IDS)
        expanded = ATTACHMENT_FIELDS if is_file else f"body.storage,{PAGE_FIELDS}"
        params = {"expand": expanded} | ({"status": "any"} if self._site.selection.archived else {})
        content = self._client.content(ref.key, params)
        if content.get("status") == "trashed":
            raise TemporarilyUnreadableError(
                _("it was moved to the trash while the import was running")
            )
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

        links = SiteLinks(self._client, self._users, str(content["id"]), space_of(content))
        storage = storage_of(content)
        text = "" if storage is None else read_storage(storage, links).strip()
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
        """The comments, unless the listing saw that there are none."""
        listed = ContentVersion.parse(ref.version)
        if not self._site.selection.comments or (listed is not None and not listed.comments):
            return ""
        return comments_of(self._client, ref.key, links)

    def _attachment(self, content: Content) -> "Document":
        name = str(content.get("title") or "")
        if reason := size_problem(size_of(content) or 0, self._max_bytes):
            raise UnreadableError(reason)
        link = (content.get("_links") or {}).get("download")
        if not link:
            raise UnreadableError(_("Confluence provides no download address for this file"))
        data = self._client.download(link, size=size_of(content), max_bytes=self._max_bytes)
        document = read_document(name, data)
        document.metadata["page_title"] = (content.get("container") or {}).get("title") or ""
        return document

    def _since(self, cursor: Mapping[str, Any], now: datetime) -> datetime | None:
        """The time from which to request changes; None for a full listing."""
        if self._mirrors_permissions or self._deletions == Deletions.ALWAYS:
            return None
        if cursor.get("wanted") != self._selection_digest():
            return None
        try:
            whole, watermark = (
                datetime.fromisoformat(cursor[name]) for name in ("whole", "watermark")
            )
        except (KeyError, ValueError):
            return None
        return watermark - OVERLAP if timedelta() <= now - whole < WHOLE_AFTER else None

    def _selection_digest(self) -> str:
        """Identifies the selection: a cursor of another selection can't be used for changes."""
        return digest(asdict(self._site.selection))


def _refusal(error: ContentRefusedError) -> str:
    if error.is_of_content:
        return _("it was deleted or hidden from this account while the import was running")
    return str(error)
