"""A LangChain vector store over an OpenSearch index."""

from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from domain import Filter
from domain.language.tokens import keyword_tokens
from storage.base_store import Scored
from storage.opensearch.mapping import Fields, IndexOptions, require_own_fields
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows, cosine_of
from storage.opensearch.word_index import WordIndex, score_of
from storage.vectors.passage_vector_store import PassageVectorStore, finite_vector

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

_Search = tuple[str, int, Filter | None]
"""Question, length of the list, and filter."""


class OpenSearchPair:
    """The searches of one question: the dense list brings the keyword list along."""

    def __init__(self, passages: PassageVectorStore, index: PassageIndex) -> None:
        self._passages = passages
        self._index = index
        self._fetched: tuple[_Search, list[Scored]] | None = None

    def similar_ids(self, query: str, k: int, *, filter: Filter | None = None) -> list[Scored]:
        """See `PassageVectorStore`; also fetches the result of `search`."""
        dense, words = self._lists(query, k, filter)
        self._fetched = (query, k, filter), words
        return dense

    def diverse_ids(
        self,
        query: str,
        k: int,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
    ) -> list[Scored]:
        """See `PassageVectorStore`."""
        return self._passages.diverse_ids(query, k, fetch_k, lambda_mult, filter=filter)

    def search(self, query: str, k: int, condition: Filter | None = None) -> list[Scored]:
        """See `WordIndex`."""
        if self._fetched is not None and self._fetched[0] == (query, k, condition):
            return self._fetched[1]
        return WordIndex(self._index).search(query, k, condition)

    def _lists(
        self, query: str, k: int, condition: Filter | None
    ) -> tuple[list[Scored], list[Scored]]:
        vector = finite_vector(self._passages.embeddings.embed_query(query))
        dense = VectorRows(self._index).body(vector, k, condition)
        words = WordIndex(self._index).body(keyword_tokens(query), k, condition)
        bodies = [body for body in (dense, words) if body]
        replies = iter(self._index.searches(bodies) if bodies else ())
        return (
            [(hit["_id"], cosine_of(hit)) for hit in (next(replies) if dense else ())],
            [(hit["_id"], score_of(hit)) for hit in (next(replies) if words else ())],
        )


class OpenSearchPassages(PassageVectorStore):
    """The passages of an index; Footnote's own store of passages."""

    def __init__(self, index: PassageIndex, embedding: Embeddings) -> None:
        super().__init__(VectorRows(index), embedding)
        self._index = index

    def paired_search(self) -> OpenSearchPair:
        """See `PassageVectorStore`."""
        return OpenSearchPair(self, self._index)


class OpenSearchVectorStore(OpenSearchPassages):
    """Passages in an OpenSearch index, searched by cosine similarity.

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
    ) -> None:
        """Set the index without connecting.

        Args:
            os_client: A client of opensearch-py; see `storage.opensearch.connection.connect`.
            index_name: The name of an index or of an alias of one index.
            embedding: Embeds added texts and questions.
            fields: The fields that searches use, by default those of an index of this class.
            options: The shards and replicas of a new index.

        Raises:
            ValueError: The fields are those of another program's index, whose scores may not be
                cosines.
        """
        fields = require_own_fields(fields or Fields())
        index = PassageIndex(os_client, index_name, fields, options or IndexOptions())
        super().__init__(index, embedding)
