"""A LangChain vector store over an OpenSearch index."""

from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from storage.opensearch.mapping import Fields, IndexOptions, require_own_fields
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.vectors.passage_vector_store import PassageVectorStore

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


class OpenSearchVectorStore(PassageVectorStore):
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
        super().__init__(VectorRows(index), embedding)
