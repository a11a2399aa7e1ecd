"""Who may add folders of the server: sources that others may not read can be in the same place."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from domain import Principal, Role
from domain.errors import ForbiddenError
from domain.messages import _
from services.access import Access
from storage.ledger.source_store import StoredSource

DIRECTORY = "directory"


@dataclass(frozen=True)
class ServerFolders:
    """The folders of sources on the machine that runs Footnote."""

    access: Access

    def require_permitted(self, principal: Principal, path: Path) -> None:
        """Check that no source at the path, above it, or below it has documents that are hidden.

        Raises:
            ForbiddenError: One has, and the principal is no administrator.
        """
        if principal.role.includes(Role.ADMIN):
            return
        hidden = self._partly_hidden(principal)
        if any(one.id in hidden for one in self._overlapping(path)):
            raise ForbiddenError(
                _(
                    "{path} contains documents that you may not read, or is in a folder with such"
                    " documents: ask an administrator to add it, or choose another one."
                ).format(path=path)
            )

    def readable_overlaps(self, principal: Principal, path: Path) -> list[StoredSource]:
        """The readable folders that contain the path or are in it, without the path itself."""
        own = self.access.own_sources(principal)
        return [
            one
            for one in self._overlapping(path)
            if one.id in own and one.kind == DIRECTORY and one.location != str(path)
        ]

    def _overlapping(self, path: Path) -> Iterator[StoredSource]:
        for one in self.access.sources.list():
            folder = _folder(one)
            if folder and (folder.is_relative_to(path) or path.is_relative_to(folder)):
                yield one

    def _partly_hidden(self, principal: Principal) -> set[str]:
        readable = self.access.readable(principal)
        documents = sorted(readable.denied.documents)
        return {*readable.hidden, *self.access.sources.of_documents(documents).values()}


def _folder(source: StoredSource) -> Path | None:
    if source.is_catalog:
        return Path(source.location).parent  # of its description and usually its data
    return Path(source.location) if source.kind == DIRECTORY else None
