"""The same searches by Footnote on OpenSearch, by bare calls, and by the embedded stores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.opensearch.passages import Question
from benchmarks.our_store import QueryVector
from domain import Filter, SearchMode
from domain.language.tokens import keyword_tokens
from services.search.opensearch_retrievers import OpenSearchHybridRetriever
from services.search.ranking import OpenIndex, RankingOptions, build_ranker
from storage.keywords.filtered_keywords import FilteredKeywords
from storage.keywords.keyword_index import KeywordIndex
from storage.opensearch.mapping import Body, Fields
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.queries import tokens_query, vector_body, words_body
from storage.opensearch.word_index import WordIndex
from storage.vectors.passage_store import DeepLakePassages

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from storage.vectors.passage_vector_store import PassageVectorStore

K, DEPTH = 20, 100
Search = Callable[[Question], list[str]]
"""The ids of the passages that a search finds, best first."""


class Contender(Protocol):
    """Builds searches under a filter."""

    def similar(self, k: int, condition: Filter | None) -> Search:
        """The `k` most similar passages."""

    def words(self, condition: Filter | None) -> Search:
        """The `DEPTH` best passages by BM25."""

    def both(self, condition: Filter | None) -> Search:
        """Both lists of `DEPTH` passages, fused unless the contender only searches."""


def similar_ids(
    store: "PassageVectorStore", embedding: QueryVector, k: int, condition: Filter | None
) -> Search:
    def search(question: Question) -> list[str]:
        embedding.vector = question.vector
        return [id_ for id_, _ in store.similar_ids("", k, filter=condition)]

    return search


@dataclass(frozen=True)
class Footnote:
    """The classes of docs/opensearch.md."""

    index: PassageIndex
    embedding: QueryVector = field(default_factory=QueryVector)

    def similar(self, k: int, condition: Filter | None) -> Search:
        """See `Contender`."""
        store = OpenSearchVectorStore(self.index.client, self.index.name, self.embedding)
        return similar_ids(store, self.embedding, k, condition)

    def words(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        words = WordIndex(self.index)
        return lambda question: [id_ for id_, _ in words.search(question.text, DEPTH, condition)]

    def both(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        index, embedding = self.index, self.embedding
        retriever = OpenSearchHybridRetriever(
            index.client,
            index.name,
            embedding=embedding,
            k=DEPTH,
            candidates=DEPTH,
            filter=condition,
        )

        def search(question: Question) -> list[str]:
            embedding.vector = question.vector
            return [hit.id for hit in retriever.hits(question.text)]

        return search


@dataclass(frozen=True)
class Bare:
    """Calls of opensearch-py with the same bodies, which are built in advance."""

    client: "OpenSearch"
    name: str
    questions: list[Question]

    def similar(self, k: int, condition: Filter | None) -> Search:
        """See `Contender`."""
        return self._one(lambda question: similar_body(question, k, condition))

    def words(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        return self._one(lambda question: lexical_body(question, condition))

    def both(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        lines = {
            question.text: [
                {"index": self.name},
                similar_body(question, DEPTH, condition),
                {"index": self.name},
                lexical_body(question, condition),
            ]
            for question in self.questions
        }

        def search(question: Question) -> list[str]:
            replies = self.client.msearch(body=lines[question.text])["responses"]
            return [id_ for reply in replies for id_ in ids_of(reply)]

        return search

    def _one(self, body: Callable[[Question], Body]) -> Search:
        bodies = {question.text: body(question) for question in self.questions}

        def search(question: Question) -> list[str]:
            return ids_of(self.client.search(index=self.name, body=bodies[question.text]))

        return search


@dataclass(frozen=True)
class ServerSide(Bare):
    """What the server can do instead: its hybrid query, and exact search by a script."""

    pipeline: str = "min-max"

    def create_pipeline(self) -> None:
        """Merge the scores as `OpenSearchHybridRetriever` does."""
        processor = {
            "normalization": {"technique": "min_max"},
            "combination": {
                "technique": "arithmetic_mean",
                "parameters": {"weights": [0.5, 0.5]},
            },
        }
        body = {"phase_results_processors": [{"normalization-processor": processor}]}
        self.client.search_pipeline.put(id=self.pipeline, body=body)

    def both(self, condition: Filter | None) -> Search:
        """See `Contender`."""

        def body(question: Question) -> Body:
            parts = similar_body(question, DEPTH, condition), lexical_body(question, condition)
            queries = [part["query"] for part in parts]
            return parts[0] | {
                "query": {"hybrid": {"queries": queries, "pagination_depth": DEPTH}},
                "search_pipeline": self.pipeline,
            }

        return self._one(body)

    def exact(self) -> Search:
        """The `K` most similar passages by comparing all vectors."""
        return self._one(exact_body)


def exact_body(question: Question) -> Body:
    params = {
        "field": Fields().vector,
        "query_value": question.vector,
        "space_type": "cosinesimil",
    }
    script = {"source": "knn_score", "lang": "knn", "params": params}
    query = {"script_score": {"query": {"match_all": {}}, "script": script}}
    return {"size": K, "_source": False, "track_total_hits": False, "query": query}


@dataclass(frozen=True)
class Embedded:
    """The stores of Footnote's library."""

    passages: DeepLakePassages
    keywords: KeywordIndex
    embedding: QueryVector

    def similar(self, k: int, condition: Filter | None) -> Search:
        """See `Contender`."""
        return similar_ids(self.passages, self.embedding, k, condition)

    def words(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        filtered = FilteredKeywords(self.keywords, self.passages)
        return lambda question: [id_ for id_, _ in filtered.search(question.text, DEPTH, condition)]

    def both(self, condition: Filter | None) -> Search:
        """See `Contender`."""
        index = OpenIndex(self.passages, FilteredKeywords(self.keywords, self.passages))
        rank = build_ranker(SearchMode.CONVEX, index, RankingOptions(candidates=DEPTH))

        def search(question: Question) -> list[str]:
            self.embedding.vector = question.vector
            return [hit.id for hit in rank(question.text, DEPTH, condition)]

        return search


def similar_body(question: Question, k: int, condition: Filter | None) -> Body:
    return vector_body(Fields(), question.vector, k, condition)


def lexical_body(question: Question, condition: Filter | None) -> Body:
    query = tokens_query(Fields(), keyword_tokens(question.text))
    return words_body(Fields(), query, DEPTH, condition)


def ids_of(reply: Mapping[str, Any]) -> list[str]:
    return [hit["_id"] for hit in reply["hits"]["hits"]]
