"""Who may read sources and collections, with the mirrored permissions of their documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from domain import Account, DocumentFilter, Principal, Role
from services.access import Access, require_role
from services.reader_names import Readers
from services.sources.permission_service import PermissionService, SourceReaders
from storage.ledger.account_store import Accounts
from storage.ledger.document_list_store import DocumentList
from storage.ledger.restriction_store import collection_restriction, source_restriction
from storage.ledger.source_store import StoredSource, mirrors_permissions

_SHOWN = 20


class ListedSource(NamedTuple):
    """A source, the number of its documents, and its readers; None is everyone."""

    id: str
    name: str
    collection: str
    documents: int
    readers: Readers | None


class Shared(NamedTuple):
    """The sources by name, and the readers by collection; files of conversations are omitted."""

    sources: Sequence[ListedSource]
    collections: Mapping[str, Readers | None]


class ReaderLists(NamedTuple):
    """The readers of documents with the same permissions: a person must be in each of the lists."""

    lists: tuple[Readers, ...]
    documents: int


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Who may read a source and its documents.

    `people` are the accounts that are not disabled and that the readers of source and collection
    include, by name, out of `accounts`; e-mail addresses count as if the provider had verified
    them. Of the `documents`, those without permissions of their own are `unrestricted`, and
    `hidden` are those whose permissions admit nobody. `permissions` are the most frequent of all
    others, and `other` is the number of documents with further ones.
    """

    readers: SourceReaders
    people: Sequence[Account]
    accounts: int
    documents: int
    unrestricted: int
    hidden: int
    permissions: Sequence[ReaderLists]
    other: int
    mirrors_permissions: bool


@dataclass(frozen=True)
class ReaderReports:
    """The readers of everything, for administrators, whatever they may read themselves.

    Each call raises ForbiddenError for other principals.
    """

    access: Access
    permissions: PermissionService
    accounts: Accounts
    documents: DocumentList

    def list(self, principal: Principal) -> Shared:
        """All shared sources and collections with their readers."""
        require_role(principal, Role.ADMIN)
        figures, readers = self.access.sources.figures(), self.access.restrictions.all()
        shared = self.access.shared_sources()
        counts = {id_: one.documents for id_, one in figures.items()}
        sources = [
            ListedSource(
                one.id,
                _name(one),
                one.collection,
                counts.get(one.id, 0),
                _sorted(readers.get(source_restriction(one.id))),
            )
            for one in shared
        ]
        names = sorted({one.collection for one in shared})
        collections = {one: _sorted(readers.get(collection_restriction(one))) for one in names}
        return Shared(sources, collections)

    def source_names(self, principal: Principal) -> Mapping[str, str]:
        """The names of all shared sources by id."""
        require_role(principal, Role.ADMIN)
        return {one.id: _name(one) for one in self.access.shared_sources()}

    def report(self, principal: Principal, source_id: str) -> SourceReport:
        """Who may read a source.

        Raises:
            NotFoundError: There is no such source.
        """
        require_role(principal, Role.ADMIN)
        readers = self.permissions.who(principal, source_id)
        active = [one for one in self.accounts.list() if one.disabled_at is None]
        documents = self.documents.count(DocumentFilter(sources=(source_id,)))
        counts = self.access.restrictions.counts_of(source_id)
        hidden = sum(n for sets, n in counts.items() if frozenset() in sets)
        lists = [
            ReaderLists(_lists(sets), n) for sets, n in counts.items() if frozenset() not in sets
        ]
        lists.sort(key=_frequency)
        return SourceReport(
            readers,
            [one for one in active if _is_admitted(one, readers)],
            len(active),
            documents,
            documents - counts.total(),
            hidden,
            lists[:_SHOWN],
            sum(one.documents for one in lists[_SHOWN:]),
            mirrors_permissions(self.access.sources.get(source_id).options),
        )


def _name(source: StoredSource) -> str:
    return source.name or source.location


def _sorted(readers: frozenset[str] | None) -> Readers | None:
    return None if readers is None else tuple(sorted(readers))


def _lists(sets: frozenset[frozenset[str]]) -> tuple[Readers, ...]:
    return tuple(sorted(tuple(sorted(one)) for one in sets))


def _frequency(lists: ReaderLists) -> tuple[int, tuple[Readers, ...]]:
    return -lists.documents, lists.lists


def _is_admitted(account: Account, readers: SourceReaders) -> bool:
    own = replace(account.principal, email=account.email).readers
    return all(each is None or not own.isdisjoint(each) for each in readers)
