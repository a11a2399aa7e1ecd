"""Requests to one Confluence site: JSON, listings, and files, with retries."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain import Wait, is_on_web
from domain.errors import SourceError, SourceUnavailableError, UnreadableError
from domain.messages import _
from domain.web.address_guard import AddressGuard
from loaders.confluence.confluence_login import Login, LoginKind, is_gateway, rest_client, site_url
from loaders.confluence.responses import data_of, login_page, refuse
from loaders.document_reader import over_limit
from loaders.retries import RetryPolicy, TransientError

if TYPE_CHECKING:  # slow
    from atlassian.rest_client import AtlassianRestAPI
    from requests import Response

MAX_RETRY_AFTER_S = 300.0
WHO = "rest/api/user/current"
_EMPTY_IN_A_ROW = 50
_BLOCK = 2**18


class ConfluenceClient:
    """A site accessed with one account; `RetryPolicy` describes the retries."""

    def __init__(self, url: str, login: Login, wait: Wait, guard: AddressGuard) -> None:
        """Create a client from any address of the site, which the guard must permit.

        Raises:
            SourceError: The address is invalid.
        """
        self.url = site_url(url)
        self.is_cloud = login.kind == LoginKind.CLOUD
        self._shown_url = self.url
        self._login = login
        self._guard = guard
        self._retries = RetryPolicy(wait, MAX_RETRY_AFTER_S)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object at a path below the site's address.

        Raises:
            ContentRefusedError: Confluence rejected the request (400, 403, 404 ...).
            SourceError: The credentials are wrong, or the response is a login page.
            SourceUnavailableError: All attempts failed.
        """
        return self._retries.with_retries(lambda: self._data(path, params))

    def content(self, content_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """A page, blog post, or attachment by its id.

        Raises:
            SourceError: See `get`.
        """

        def fetch() -> dict[str, Any]:
            data = self._data(f"rest/api/content/{content_id}", params)
            if "id" in data:
                return data
            raise TransientError(_("Confluence did not return the requested page"))

        return self._retries.with_retries(fetch)

    def values(self, path: str) -> list[dict[str, Any]]:
        """The JSON objects in the array at a path; raises like `get`."""
        return self._retries.with_retries(
            lambda: data_of(self._response(path, None), self.url, list)
        )

    def each(
        self, path: str, params: Mapping[str, Any], *, identity: str = "id"
    ) -> Iterator[dict[str, Any]]:
        """Yield the entries of a listing, which is requested page by page.

        `identity` is the field that identifies an entry.

        Raises:
            SourceError: See `get`; also if the listing loops or points to another site.
        """
        page, guard = self._page(path, params, identity), _ListingGuard(path, identity)
        while True:
            yield from page["results"]
            following = (page.get("_links") or {}).get("next")
            if not following:
                return
            guard.follow(page["results"], following)
            page = self._page(self._below(following), None, identity)

    def download(self, path: str, *, size: int | None, max_bytes: int) -> bytes:
        """Download a file; `size` is its expected size in bytes, if known.

        Raises:
            UnreadableError: The file is larger than `max_bytes`.
            SourceError: See `get`.
        """
        below = self._below(path)
        return self._retries.with_retries(lambda: self._file(below, size, max_bytes))

    def answers(self) -> bool:
        """Whether the site responds at all; makes at most three attempts."""
        try:
            self._retries.with_retries(lambda: self._data(WHO, None), 3)
        except SourceUnavailableError:
            return False
        return True

    def address(self, link: str) -> str:
        """The address that a user can open, from a link in a response.

        A link that is neither http nor https, such as `javascript:`, is a path below the site.
        """
        return link if is_on_web(link) else f"{self._shown_url}/{link.lstrip('/')}"

    @cached_property
    def _api(self) -> "AtlassianRestAPI":
        return rest_client(self.url, self._login, self._guard)

    def _page(self, path: str, params: Mapping[str, Any] | None, identity: str) -> dict[str, Any]:
        def fetch() -> dict[str, Any]:
            data = self._data(path, params)
            entries = data.get("results")
            if isinstance(entries, list) and all(
                isinstance(one, dict) and identity in one for one in entries
            ):
                return data
            raise TransientError(_("Confluence did not return the requested list"))

        return self._retries.with_retries(fetch)

    def _response(self, path: str, params: Mapping[str, Any] | None) -> "Response":
        query = None if params is None else dict(params)
        with self._errors_for_users():
            response: Response = self._api.get(path, params=query, advanced_mode=True)
        return response

    def _data(self, path: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        data: dict[str, Any] = data_of(self._response(path, params), self.url)
        base = str((data.get("_links") or {}).get("base") or "")
        if is_gateway(self.url) and is_on_web(base):  # browsers can't open the gateway's address
            self._shown_url = base.rstrip("/")
        return data

    def _file(self, path: str, size: int | None, max_bytes: int) -> bytes:
        # Not by the library's downloads, which keep whole files in memory.
        session, url = self._api._session, f"{self.url}/{path}"
        with (
            self._errors_for_users(),
            session.get(url, stream=True, timeout=self._api.timeout) as response,
        ):
            refuse(response, self.url)
            data = _receive(response, max_bytes)
        if size is None or len(data) == size:
            return data
        if "html" in response.headers.get("Content-Type", "") and data[:1] == b"<":
            raise SourceError(login_page(self.url))
        raise TransientError(
            _("only {data} of {size} bytes of a file were received").format(
                data=len(data), size=size
            )
        )

    @contextmanager
    def _errors_for_users(self) -> Iterator[None]:
        """Convert network errors to errors with user-facing messages."""
        from requests import exceptions  # slow

        try:
            yield
        except exceptions.SSLError as error:
            raise SourceError(
                _(
                    "The certificate of {url} is not trusted: check the address, or add its"
                    " certificate authority to this computer."
                ).format(url=self.url)
            ) from error
        except exceptions.Timeout as error:
            raise TransientError(_("{url} did not respond in time").format(url=self.url)) from error
        except (exceptions.ConnectionError, exceptions.ChunkedEncodingError) as error:
            raise TransientError(
                _("{url} can't be reached: check the address and the network").format(url=self.url)
            ) from error
        except exceptions.ContentDecodingError as error:
            raise TransientError(_("Confluence's response was incomplete or malformed")) from error
        except exceptions.RequestException as error:
            error_name = type(error).__name__
            raise SourceError(
                _("{url} can't be reached ({error}): check the address.").format(
                    url=self.url, error=error_name
                )
            ) from error

    def _below(self, link: str) -> str:
        """A link in a response as a path below the site's address.

        Raises:
            SourceError: The link points to another site.
        """
        if link.startswith(f"{self.url}/"):
            return link[len(self.url) + 1 :]
        if link.startswith("//") or urlsplit(link).scheme:
            raise SourceError(
                _("{url} continues a list outside this site: {link}").format(
                    url=self.url, link=link
                )
            )
        context = urlsplit(self.url).path
        if context and link.startswith(f"{context}/"):
            link = link[len(context) :]
        return link.lstrip("/")


def _receive(response: "Response", max_bytes: int) -> bytes:
    data = bytearray()
    for block in response.iter_content(_BLOCK):
        data += block
        if len(data) > max_bytes:
            raise UnreadableError(over_limit(max_bytes))
    return bytes(data)


class _ListingGuard:
    """Detects listings that loop."""

    def __init__(self, path: str, identity: str) -> None:
        self._path = path
        self._identity = identity
        self._followed: set[str] = set()
        self._last: list[str] = []
        self._empty = 0

    def follow(self, entries: list[dict[str, Any]], following: str) -> None:
        """Check the entries of a page and the link to the next one.

        Raises:
            SourceError: The link or the entries are repeated.
        """
        ids = [str(entry[self._identity]) for entry in entries]
        self._empty = 0 if ids else self._empty + 1
        comes_again = (ids and ids == self._last) or self._empty > _EMPTY_IN_A_ROW
        if comes_again or following in self._followed:
            raise SourceError(
                _(
                    "The list {path} of Confluence repeats itself ({following}), so nothing"
                    " was imported from it. Try again later."
                ).format(path=self._path, following=following)
            )
        self._followed.add(following)
        self._last = ids
