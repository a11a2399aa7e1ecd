"""The groups that the program knows, their members, and what names them as readers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain import Account, Principal, Role
from domain.people import group_reader
from services.access import Access, require_role
from storage.ledger.account_store import Accounts
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.restriction_store import collection_restriction, source_restriction

_PREFIX = group_reader("")
_NONE = frozenset[str]()
_Restrictions = Mapping[str, frozenset[str]]
_Named = Sequence[tuple[str, frozenset[str]]]
"""Names of sources or collections, and their readers."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group, the number of accounts in it, and the sources and collections that name it.

    What has no readers is not among them, although the members may read it like everyone.
    """

    name: str
    members: int
    sources: tuple[str, ...]
    collections: tuple[str, ...]


class GroupDetails(NamedTuple):
    """The accounts in a group by name, and its documents.

    These are the documents of which permissions of their own name the group, counted by the name
    of their source.
    """

    members: Sequence[Account]
    documents: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class GroupService:
    """The groups of accounts at their latest sign-in, of API keys, and among readers.

    Each call raises ForbiddenError unless the principal is an administrator.
    """

    accounts: Accounts
    keys: ApiKeys
    access: Access

    def list(self, principal: Principal) -> Sequence[Group]:
        """All groups by name."""
        require_role(principal, Role.ADMIN)
        members, readers = self.accounts.group_sizes(), self.access.restrictions.all()
        sources, collections = self._restricted(readers)
        return [
            Group(name, members[name], _of(sources, name), _of(collections, name))
            for name in sorted(self._names(members, readers))
        ]

    def names(self, principal: Principal) -> Sequence[str]:
        """The names of all groups, sorted."""
        require_role(principal, Role.ADMIN)
        return sorted(self._names(self.accounts.group_sizes(), self.access.restrictions.all()))

    def details(self, principal: Principal, name: str) -> GroupDetails:
        """The members of a group and its documents; both are empty if it is unknown."""
        require_role(principal, Role.ADMIN)
        counts = self.access.restrictions.document_counts(group_reader(name))
        shared = self.access.shared_sources()
        documents = [(one.name, counts[one.id]) for one in shared if one.id in counts]
        return GroupDetails([one for one in self.accounts.list() if name in one.groups], documents)

    def _names(self, members: Iterable[str], readers: _Restrictions) -> set[str]:
        of_keys = (group for one in self.keys.list() for group in one.groups)
        named = {reader for each in readers.values() for reader in each}
        groups = (one.removeprefix(_PREFIX) for one in named if one.startswith(_PREFIX))
        return {*members, *of_keys, *groups}

    def _restricted(self, readers: _Restrictions) -> tuple[_Named, _Named]:
        """The sources and the collections with their readers, which are empty without a list."""
        shared = self.access.shared_sources()
        sources = [(one.name, readers.get(source_restriction(one.id), _NONE)) for one in shared]
        collections = [
            (name, readers.get(collection_restriction(name), _NONE))
            for name in sorted({one.collection for one in shared})
        ]
        return sources, collections


def _of(readers: _Named, group: str) -> tuple[str, ...]:
    return tuple(name for name, each in readers if group_reader(group) in each)
