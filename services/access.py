"""Determines which sources and documents a user may read, and requires roles for changes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from domain import Principal, Role
from domain.errors import ForbiddenError, NotFoundError
from domain.messages import _
from storage.ledger.import_store import source_not_found
from storage.ledger.restriction_store import (
    Denied,
    Readers,
    Restrictions,
    collection_restriction,
    source_restriction,
)
from storage.ledger.source_store import Sources, StoredSource

OWNER = "user_id"
"""The option of a source with the user whose conversation it belongs to."""
NOTHING = Denied(frozenset(), frozenset())
SourceDocument = tuple[str, str]
"""A source id and the key of a document in that source."""


class Readable(NamedTuple):
    """What a principal may read: `sources` by id, sorted by name, without `denied` documents.

    `hidden` are the ids of all other sources.
    """

    sources: Mapping[str, StoredSource]
    hidden: tuple[str, ...] = ()
    denied: Denied = NOTHING

    def includes(self, source_id: str, document_id: str) -> bool:
        """Whether the document of that source is readable."""
        return source_id in self.sources and document_id not in self.denied.documents


@dataclass(frozen=True)
class Access:
    """What principals may read, as of each call.

    A source is readable if it is shared or the principal's own, and if the principal is a reader of
    it and of its collection, unless these have no restriction. A document is readable if its source
    is, and if the principal is a reader in each of the document's own restrictions.
    """

    sources: Sources
    restrictions: Restrictions

    def readable(self, principal: Principal) -> Readable:
        """Everything that the principal may read."""
        denied, sources = self.denied(principal), self.sources.list()
        readable = {one.id: one for one in sources if _reads(principal, one, denied)}
        hidden = tuple(one.id for one in sources if one.id not in readable)
        return Readable(readable, hidden, denied)

    def own_sources(self, principal: Principal) -> Mapping[str, StoredSource]:
        """The readable sources by id, sorted by name."""
        return self.readable(principal).sources

    def library_sources(self, principal: Principal) -> dict[str, StoredSource]:
        """The readable sources except the files of conversations, by id, sorted by name."""
        own = self.own_sources(principal)
        return {id_: one for id_, one in own.items() if not one.conversation_id}

    def shared_sources(self) -> list[StoredSource]:
        """All sources except the files of conversations, sorted by name, whoever may read them."""
        return [one for one in self.sources.list() if not one.conversation_id]

    def readers(self, principal: Principal) -> Readers:
        """The readers that stand for the principal in a query; None for the operator."""
        return None if principal.is_operator else principal.readers

    def denied(self, principal: Principal) -> Denied:
        """The restrictions that exclude the principal, and the documents that have one of them."""
        readers = self.readers(principal)
        return NOTHING if readers is None else self.restrictions.denied(readers)

    def sees(self, principal: Principal, source_id: str) -> bool:
        """Whether the source exists and is readable."""
        return self._sees(principal, source_id, self.denied(principal))

    def _sees(self, principal: Principal, source_id: str, denied: Denied) -> bool:
        try:
            return _reads(principal, self.sources.get(source_id), denied)
        except NotFoundError:
            return False

    def unreadable(self, principal: Principal, ids: Iterable[str]) -> set[str]:
        """Those of the documents and sources that the principal may not read.

        A document that was removed counts if it had a restriction that excludes the principal.
        """
        ids = set(ids)
        if not ids:
            return ids
        readable = self.readable(principal)
        sources = self.sources.of_documents(sorted(ids))
        elsewhere = {id_ for id_, source in sources.items() if source not in readable.sources}
        return elsewhere | ids.intersection(readable.hidden) | (ids & readable.denied.documents)

    def readable_documents(self, principal: Principal, document_ids: Iterable[str]) -> set[str]:
        """Those of the documents that are in the library, and that the principal may read."""
        readable = self.readable(principal)
        sources = self.sources.of_documents(sorted(set(document_ids)))
        return {id_ for id_, source in sources.items() if readable.includes(source, id_)}

    def managed_sources(self, principal: Principal) -> dict[str, StoredSource]:
        """The sources that the principal may change, and whose imports and failures they see.

        These are all readable ones for an editor, and their own files of conversations for anyone.
        """
        own = self.own_sources(principal)
        is_editor = principal.role.includes(Role.EDITOR)
        return {id_: one for id_, one in own.items() if is_editor or _is_own(principal, one)}

    def managed_source(self, principal: Principal, source_id: str) -> StoredSource:
        """One of the `managed_sources`.

        Raises:
            NotFoundError: There is no such source, or it is not readable.
            ForbiddenError: The principal's role does not permit changes.
        """
        source = self.own_sources(principal).get(source_id)
        if source is None:
            raise source_not_found(source_id)
        if not _is_own(principal, source):
            require_role(principal, Role.EDITOR)
        return source

    def reads(self, principal: Principal, source_id: str, document_id: str) -> bool:
        """Whether the document of that source is readable."""
        denied = self.denied(principal)
        return document_id not in denied.documents and self._sees(principal, source_id, denied)


def _reads(principal: Principal, source: StoredSource, denied: Denied) -> bool:
    if source.options.get(OWNER) is not None:
        return _is_own(principal, source)  # its collection is the title of a conversation
    names = {source_restriction(source.id), collection_restriction(source.collection)}
    return denied.restrictions.isdisjoint(names)


def _is_own(principal: Principal, source: StoredSource) -> bool:
    return source.options.get(OWNER) == principal.user_id


def require_role(principal: Principal, role: Role) -> None:
    """Check that the principal has the role, or one that includes it.

    Raises:
        ForbiddenError: It has a lower role.
    """
    if not principal.role.includes(role):
        raise ForbiddenError(
            _(
                "This needs the role {role}, and you have the role {own}: ask an administrator."
            ).format(role=role.value, own=principal.role.value)
        )


def owner_of(source: StoredSource, otherwise: Principal) -> Principal:
    """The owner of the source, or `otherwise` if it is shared."""
    user_id = source.options.get(OWNER)
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
