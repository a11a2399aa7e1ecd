"""Which sources a person may look into, and the documents named within them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from domain import Principal, QueuedImport
from errors import NotFoundError
from storage.sources import Sources, StoredSource

_OWNER = "user_id"
Named = tuple[str, str]
"""A source's id and a document's key in it."""


class Queue(Protocol):
    """Takes imports to be done."""

    def enqueue(
        self,
        principal: Principal,
        source_id: str,
        *,
        keys: Sequence[str] = (),
        confirm_removals: bool = False,
    ) -> QueuedImport:
        """An import confined to these keys, to be done as soon as may be."""


def own_sources(sources: Sources, principal: Principal) -> dict[str, StoredSource]:
    """By id, the sources that are everybody's or the principal's own; sorted by name."""
    return {one.id: one for one in sources.list() if _is_seen(one, principal)}


def sees(sources: Sources, principal: Principal, source_id: str) -> bool:
    """Whether there is such a source, and it is everybody's or the principal's own."""
    try:
        return _is_seen(sources.get(source_id), principal)
    except NotFoundError:
        return False


def _is_seen(source: StoredSource, principal: Principal) -> bool:
    return source.options.get(_OWNER) in (None, principal.user_id)


def owner_of(source: StoredSource, otherwise: Principal) -> Principal:
    """Whose source it is; `otherwise` where it is everybody's."""
    user_id = source.options.get(_OWNER)
    return Principal(user_id) if user_id else otherwise


def by_source(own: Iterable[str], named: Iterable[Named]) -> dict[str, list[str]]:
    """The keys by source; those of other sources than the `own` are left out."""
    known, keys = set(own), defaultdict[str, list[str]](list)
    for source_id, key in named:
        if source_id in known:
            keys[source_id].append(key)
    return dict(keys)
