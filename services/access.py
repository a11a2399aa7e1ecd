"""Determines which sources a user may access."""

from collections import defaultdict
from collections.abc import Iterable

from domain import Principal
from domain.errors import NotFoundError
from storage.ledger.source_store import Sources, StoredSource

_OWNER = "user_id"
SourceDocument = tuple[str, str]
"""A source id and the key of a document in that source."""


def own_sources(sources: Sources, principal: Principal) -> dict[str, StoredSource]:
    """The shared sources and the principal's own, by id, sorted by name."""
    return {one.id: one for one in sources.list() if _is_accessible(one, principal)}


def library_sources(sources: Sources, principal: Principal) -> dict[str, StoredSource]:
    """The principal's sources except the files of conversations, by id, sorted by name."""
    own = own_sources(sources, principal)
    return {id_: one for id_, one in own.items() if not one.conversation_id}


def sees(sources: Sources, principal: Principal, source_id: str) -> bool:
    """Whether the source exists and is either shared or the principal's own."""
    try:
        return _is_accessible(sources.get(source_id), principal)
    except NotFoundError:
        return False


def _is_accessible(source: StoredSource, principal: Principal) -> bool:
    return source.options.get(_OWNER) in (None, principal.user_id)


def owner_of(source: StoredSource, otherwise: Principal) -> Principal:
    """The owner of the source, or `otherwise` if it is shared."""
    user_id = source.options.get(_OWNER)
    return Principal(user_id) if user_id else otherwise


def by_source(
    source_ids: Iterable[str], documents: Iterable[SourceDocument]
) -> dict[str, list[str]]:
    """The document keys by source, for these sources only."""
    allowed, keys = set(source_ids), defaultdict[str, list[str]](list)
    for source_id, key in documents:
        if source_id in allowed:
            keys[source_id].append(key)
    return dict(keys)
