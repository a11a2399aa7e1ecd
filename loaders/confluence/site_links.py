"""Where the links of pages lead on their site, and who is mentioned: without a request a link."""

from urllib.parse import quote, quote_plus

from loaders.confluence.answers import ContentRefusedError
from loaders.confluence.client import ConfluenceClient


class Users:
    """The names of people, each asked for once."""

    def __init__(self, client: ConfluenceClient) -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def name(self, account: str) -> str:
        """The display name by account id (Cloud), user key or user name; "" where unknown.

        Raises:
            SourceUnavailableError: It can't be told now.
        """
        if account not in self._names:
            fields = ("accountId",) if self._client.is_cloud else ("key", "username")
            self._names[account] = next(filter(None, (self._ask(f, account) for f in fields)), "")
        return self._names[account]

    def _ask(self, field: str, account: str) -> str:
        try:
            user = self._client.get("rest/api/user", {field: account})
        except ContentRefusedError:
            return ""  # who left is no reason to do without the page
        return str(user.get("displayName") or "")


class SiteLinks:
    """What one page's links, mentions and files name; see `storage_format.Links`."""

    def __init__(self, client: ConfluenceClient, users: Users, page_id: str, space: str) -> None:
        """Take the id of the page that is read and the key of its space."""
        self._client = client
        self._users = users
        self._page_id = page_id
        self._space = space

    def page(self, space_key: str | None, title: str, anchor: str) -> str:
        """The address by space and title, which Cloud and Server both know."""
        told = f"#{quote(anchor)}" if anchor else ""
        return self._client.address(f"display/{self._key(space_key)}/{quote_plus(title)}{told}")

    def blog_post(self, space_key: str | None, title: str, day: str) -> str:
        """The address by space, day and title."""
        return self.page(space_key, title, "") if not day else self._post(space_key, title, day)

    def content(self, content_id: str) -> str:
        """The address by id."""
        return self._client.address(f"pages/viewpage.action?pageId={quote(content_id)}")

    def attachment(self, filename: str, page_title: str | None, space_key: str | None) -> str:
        """The file on this page; on another one the page itself, whose id is not known."""
        if page_title is not None:
            return self.page(space_key, page_title, "")
        return self._client.address(f"download/attachments/{self._page_id}/{quote(filename)}")

    def space(self, space_key: str) -> str:
        """The space's home."""
        return self._client.address(f"display/{quote(space_key)}")

    def user(self, account: str) -> str:
        """The person's display name."""
        return self._users.name(account)

    def _post(self, space_key: str | None, title: str, day: str) -> str:
        place = f"{self._key(space_key)}/{quote(day)}/{quote_plus(title)}"
        return self._client.address(f"display/{place}")

    def _key(self, space_key: str | None) -> str:
        return quote(space_key or self._space, safe="~")
