"""A LangChain vector store over an OpenSearch index."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from domain import Filter
from domain.language.tokens import keyword_tokens
from storage.base_store import Scored
from storage.opensearch.mapping import Body, Fields, IndexOptions, require_own_fields
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows, vector_score
from storage.opensearch.word_index import WordIndex, score_of
from storage.vectors.distance_metrics import DistanceMetric
from storage.vectors.passage_vector_store import PassageVectorStore, require_positive

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

_Search = tuple[str, int, Filter | None]
"""Question, length of the list, and filter."""


def paired_lists(
    index: PassageIndex, dense: Body | None, words: Body | None
) -> tuple[list[Scored], list[Scored]]:
    """The dense and the keyword list of these searches, in one request; empty without a search."""
    bodies = [body for body in (dense, words) if body]
    replies = iter(index.searches(bodies) if bodies else ())
    return (
        [(hit["_id"], vector_score(hit, index.metric)) for hit in (next(replies) if dense else ())],
        [(hit["_id"], score_of(hit)) for hit in (next(replies) if words else ())],
    )


class OpenSearchPassages(PassageVectorStore):
    """The passages of an index; Footnote's own store of passages."""

    _rows: VectorRows

    def __init__(
        self,
        index: PassageIndex,
        embedding: Embeddings,
        relevance_score_fn: Callable[[float], float] | None = None,
    ) -> None:
        super().__init__(VectorRows(index), embedding, relevance_score_fn)

    def paired(self) -> "tuple[PairedPassages, PairedWords]":
        """See `PassageVectorStore`."""
        words = PairedWords(WordIndex(self._rows.index))
        return PairedPassages(self._rows.index, self._embedding, words), words


@dataclass
class PairedWords:
    """The words for one question, perhaps already searched by `PairedPassages`."""

    index: WordIndex
    fetched: tuple[_Search, list[Scored]] | None = None

    def search(self, query: str, k: int, condition: Filter | None = None) -> list[Scored]:
        """See `WordIndex`."""
        if self.fetched is not None and self.fetched[0] == (query, k, condition):
            return self.fetched[1]
        return self.index.search(query, k, condition)


class PairedPassages(OpenSearchPassages):
    """The passages for one question: their dense list brings the keyword list along."""

    def __init__(self, index: PassageIndex, embedding: Embeddings, words: PairedWords) -> None:
        super().__init__(index, embedding)
        self._words = words

    def similar_ids(self, query: str, k: int, *, filter: Filter | None = None) -> list[Scored]:
        """See `PassageVectorStore`."""
        dense = self._rows.body(self._query_vector(query), require_positive("k", k), filter)
        words = self._words.index.body(keyword_tokens(query), k, filter)
        similar, matching = paired_lists(self._rows.index, dense, words)
        self._words.fetched = (query, k, filter), matching
        return similar


class OpenSearchVectorStore(OpenSearchPassages):
    """Passages in an OpenSearch index, searched by cosine similarity by default.

    The index is created when the first passage is added. Its passages can also be searched by
    words: see `OpenSearchLexicalSearchRetriever`. Every change is visible to searches when the call
    returns.
    """

    def __init__(
        self,
        os_client: "OpenSearch",
        index_name: str,
        embedding: Embeddings,
        *,
        fields: Fields | None = None,
        options: IndexOptions | None = None,
        distance_metric: str = DistanceMetric.COSINE,
        relevance_score_fn: Callable[[float], float] | None = None,
    ) -> None:
        """Set the index without connecting.

        Args:
            os_client: A client of opensearch-py; see `storage.opensearch.connection.connect`.
            index_name: The name of an index or of an alias of one index.
            embedding: Embeds added texts and questions.
            fields: The fields that searches use, by default those of an index of this class.
            options: The shards and replicas of a new index.
            distance_metric: See `DistanceMetric`; that of an index can't be changed.
            relevance_score_fn: See `PassageVectorStore`.

        Raises:
            ValueError: The fields are those of another program's index, whose scores may not be
                cosines, or there is no such metric.
        """
        fields = require_own_fields(fields or Fields())
        index = PassageIndex(
            os_client,
            index_name,
            fields,
            options or IndexOptions(),
            metric=DistanceMetric(distance_metric),
        )
        super().__init__(index, embedding, relevance_score_fn)
