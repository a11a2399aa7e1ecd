"""A Confluence site as a source: lists what is wanted of it, and reads it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain import NOTHING_BEFORE, Before, DocumentRef, Listed, Mark
from errors import SourceUnavailableError, UnreadableNowError
from loaders.confluence.answers import ContentRefusedError
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.documents import Documents
from loaders.confluence.listing import Listing
from loaders.confluence.site import Site
from loaders.confluence.versions import digest
from loaders.confluence.wanted import Wanted
from loaders.files import DEFAULT_MAX_BYTES

if TYPE_CHECKING:  # slow
    from langchain_core.documents import Document

OVERLAP = timedelta(hours=24)
"""Asked for again before the last change seen: dates in queries are in the account's time zone, up
to 14 hours off, at minute granularity, and an index lags behind."""
WHOLE_AFTER = timedelta(hours=24)


class Deletions(StrEnum):
    """When deletions, moves and new labels are looked for, which takes a listing of everything."""

    ALWAYS = "always"
    DAILY = "daily"


class ConfluencePages:
    """Lists and reads the pages, blog posts and attachments that are wanted of a site.

    Keys are Confluence's ids. A listing of everything takes one request for 200 pages, and one for
    each document that is missing from it.
    """

    def __init__(
        self,
        client: ConfluenceClient,
        wanted: Wanted,
        *,
        deletions: Deletions = Deletions.ALWAYS,
        max_bytes: int = DEFAULT_MAX_BYTES,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Look for deletions `daily` to ask, in between, only for what was edited since.

        `max_bytes` bounds each attachment.
        """
        self._client = client
        self._site = Site(client, wanted)
        self._deletions = deletions
        self._max_bytes = max_bytes
        self._now = now
        self._documents = Documents(client, wanted, max_bytes)

    def list(self, before: Before = NOTHING_BEFORE) -> Iterator[Listed]:
        """Yield everything that is wanted, what became of what is missing, and a mark.

        Pages come before attachments, else in no order that means anything. A version changes with
        the content, title, space, place, labels and comments. What is hidden along with its whole
        space, or can't be looked at, is yielded as `Skipped`.

        Raises:
            SourceError: The site can't be listed to its end: the credentials are wrong, a space or
                page is none, the query is not understood, the listing leads in a circle.
            SourceUnavailableError: It can't be reached now.
        """
        begun = self._now()
        self._site.user()  # a token that ran out may show an empty site in place of an error
        since = self._since(before.mark, begun)
        newest = None if since is None else since + OVERLAP
        listing = Listing(self._site, before, since, self._max_bytes, newest)
        yield from listing.entries()
        yield Mark(
            {
                # No later than now: pages taken over from elsewhere may have dates to come.
                "watermark": min(listing.newest or begun, begun).isoformat(),
                "whole": begun.isoformat() if since is None else before.mark["whole"],
                "wanted": self._wanted_digest(),
            }
        )

    def read(self, ref: DocumentRef) -> "Document":
        """Read what `list` has yielded.

        Returns:
            The text as Markdown with key, version, location, title, format, labels, modified_at
            (UTC, as `2026-11-21T10:00:00Z`), page_id, space, space_name, ancestors, ancestor_ids
            (from the topmost), page_version, author and changed_by in its metadata, of attachments
            also their page's as page_title. Comments, if wanted, follow under a heading.

        Raises:
            UnreadableError: With the reason; UnreadableNowError where the next try may do.
            SourceUnavailableError: The site can't be reached now.
            SourceError: The credentials are no longer taken.
        """
        try:
            return self._documents.read(ref)
        except ContentRefusedError as error:
            raise UnreadableNowError(_refused(error)) from error
        except SourceUnavailableError as error:
            if not self._client.answers():
                raise
            raise UnreadableNowError(f"{error} Other pages can be read.") from error

    def _since(self, mark: Mapping[str, Any], now: datetime) -> datetime | None:
        """From when on to ask for changes; None for everything."""
        if self._deletions == Deletions.ALWAYS or mark.get("wanted") != self._wanted_digest():
            return None
        try:
            whole, watermark = (
                datetime.fromisoformat(mark[name]) for name in ("whole", "watermark")
            )
        except (KeyError, ValueError):
            return None
        return watermark - OVERLAP if timedelta() <= now - whole < WHOLE_AFTER else None

    def _wanted_digest(self) -> str:
        """Changes from another choice can't be told from the mark of this one."""
        return digest(asdict(self._site.wanted))


def _refused(error: ContentRefusedError) -> str:
    if error.is_of_content:
        return "it was deleted or hidden from this account while the import was running"
    return str(error)
