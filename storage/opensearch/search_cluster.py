"""The indexes of one library on a cluster, and the alias that names the active one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from domain.messages import _
from storage.ledger.index_store import Index
from storage.opensearch.connection import (
    SearchIndexError,
    SearchServer,
    client_errors,
    connect,
    require_suitable,
)
from storage.opensearch.mapping import IndexOptions
from storage.opensearch.passage_index import PassageIndex

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


@dataclass
class SearchCluster:
    """A cluster, used by one library; connects on first use.

    Each index has the name `<alias>-<id of the index>`; `alias` itself names the active one.
    """

    server: SearchServer
    alias: str = "footnote"
    options: IndexOptions = field(default_factory=IndexOptions)
    _is_suitable: bool = field(default=False, init=False)

    @cached_property
    def client(self) -> "OpenSearch":
        """The client, shared by threads."""
        return connect(self.server)

    def passage_index(self, index: Index) -> PassageIndex:
        """The passages of an index, which may not exist yet."""
        return PassageIndex(self.client, self._name(index), options=self.options)

    def require_suitable(self) -> None:
        """Check the server's version and plugins, once per process; see `require_suitable`."""
        if not self._is_suitable:
            require_suitable(self.client)
            self._is_suitable = True

    def require_usable(self, own: Sequence[Index]) -> None:
        """Make sure that a library with these indexes can create another one.

        Raises:
            ConfigError: The server is not suitable.
            SearchIndexError: Another library or program uses the alias.
        """
        self.require_suitable()
        own_targets(self.client, self.alias, self._names(own))

    def publish(self, active: Index, own: Sequence[Index]) -> None:
        """Make the alias name the active index if it exists, and none of the others."""
        if self.passage_index(active).require_own():
            point_alias(self.client, self.alias, self._name(active), self._names(own))

    def delete(self, index: Index) -> None:
        """Delete an index; a missing one is ignored."""
        delete_index(self.client, self._name(index))

    def _names(self, indexes: Sequence[Index]) -> list[str]:
        return [self._name(index) for index in indexes]

    def _name(self, index: Index) -> str:
        return f"{self.alias}-{index.id}"


def point_alias(client: "OpenSearch", alias: str, index: str, own_indexes: Collection[str]) -> None:
    """Make the alias point only to this index, in one step; other indexes of ours lose it.

    Raises:
        SearchServerError: The alias is not usable, or the index is missing.
    """
    targets = own_targets(client, alias, {*own_indexes, index})
    if targets == {index}:
        return
    removals = [{"remove": {"index": old, "alias": alias}} for old in sorted(targets - {index})]
    addition = {"add": {"index": index, "alias": alias}}
    with client_errors():
        client.indices.update_aliases(body={"actions": [*removals, addition]})


def delete_index(client: "OpenSearch", name: str) -> None:
    """Delete an index with its passages; a missing one is ignored."""
    with client_errors():
        client.indices.delete(index=name, ignore_unavailable=True)


def own_targets(client: "OpenSearch", alias: str, own_indexes: Collection[str]) -> set[str]:
    """The indexes to which the alias points, which must be among ours; none if it is unused.

    Call it also to make sure that the alias can be used.

    Raises:
        SearchIndexError: It is the name of an index, or belongs to another library or program.
    """
    with client_errors():
        targets = set(client.indices.get_alias(index=alias, ignore_unavailable=True))
    if alias in targets:
        raise SearchIndexError(
            _(
                "{name} is the name of an index on the OpenSearch server, so it can't be an alias:"
                " choose another FOOTNOTE_SEARCH_INDEX, or delete that index."
            ).format(name=alias)
        )
    if foreign := sorted(targets - set(own_indexes)):
        raise SearchIndexError(
            _(
                "The alias {name} on the OpenSearch server belongs to another library or program"
                " (its index is {index}): choose another FOOTNOTE_SEARCH_INDEX."
            ).format(name=alias, index=", ".join(foreign))
        )
    return targets
