"""Queries to a site: the account, spaces, searches, pages by address, and targets of links."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus, urlsplit

from domain.errors import SourceError
from domain.messages import _
from loaders.confluence.client import WHO, ConfluenceClient
from loaders.confluence.confluence_selection import (
    ConfluenceSelection,
    cql_string,
    page_id_of,
    parts_query,
)
from loaders.confluence.responses import ContentRefusedError


class Users:
    """The names of people, each requested only once."""

    def __init__(self, client: ConfluenceClient) -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def name(self, account: str) -> str:
        """The display name by account id (Cloud), user key, or user name; "" if unknown.

        Raises:
            SourceUnavailableError: The name can't be determined now.
        """
        if account not in self._names:
            fields = ("accountId",) if self._client.is_cloud else ("key", "username")
            self._names[account] = next(filter(None, (self._ask(f, account) for f in fields)), "")
        return self._names[account]

    def _ask(self, field: str, account: str) -> str:
        try:
            user = self._client.get("rest/api/user", {field: account})
        except ContentRefusedError:
            return ""  # a person who left should not make the page unreadable
        return str(user.get("displayName") or "")


class SiteLinks:
    """Resolves the links, mentions, and files of one page; see `storage_format.Links`."""

    def __init__(self, client: ConfluenceClient, users: Users, page_id: str, space: str) -> None:
        """Create the resolver for a page by its id and the key of its space."""
        self._client = client
        self._users = users
        self._page_id = page_id
        self._space = space

    def page(self, space_key: str | None, title: str, anchor: str) -> str:
        """The address by space and title, which both Cloud and Server support."""
        fragment = f"#{quote(anchor)}" if anchor else ""
        return self._client.address(f"display/{self._key(space_key)}/{quote_plus(title)}{fragment}")

    def blog_post(self, space_key: str | None, title: str, day: str) -> str:
        """The address by space, day, and title."""
        title_of_day = f"{quote(day)}/{quote_plus(title)}" if day else quote_plus(title)
        return self._client.address(f"display/{self._key(space_key)}/{title_of_day}")

    def content(self, content_id: str) -> str:
        """The address by content id."""
        return self._client.address(f"pages/viewpage.action?pageId={quote(content_id)}")

    def attachment(self, filename: str, page_title: str | None, space_key: str | None) -> str:
        """The address of a file on this page; for another page, whose id is unknown, the page's."""
        if page_title is not None:
            return self.page(space_key, page_title, "")
        return self._client.address(f"download/attachments/{self._page_id}/{quote(filename)}")

    def space(self, space_key: str) -> str:
        """The address of the space's home page."""
        return self._client.address(f"display/{quote(space_key)}")

    def user(self, account: str) -> str:
        """The person's display name."""
        return self._users.name(account)

    def _key(self, space_key: str | None) -> str:
        return quote(space_key or self._space, safe="~")


PAGE_SIZE = 200
"""Entries per request; Confluence may return fewer."""
_SPACES_A_QUERY = 50
_ARCHIVED = '{"contentStatuses":["current","archived"]}'

Content = dict[str, Any]


class UnknownPageError(SourceError):
    """An address does not identify a page that this account can see."""


class SpaceState(StrEnum):
    """The state of a space for this account; deleted spaces are hidden too."""

    CURRENT = "current"
    ARCHIVED = "archived"
    HIDDEN = "hidden"


