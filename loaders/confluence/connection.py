"""What a test of the connection tells: who is signed in, what is seen, what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from loaders.confluence.answers import ContentRefusedError
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.site import Site, SpaceState, UnknownPageError
from loaders.confluence.wanted import Scope, Wanted

SHOWN_SPACES = 20
_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class Connection:
    """`spaces` are the keys of the first 20 that are seen, of `space_count` (counted up to 1000).

    `missing` are the spaces and pages that were asked for and are not seen, each as it was given.
    """

    user: str
    spaces: tuple[str, ...]
    space_count: int
    missing: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Who is signed in, and what this account sees."""
        keys = ", ".join(self.spaces)
        more = ", ..." if self.space_count > len(self.spaces) else ""
        count = f"more than {_COUNTED}" if self.space_count > _COUNTED else str(self.space_count)
        return (
            f"Signed in as {self.user}.",
            f"Spaces this account sees: {count} ({keys}{more})." if keys else _NO_SPACES,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is missing, and what to do about it."""
        return tuple(
            f"{name} is not seen by this account: check how it is written, and the permission."
            for name in self.missing
        )


def connection(client: ConfluenceClient, wanted: Wanted) -> Connection:
    """Ask who is signed in, which spaces there are, and for each space and page that is wanted.

    Raises:
        SourceError: There is no Confluence, or it does not take these credentials.
        SourceUnavailableError: It can't be reached now.
    """
    site = Site(client, wanted)
    user = site.user()
    keys = [str(space.get("key", "")) for space in islice(site.spaces(), _COUNTED + 1)]
    return Connection(user, tuple(keys[:SHOWN_SPACES]), len(keys), tuple(_missing(site)))


def _missing(site: Site) -> Iterator[str]:
    wanted = site.wanted
    if wanted.scope == Scope.SPACES:
        yield from (key for key in wanted.spaces if site.state_of(key) == SpaceState.HIDDEN)
    if wanted.scope == Scope.TREES:
        yield from (tree for tree in wanted.trees if not _is_seen(site, tree))


def _is_seen(site: Site, tree: str) -> bool:
    try:
        page = site.content(site.page_id(tree), "version")
    except (ContentRefusedError, UnknownPageError):
        return False
    return page.get("status") != "trashed"


_NO_SPACES = "This account sees no space at all: have it given the permission to view some."
