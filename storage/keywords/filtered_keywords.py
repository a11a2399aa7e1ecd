"""Keyword search with filters over the metadata of passages, which the vector store has."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain import Filter
from domain.errors import DamagedIndexError
from storage.keywords.keyword_index import KeywordIndex
from storage.vectors.deep_lake import PassageFiles

if TYPE_CHECKING:
    from storage.vectors.passage_store import DeepLakePassages

Allowed = Callable[[str], bool]
Matching = Callable[[Filter], Allowed]
"""Returns, for a filter, a predicate on passage ids."""


@dataclass
class FilteredKeywords:
    """A keyword index whose passages have their metadata in a vector store.

    `in_ledger` replaces the vector store's filter while that store is damaged. `failures` has the
    reason by store name.

    The predicate of the last condition is reused, because a search and the correction of its
    spelling use the same condition. It does not cover passages that are added later, so an object
    serves one request, or an index that does not change, as in an evaluation.
    """

    keywords: KeywordIndex
    passages: "DeepLakePassages"
    in_ledger: Matching | None = None
    failures: dict[str, str] = field(default_factory=dict)
    _last: tuple[Filter, Allowed] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def search(
        self, query: str, k: int, condition: Filter | None = None
    ) -> list[tuple[str, float]]:
        """`KeywordIndex.search` in the passages that satisfy the condition."""
        return self.keywords.search(query, k, self._allowed_ids(condition))

    def search_tokens(
        self, tokens: Sequence[str], k: int, condition: Filter | None = None
    ) -> list[tuple[str, float]]:
        """`KeywordIndex.search_tokens` in the passages that satisfy the condition."""
        return self.keywords.search_tokens(tokens, k, self._allowed_ids(condition))

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """See `KeywordIndex.idf`."""
        return self.keywords.idf(tokens)

    def counts(self, tokens: Collection[str]) -> dict[str, int]:
        """See `KeywordIndex.counts`."""
        return self.keywords.counts(tokens)

    def tokens_with_prefix(self, prefix: str) -> dict[str, int]:
        """See `KeywordIndex.tokens_with_prefix`."""
        return self.keywords.tokens_with_prefix(prefix)

    def __len__(self) -> int:
        return len(self.keywords)

    def _allowed_ids(self, condition: Filter | None) -> Allowed | None:
        if not condition:
            return None
        last = self._last  # read once: another thread may replace it
        if last is None or last[0] != condition:
            last = self._last = condition, self._evaluate(condition)
        return last[1]

    def _evaluate(self, condition: Filter) -> Allowed:
        try:
            matches = self.passages.allowed(condition)
        except DamagedIndexError as error:
            if self.in_ledger is None:
                raise
            self.failures[PassageFiles.what] = str(error)
            return self.in_ledger(condition)
        self.failures.pop(PassageFiles.what, None)
        return matches
