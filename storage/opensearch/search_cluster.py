"""The indexes of one library on a cluster, and the alias of the active one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from storage.ledger.index_store import Index
from storage.opensearch.aliases import delete_index, point_alias, require_usable_name
from storage.opensearch.connection import SearchServer, connect, require_suitable
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
            SearchServerError: Another library or program uses the alias.
        """
        self.require_suitable()
        require_usable_name(self.client, self.alias, self._names(own))

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
