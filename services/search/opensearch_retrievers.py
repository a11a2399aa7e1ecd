"""LangChain retrievers over an OpenSearch index: by words, and by meaning and words together."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, PrivateAttr, field_validator

from domain import Filter, Normalization
from domain.language.tokens import keyword_tokens
from retrievers.passage_retrievers import BaseCountedRetriever
from retrievers.rankers import Hit, Scored, combine_convex, fuse_reciprocal_ranks
from storage.filters import checks_of
from storage.opensearch.mapping import Fields, require_own_fields
from storage.opensearch.opensearch_vector_store import paired_lists
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.queries import text_query, tokens_query, vector_body, words_body
from storage.opensearch.terms import Query
from storage.vectors.passage_vector_store import require_positive

_ENOUGH = re.compile(r"[-0-9%< ]*[0-9][-0-9%< ]*")


class _OpenSearchRetriever(BaseCountedRetriever):
    """Searches one index, by default of `OpenSearchVectorStore`, without connecting before."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    os_client: Any
    """A client of opensearch-py."""
    index_name: str
    filter: Filter | None = None
    """See `domain.Filter`; only matching passages are returned."""
    fields: Fields = Field(default_factory=Fields)
    """The fields of an index that another program wrote."""

    def __init__(self, os_client: Any, index_name: str, **options: Any) -> None:
        super().__init__(os_client=os_client, index_name=index_name, **options)

    @field_validator("filter")
    @classmethod
    def _valid_filter(cls, condition: Filter | None) -> Filter | None:
        checks_of(condition)
        return condition

    @property
    def _index(self) -> PassageIndex:
        return PassageIndex(self.os_client, self.index_name, self.fields, must_exist=True)

    def _documents(self, ids: Sequence[str]) -> list[Document]:
        stored = self._index.get(ids, [self.fields.text, self.fields.metadata])
        return [self._document(id_, stored[id_]) for id_ in ids if id_ in stored]

    def _document(self, id_: str, source: Mapping[str, Any]) -> Document:
        metadata = source.get(self.fields.metadata, {})
        return Document(id=id_, page_content=source[self.fields.text], metadata=metadata)

    def _words_query(self, text: str, minimum_should_match: int | str = 1) -> Query | None:
        """The query for the words of a text; None if it has none."""
        if not self.fields.tokens:
            return text_query(self.fields, text, minimum_should_match)
        tokens = keyword_tokens(text)
        return tokens_query(self.fields, tokens, minimum_should_match) if tokens else None


class OpenSearchLexicalSearchRetriever(_OpenSearchRetriever):
    """Finds the passages of an index that contain the words of a question, by BM25, best first.

    Questions in Korean and Japanese are split into the same tokens as in Footnote's own search.
    """

    minimum_should_match: int | str = 1
    """How many of the question's words a passage must contain, such as 2, "75%", or "2<75%"."""

    @field_validator("minimum_should_match")
    @classmethod
    def _valid_minimum(cls, minimum: int | str) -> int | str:
        if not _ENOUGH.fullmatch(str(minimum)):
            raise ValueError(f'a number or a text such as "75%" is required, got {minimum!r}')
        return minimum

    def update_search_params(self, **params: Any) -> None:
        """Change `k`, `minimum_should_match`, or `filter` for later searches.

        Raises:
            ValueError: A parameter is unknown or has an invalid value; nothing was changed.
        """
        unknown = params.keys() - {"k", "minimum_should_match", "filter"}
        if unknown:
            raise ValueError(f"unknown search parameters: {', '.join(sorted(unknown))}")
        values = {name: getattr(self, name) for name in type(self).model_fields} | params
        validated = type(self)(**values)
        for name in params:
            setattr(self, name, getattr(validated, name))

    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:  # noqa: ARG002
        words = self._words_query(query, self.minimum_should_match)
        if words is None:
            return []
        names = (self.fields.text, self.fields.metadata)
        hits = self._index.search(words_body(self.fields, words, k, self.filter, names))
        return [self._document(hit["_id"], hit["_source"]) for hit in hits]


class OpenSearchHybridRetriever(_OpenSearchRetriever):
    """Finds passages by cosine similarity and by BM25, and merges the two lists.

    Both searches are sent in one request. The lists are merged here, by the convex combination of
    their scores or by reciprocal rank fusion, exactly as in Footnote's own search; see
    docs/opensearch.md about the server's hybrid query.

    The index must be one of `OpenSearchVectorStore`: fields without `terms` raise ValueError.
    """

    embedding: Embeddings
    fusion: Literal["convex", "rrf"] = "convex"
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    """The weight of similarity; that of words is 1 - `dense_weight`."""
    normalization: Normalization = Normalization.MIN_MAX
    """How `convex` scales the scores of each list."""
    candidates: int = Field(default=100, ge=1)
    """The length of each list, or `k` if that is more."""
    _has_checked_metric: bool = PrivateAttr(default=False)

    @field_validator("fields")
    @classmethod
    def _own_fields(cls, fields: Fields) -> Fields:
        return require_own_fields(fields)

    def hits(self, query: str, k: int | None = None) -> list[Hit]:
        """The `k` best passages with the share of each list in their scores, best first.

        Raises:
            ValueError: `k` is not positive, or the index compares vectors by another metric.
        """
        limit = require_positive("k", self.k if k is None else k)
        dense, sparse = self._lists(query, max(limit, self.candidates))
        if self.fusion == "rrf":
            lists = {"dense": dense, "bm25": sparse}
            weights = (self.dense_weight, 1 - self.dense_weight)
            return fuse_reciprocal_ranks(lists, weights=weights, limit=limit)
        return combine_convex(
            dense,
            sparse,
            dense_weight=self.dense_weight,
            normalization=self.normalization,
            limit=limit,
        )

    def _lists(self, query: str, depth: int) -> tuple[list[Scored], list[Scored]]:
        vector, words = self.embedding.embed_query(query), self._words_query(query)
        # The server rejects a vector without direction.
        dense = vector_body(self.fields, vector, depth, self.filter) if any(vector) else None
        sparse = words_body(self.fields, words, depth, self.filter) if words else None
        index = self._index
        if not self._has_checked_metric:
            index.dimension()
            self._has_checked_metric = True
        return paired_lists(index, dense, sparse)

    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:  # noqa: ARG002
        return self._documents([hit.id for hit in self.hits(query, k)])