@dataclass(slots=True)
class Site:
    """A site and the selection to import."""

    client: ConfluenceClient
    selection: ConfluenceSelection
    _states: dict[str, SpaceState] = field(default_factory=dict)

    def user(self) -> str:
        """The name of the signed-in account.

        Raises:
            SourceError: The address is not a Confluence site, or it rejects the credentials.
        """
        try:
            user = self.client.get(WHO)
        except ContentRefusedError as error:
            if error.status == 404:
                raise SourceError(
                    _(
                        "There is no Confluence at {url}: check the address, including the"
                        " context path if it has one."
                    ).format(url=self.client.url)
                ) from error
            if error.status == 403:
                raise SourceError(
                    _("{error}. Grant this account access to Confluence.").format(error=error)
                ) from error
            raise
        if user.get("type") == "anonymous":
            raise SourceError(
                _(
                    "{url} treats this account as an anonymous visitor: check the user and"
                    " the token or password, and that the token has not expired."
                ).format(url=self.client.url)
            )
        return str(user.get("displayName") or user.get("username") or user.get("accountId") or "")

    def spaces(self) -> Iterator[Content]:
        """The spaces visible to this account."""
        return self.client.each("rest/api/space", {"limit": PAGE_SIZE})

    def state_of(self, space: str) -> SpaceState:
        """The state of a space, requested once per space."""
        if space not in self._states:
            try:
                space_data = self.client.get(f"rest/api/space/{quote(space, safe='~')}")
                is_archived = space_data.get("status") == "archived"
                self._states[space] = SpaceState.ARCHIVED if is_archived else SpaceState.CURRENT
            except ContentRefusedError:
                self._states[space] = SpaceState.HIDDEN
        return self._states[space]

    def content(self, content_id: str, expand: str) -> Content:
        """Content by its id, in any state.

        Raises:
            ContentRefusedError: The content was permanently deleted, or is not visible to this
                account.
        """
        params = {"status": "any", "expand": expand}
        return self.client.content(content_id, params)

    def search(self, cql: str, expand: str = "") -> Iterator[Content]:
        """All content that matches the query.

        Raises:
            SourceError: Confluence rejects the query or can't be listed completely.
        """
        params: dict[str, Any] = {"cql": cql, "limit": PAGE_SIZE}
        if expand:
            params["expand"] = expand
        if self.selection.archived:
            archived = (
                {"cqlcontext": _ARCHIVED}
                if self.client.is_cloud
                else {"includeArchivedSpaces": "true"}
            )
            params |= archived
        try:
            yield from self.client.each("rest/api/content/search", params)
        except ContentRefusedError as error:
            raise SourceError(
                _("{error}. Check the selection of the source. The query (CQL) was: {cql}").format(
                    error=error, cql=cql
                )
            ) from error

    def parts(
        self, kind: str, spaces: Iterable[str], expand: str, since: datetime | None = None
    ) -> Iterator[Content]:
        """The attachments or comments in these spaces; their `container` is their page."""
        keys = iter(sorted(spaces))
        while some := [*islice(keys, _SPACES_A_QUERY)]:
            yield from self.search(parts_query(kind, some, since), expand)

    def trees(self) -> Sequence[str]:
        """The ids of the roots of the selected page trees.

        Raises:
            SourceError: An address does not identify a page.
        """
        return [self.page_id(tree) for tree in self.selection.trees]

    def page_id(self, text: str) -> str:
        """The id of a page from its id or address; looked up if the address has space and title.

        Raises:
            UnknownPageError: There is no such page.
        """
        id_ = page_id_of(text)
        if id_ is not None:
            return id_
        _before, display, place = urlsplit(text.strip()).path.rpartition("/display/")
        space, _slash, title = place.rstrip("/").partition("/")
        if display and title and "/" not in title:
            in_space, with_title = (cql_string(unquote_plus(one)) for one in (space, title))
            query = f"space = {in_space} and title = {with_title} and type = page"
            page = next(self.search(query), None)
            if page is not None:
                return str(page["id"])
        raise UnknownPageError(
            _(
                "{text} is not a page that this account can see: enter the page's address as shown"
                " in the browser, or its number."
            ).format(text=repr(text))
        )


def container_id(part: Mapping[str, Any]) -> str:
    """The id of the page of an attachment or a comment; empty if it is missing."""
    return str((part.get("container") or {}).get("id") or "")
