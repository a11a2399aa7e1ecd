"""Who may add folders of the server: sources that others may not read can be in the same place."""

from pathlib import Path

from domain import Principal, Role
from domain.errors import ForbiddenError
from domain.messages import _
from services.access import Access
from storage.ledger.source_store import StoredSource

DIRECTORY = "directory"


def require_permitted(access: Access, principal: Principal, *paths: Path) -> None:
    """Check that no source at a path, above it, or below it has documents that are hidden.

    Raises:
        ForbiddenError: One has, and the principal is no administrator.
    """
    if principal.role.includes(Role.ADMIN):
        return
    hidden = _partly_hidden(access, principal)
    for path in paths:
        if any(_overlaps(one, path) for one in hidden):
            raise ForbiddenError(
                _(
                    "{path} contains documents that you may not read, or is in a folder with"
                    " such documents: ask an administrator to add it, or choose another one."
                ).format(path=path)
            )


def readable_overlaps(access: Access, principal: Principal, path: Path) -> list[StoredSource]:
    """The readable folders that contain the path or are in it, without the path itself."""
    return [
        one
        for one in access.own_sources(principal).values()
        if one.kind == DIRECTORY and one.location != str(path) and _overlaps(one, path)
    ]


def _partly_hidden(access: Access, principal: Principal) -> list[StoredSource]:
    """The sources with at least one document that the principal may not read."""
    readable, sources = access.own_sources(principal), access.sources
    with_hidden = sources.with_hidden_documents(access.readers(principal))
    return [one for one in sources.list() if one.id not in readable or one.id in with_hidden]


def _overlaps(source: StoredSource, path: Path) -> bool:
    folder = _folder(source)
    return folder is not None and (folder.is_relative_to(path) or path.is_relative_to(folder))


def _folder(source: StoredSource) -> Path | None:
    if source.is_catalog:
        return Path(source.location).parent  # of its description and usually its data
    return Path(source.location) if source.kind == DIRECTORY else None
