"""Keyword search in an OpenSearch index: BM25 by Lucene over the tokens of `domain`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain import Filter
from domain.language.tokens import keyword_tokens
from storage.keywords.keyword_index import token_weights, utf8
from storage.ledger.database import in_groups
from storage.opensearch.mapping import Body
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.queries import (
    MAX_CLAUSES,
    count_body,
    prefix_body,
    tokens_query,
    words_body,
)


@dataclass(frozen=True)
class WordIndex:
    """The words of the passages in an index.

    Scores are BM25 with Lucene's k1 = 1.2 and b = 0.75, and equal to those of `KeywordIndex` as
    long as all passages have tokens, because Lucene counts only those. Each shard counts its own
    passages. Replaced and deleted passages count until Lucene merges their segments.
    """

    index: PassageIndex

    def search(
        self, query: str, k: int, condition: Filter | None = None
    ) -> list[tuple[str, float]]:
        """The `k` best matching passages with any of the query's tokens, best first.

        A token that occurs twice in the query counts twice. Of more than 1,000 distinct tokens,
        only the rarest are used.

        Raises:
            ValueError: `k` is not positive, or the filter is invalid.
            SearchServerError: The server failed.
        """
        return self.search_tokens(keyword_tokens(query), k, condition)

    def search_tokens(
        self, tokens: Sequence[str], k: int, condition: Filter | None = None
    ) -> list[tuple[str, float]]:
        """Search by tokens as they are indexed, which must not be stemmed again; see `search`."""
        if k <= 0:
            raise ValueError(f"k must be at least 1, got {k}")
        body = self.body(tokens, k, condition)
        hits = self.index.search(body) if body else []
        return [(hit["_id"], score_of(hit)) for hit in hits]

    def body(self, tokens: Sequence[str], k: int, condition: Filter | None) -> Body | None:
        """The search for these tokens; None if nothing can match."""
        sendable = self._rarest(utf8(tokens))
        if not sendable:
            return None
        return words_body(
            self.index.fields, tokens_query(self.index.fields, sendable), k, condition
        )

    def _rarest(self, tokens: Sequence[str]) -> Sequence[str]:
        if len(set(tokens)) <= MAX_CLAUSES:
            return tokens
        counts = self.counts(set(tokens))
        known = sorted((token for token in counts if counts[token]), key=counts.__getitem__)
        selected = frozenset(known[:MAX_CLAUSES])
        return [token for token in tokens if token in selected]

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """See `token_weights`."""
        return token_weights(self.counts(tokens), len(self))

    def counts(self, tokens: Collection[str]) -> dict[str, int]:
        """The number of passages with each token."""
        found: dict[str, int] = {}
        for group in in_groups(utf8(tokens)):
            replies = self.index.replies([count_body(self.index.fields, one) for one in group])
            found.update(zip(group, map(_total, replies), strict=True))
        return found

    def tokens_with_prefix(self, prefix: str) -> dict[str, int]:
        """The tokens with this prefix, with their `counts`, most frequent first."""
        body = prefix_body(self.index.fields, *utf8([prefix]))
        (reply,) = self.index.replies([body])
        return {one["key"]: one["doc_count"] for one in reply["aggregations"]["words"]["buckets"]}

    def ids(self) -> list[str]:
        """The sorted ids of all passages."""
        return sorted(self.index.ids())

    def __len__(self) -> int:
        return self.index.count()


def _total(reply: Mapping[str, Any]) -> int:
    """The number of hits; replies have none before the first write."""
    return int(reply["hits"]["total"]["value"]) if "total" in reply["hits"] else 0


def score_of(hit: Mapping[str, Any]) -> float:
    """The BM25 score of a hit."""
    return float(hit["_score"])
