"""What a site is asked beside documents: who asks, its spaces, searches, pages by address."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote_plus, urlsplit

from errors import SourceError
from loaders.confluence.answers import ContentRefusedError
from loaders.confluence.client import WHO, ConfluenceClient
from loaders.confluence.wanted import Wanted, page_id_of, parts_query, quoted

PAGE_SIZE = 200
"""Entries asked for at once; Confluence may give fewer."""
_SPACES_A_QUERY = 50
_ARCHIVED = '{"contentStatuses":["current","archived"]}'

Content = dict[str, Any]


class UnknownPageError(SourceError):
    """An address names no page that this account sees."""


class SpaceState(StrEnum):
    """How a space is to this account; a deleted one is hidden, too."""

    CURRENT = "current"
    ARCHIVED = "archived"
    HIDDEN = "hidden"


@dataclass(slots=True)
class Site:
    """One site, and what of it is wanted."""

    client: ConfluenceClient
    wanted: Wanted
    _states: dict[str, SpaceState] = field(default_factory=dict)

    def user(self) -> str:
        """The name of the account that asks.

        Raises:
            SourceError: There is no Confluence, or it takes nobody in with these credentials.
        """
        try:
            user = self.client.get(WHO)
        except ContentRefusedError as error:
            if error.status == 404:
                raise SourceError(
                    f"There is no Confluence at {self.client.url}: check the address, with the"
                    " context path if it has one."
                ) from error
            if error.status == 403:
                raise SourceError(f"{error}. Let this account use Confluence.") from error
            raise
        if user.get("type") == "anonymous":
            raise SourceError(
                f"{self.client.url} takes this account for a visitor who is not signed in: check"
                " the user and the token or password, and that the token has not expired."
            )
        return str(user.get("displayName") or user.get("username") or user.get("accountId") or "")

    def spaces(self) -> Iterator[Content]:
        """The spaces that this account sees."""
        return self.client.each("rest/api/space", {"limit": PAGE_SIZE})

    def state_of(self, space: str) -> SpaceState:
        """Whether this account sees the space of that key; asked once each."""
        if space not in self._states:
            try:
                told = self.client.get(f"rest/api/space/{quote(space, safe='~')}")
                is_archived = told.get("status") == "archived"
                self._states[space] = SpaceState.ARCHIVED if is_archived else SpaceState.CURRENT
            except ContentRefusedError:
                self._states[space] = SpaceState.HIDDEN
        return self._states[space]

    def content(self, content_id: str, expand: str) -> Content:
        """Content by its id, in whatever state it is.

        Raises:
            ContentRefusedError: It is deleted for good, or not for this account.
        """
        asked = {"status": "any", "expand": expand}
        return self.client.content(content_id, asked)

    def search(self, cql: str, expand: str = "") -> Iterator[Content]:
        """All content that the query finds.

        Raises:
            SourceError: Confluence refuses the query, or can't be listed to its end.
        """
        asked: dict[str, Any] = {"cql": cql, "limit": PAGE_SIZE}
        if expand:
            asked["expand"] = expand
        if self.wanted.archived:
            archived = (
                {"cqlcontext": _ARCHIVED}
                if self.client.is_cloud
                else {"includeArchivedSpaces": "true"}
            )
            asked |= archived
        try:
            yield from self.client.each("rest/api/content/search", asked)
        except ContentRefusedError as error:
            raise SourceError(
                f"{error}. Check what is to be imported. The query (CQL) was: {cql}"
            ) from error

    def parts(
        self, kind: str, spaces: Iterable[str], expand: str, since: datetime | None = None
    ) -> Iterator[Content]:
        """The attachments or comments in these spaces, with what they hang on as `container`."""
        keys = iter(sorted(spaces))
        while some := [*islice(keys, _SPACES_A_QUERY)]:
            yield from self.search(parts_query(kind, some, since), expand)

    def trees(self) -> Sequence[str]:
        """The ids of the pages whose trees are wanted.

        Raises:
            SourceError: One of them can't be told from its address.
        """
        return [self.page_id(tree) for tree in self.wanted.trees]

    def page_id(self, text: str) -> str:
        """The id of a page by id or address; one by space and title is asked for.

        Raises:
            UnknownPageError: There is none.
        """
        known = page_id_of(text)
        if known is not None:
            return known
        _, display, place = urlsplit(text.strip()).path.rpartition("/display/")
        space, _, title = place.rstrip("/").partition("/")
        if display and title and "/" not in title:
            told = (
                f"space = {quoted(unquote_plus(space))} and title = {quoted(unquote_plus(title))}"
            )
            found = next(self.search(f"{told} and type = page"), None)
            if found is not None:
                return str(found["id"])
        raise UnknownPageError(
            f"{text!r} names no page that this account sees: give the page's address as the browser"
            " shows it, or its number."
        )


def container_id(part: Mapping[str, Any]) -> str:
    """The id of what an attachment or a comment hangs on; empty where that is not told."""
    return str((part.get("container") or {}).get("id") or "")
