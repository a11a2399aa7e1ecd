"""Counts of tokens, by searches that only count and by aggregations; other look-ups."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Report, Times
from benchmarks.opensearch.contenders import Embedded
from benchmarks.opensearch.searches import paired
from benchmarks.texts import zipf
from storage.opensearch.mapping import Fields, words_of
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.opensearch.word_index import WordIndex

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

Tokens = list[str]
Count = Callable[[Tokens], dict[str, int]]
FEW, MANY, IDS, PREFIXES = 10, 300, 100, 30
"""A question has few tokens; the correction of a misspelled word may try many."""
WARM = 10
_SEED = 2_000_000


def add_counts(
    report: Report,
    state: str,
    index: PassageIndex,
    client: "OpenSearch",
    embedded: Embedded | None,
    rounds: int,
) -> None:
    """Each question is asked once: the server caches replies without hits."""
    variants = Variants(client, index.name)
    contenders: dict[str, Count] = {"Footnote": WordIndex(index).counts}
    if embedded:
        contenders["embedded"] = embedded.keywords.counts
    aggregations = {
        "terms aggregation": variants.terms,
        "filters aggregation": variants.filters,
    }
    for size, others in ((FEW, aggregations), (MANY, {})):
        _add_counts_of(
            report, f"{state}: counts of {size} tokens", contenders | others, size, rounds
        )


def _add_counts_of(
    report: Report, title: str, contenders: Mapping[str, Count], size: int, rounds: int
) -> None:
    token_sets = _token_sets(WARM + rounds, size)
    equal = [_same(contenders, tokens) for tokens in token_sets[:WARM]]
    report.ratio(f"{title}: equal", 100 * mean(equal), "%")
    _add_times(report, title, paired(contenders, token_sets[WARM:]))


def _same(contenders: Mapping[str, Count], tokens: Tokens) -> bool:
    first, *others = (count(tokens) for count in contenders.values())
    return all(first == other for other in others)


def add_lookups(
    report: Report, state: str, index: PassageIndex, embedded: Embedded | None, size: int
) -> None:
    prefixes = [f"w{number}" for number in range(100, 100 + PREFIXES)]
    completions = {"Footnote": WordIndex(index).tokens_with_prefix}
    matches = {"Footnote": VectorRows(index).matching}
    if embedded:
        completions["embedded"] = embedded.keywords.tokens_with_prefix
        matches["embedded"] = embedded.passages.matching
    for complete in completions.values():
        complete("w99")
    _add_times(report, f"{state}: tokens_with_prefix", paired(completions, prefixes))
    few = {name: _matching(match) for name, match in matches.items()}
    id_sets = [[str((start + 17 * step) % size) for step in range(IDS)] for start in range(200)]
    for match in few.values():
        match(id_sets[-1])
    _add_times(report, f"{state}: matching, {IDS} ids", paired(few, id_sets[:-1]))


def _matching(match: Callable[..., set[str]]) -> Callable[[Tokens], set[str]]:
    return lambda ids: match(ids, {"group": {"$lt": 10}})


def _add_times(report: Report, title: str, times: Mapping[str, Times]) -> None:
    for name, each in times.items():
        report.add(f"{title}, {name}, p50", each.p50, "ms")
        report.add(f"{title}, {name}, p95", each.p95, "ms")


def _token_sets(count: int, size: int) -> list[Tokens]:
    """Sets of different tokens from the distribution of the passages."""
    texts = zipf(count, 4 * size, seed=_SEED)
    return [list(dict.fromkeys(text.split()))[:size] for text in texts]


class Variants:
    """Aggregations that count passages by token, without the server's cache of replies."""

    def __init__(self, client: "OpenSearch", name: str) -> None:
        self._client, self._name = client, name

    def terms(self, tokens: Sequence[str]) -> dict[str, int]:
        """An aggregation of the distinct tokens, which reads those of all passages."""
        terms = {"field": words_of(Fields()), "include": list(tokens), "size": len(tokens)}
        found = {one["key"]: one["doc_count"] for one in self._buckets({"terms": terms})}
        return {token: found.get(token, 0) for token in tokens}

    def filters(self, tokens: Sequence[str]) -> dict[str, int]:
        """An aggregation with a filter for each token, which tests all passages."""
        filters = [{"term": {Fields().tokens: token}} for token in tokens]
        buckets = self._buckets({"filters": {"filters": filters}})
        return {token: one["doc_count"] for token, one in zip(tokens, buckets, strict=True)}

    def _buckets(self, aggregation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        body = {"size": 0, "track_total_hits": False, "aggs": {"words": aggregation}}
        reply = self._client.search(index=self._name, body=body, request_cache=False)
        buckets: list[Mapping[str, Any]] = reply["aggregations"]["words"]["buckets"]
        return buckets
