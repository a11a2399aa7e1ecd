"""Asks one Confluence site, with patience for its limits and faults."""

import random
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from domain import Wait
from errors import SourceError, SourceUnavailableError, UnreadableError
from loaders.confluence.answers import (
    PassingError,
    data_of,
    login_page,
    refuse,
)
from loaders.confluence.login import Login, LoginKind, is_gateway, site_url

if TYPE_CHECKING:  # slow
    from atlassian.rest_client import AtlassianRestAPI
    from requests import Response

ATTEMPTS = 6
LONGEST_PAUSE = 60.0
LONGEST_ASKED_PAUSE = 300.0
WHO = "rest/api/user/current"
_EMPTY_IN_A_ROW = 50
_BLOCK = 2**18

Asked = TypeVar("Asked")


class ConfluenceClient:
    """One site, asked as one account.

    Every request is tried at most 6 times; in between it waits as long as Confluence asks for, else
    ever longer (at most 60 seconds). Asked for more than 300 seconds it gives up at once.
    """

    def __init__(self, url: str, login: Login, wait: Wait) -> None:
        """Take any address of the site.

        Raises:
            SourceError: It is no address.
        """
        self.url = site_url(url)
        self.is_cloud = login.kind == LoginKind.CLOUD
        self._shown_url = self.url
        self._login = login
        self._wait = wait

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object at a path below the site's address.

        Raises:
            ContentRefusedError: Confluence refuses it: 400, 403, 404 ...
            SourceError: Wrong credentials, or a page to sign in came.
            SourceUnavailableError: No attempt brought an answer.
        """
        return self._patiently(lambda: self._data(path, params), ATTEMPTS)

    def content(self, content_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """A page, a blog post or an attachment by its id.

        Raises:
            SourceError: As `get`.
        """

        def asked() -> dict[str, Any]:
            data = self._data(f"rest/api/content/{content_id}", params)
            if "id" in data:
                return data
            raise PassingError("Confluence's answer was not the page that was asked for")

        return self._patiently(asked, ATTEMPTS)

    def each(self, path: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The entries of a listing, as they come, from as many requests as it has pages.

        Raises:
            SourceError: As `get`; also where the listing leads back to itself or elsewhere.
        """
        page, way = self._page(path, params), _Way(path)
        while True:
            yield from page["results"]
            following = (page.get("_links") or {}).get("next")
            if not following:
                return
            way.goes_on(page["results"], following)
            page = self._page(self._below(following), None)

    def download(self, path: str, *, size: int | None, max_bytes: int) -> bytes:
        """A file, which has `size` bytes if that is known.

        Raises:
            UnreadableError: It is larger than `max_bytes`.
            SourceError: As `get`.
        """
        below = self._below(path)
        return self._patiently(
            lambda: self._reached(lambda: self._file(below, size, max_bytes)), ATTEMPTS
        )

    def answers(self) -> bool:
        """Whether the site answers at all now; asked at most three times."""
        try:
            self._patiently(lambda: self._data(WHO, None), 3)
        except SourceUnavailableError:
            return False
        return True

    def address(self, link: str) -> str:
        """What a person opens, from a link as Confluence gives it."""
        return link if urlsplit(link).scheme else f"{self._shown_url}/{link.lstrip('/')}"

    @cached_property
    def _api(self) -> "AtlassianRestAPI":
        from loaders.confluence.session import connected  # slow

        return connected(self.url, self._login)

    def _page(self, path: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        def asked() -> dict[str, Any]:
            data = self._data(path, params)
            entries = data.get("results")
            if isinstance(entries, list) and all(map(_has_id, entries)):
                return data
            raise PassingError("Confluence's answer was not the listing that was asked for")

        return self._patiently(asked, ATTEMPTS)

    def _data(self, path: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        told = None if params is None else dict(params)
        response = self._reached(lambda: self._api.get(path, params=told, advanced_mode=True))
        data = data_of(response, self.url)
        base = (data.get("_links") or {}).get("base")
        if is_gateway(self.url) and base:  # nobody opens a page at the address of the API
            self._shown_url = str(base).rstrip("/")
        return data

    def _file(self, path: str, size: int | None, max_bytes: int) -> bytes:
        from loaders.confluence.session import TIMEOUTS, session_of  # slow

        session = session_of(self._api)
        with session.get(f"{self.url}/{path}", stream=True, timeout=TIMEOUTS) as response:
            refuse(response, self.url)
            data = _received(response, max_bytes)
        if size is None or len(data) == size:
            return data
        if "html" in response.headers.get("Content-Type", "") and data[:1] == b"<":
            raise SourceError(login_page(self.url))
        raise PassingError(f"only {len(data)} of the {size} bytes of a file arrived")

    def _reached(self, ask: Callable[[], Asked]) -> Asked:
        """What was asked for, with what the network does in the way told for people."""
        from requests import exceptions  # slow

        try:
            return ask()
        except exceptions.SSLError as error:
            raise SourceError(
                f"The certificate of {self.url} is not trusted: check the address, or have the"
                " certificate's authority added to this computer."
            ) from error
        except exceptions.Timeout as error:
            raise PassingError(f"{self.url} did not answer in time") from error
        except (exceptions.ConnectionError, exceptions.ChunkedEncodingError) as error:
            raise PassingError(
                f"{self.url} can't be reached, or broke off: check the address and the network"
            ) from error
        except exceptions.ContentDecodingError as error:
            raise PassingError("Confluence's answer was cut off or broken") from error
        except exceptions.RequestException as error:
            told = type(error).__name__
            raise SourceError(f"{self.url} can't be asked ({told}): check the address.") from error

    def _patiently(self, ask: Callable[[], Asked], attempts: int) -> Asked:
        for attempt in range(1, attempts):
            try:
                return ask()
            except PassingError as passing:
                if passing.after is not None and passing.after > LONGEST_ASKED_PAUSE:
                    raise passing.error from passing  # others need not wait that long as well
                self._wait(_pause(attempt, passing.after), passing.why)
        try:
            return ask()
        except PassingError as passing:
            raise passing.error from passing

    def _below(self, link: str) -> str:
        """A link of an answer as a path below the site's address.

        Raises:
            SourceError: It leads elsewhere.
        """
        if link.startswith(f"{self.url}/"):
            return link[len(self.url) + 1 :]
        if link.startswith("//") or urlsplit(link).scheme:
            raise SourceError(f"{self.url} leads elsewhere in the middle of a listing: {link}")
        context = urlsplit(self.url).path
        if context and link.startswith(f"{context}/"):
            link = link[len(context) :]
        return link.lstrip("/")


def _has_id(entry: Any) -> bool:
    return isinstance(entry, dict) and "id" in entry


def _received(response: "Response", max_bytes: int) -> bytes:
    data = bytearray()
    for block in response.iter_content(_BLOCK):
        data += block
        if len(data) > max_bytes:
            limit = max_bytes / 2**20
            raise UnreadableError(f"the file is larger than the limit of {limit:.1f} MiB: split it")
    return bytes(data)


def _pause(attempt: int, after: float | None) -> float:
    """Seconds until the next attempt: as asked for, else 1, 2, 4 ... give or take half of it."""
    if after is not None:
        return after
    return min(2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.5)  # noqa: S311


class _Way:
    """The way through a listing, which must not lead in a circle."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._followed: set[str] = set()
        self._last: list[str] = []
        self._empty = 0

    def goes_on(self, entries: list[dict[str, Any]], following: str) -> None:
        """Note what came, and what follows.

        Raises:
            SourceError: It follows a second time, or brings nothing but what came already.
        """
        ids = [str(entry["id"]) for entry in entries]
        self._empty = 0 if ids else self._empty + 1
        comes_again = (ids and ids == self._last) or self._empty > _EMPTY_IN_A_ROW
        if comes_again or following in self._followed:
            raise SourceError(
                f"The listing {self._path} of Confluence leads back to where it was ({following}):"
                " nothing is imported from half a listing. Try again later."
            )
        self._followed.add(following)
        self._last = ids
