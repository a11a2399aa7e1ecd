"""A LangChain vector store over rows of passages, wherever these are stored."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn, Protocol, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from domain import Filter, Metadata
from storage.vectors.distance_metrics import DistanceMetric, relevance
from storage.vectors.new_rows import NewRows, new_rows, require_text_ids
from storage.vectors.passage_rows import Near, Row


class Rows(Protocol):
    """Stored passages; see `PassageRows`, which stores them in a folder."""

    @property
    def metric(self) -> DistanceMetric:
        """How vectors are compared, and thus what scores are."""

    def ids(self) -> list[str]:
        """The ids of all passages."""

    def __len__(self) -> int:
        """The number of passages."""

    def get(self, ids: Sequence[str]) -> list[Row]:
        """The rows in the order of these ids; unknown ids are omitted."""

    def vectors(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors by id; unknown ids are omitted."""

    def upsert(self, new: NewRows) -> None:
        """Add rows, replacing those with the same ids."""

    def delete(self, ids: Collection[str] | None) -> None:
        """Delete these ids, or all if None; unknown ids are ignored."""

    def matching(self, ids: Collection[str], conditions: Filter) -> set[str]:
        """Those of the ids whose passages exist and match the filter."""

    def nearest(self, query: npt.NDArray[Any], k: int, conditions: Filter | None) -> list[Near]:
        """The `k` matching passages nearest to the query, best first, with their vectors."""

    def nearest_ids(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[str, float]]:
        """`nearest` without vectors: ids and scores."""

    def nearest_rows(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[Row, Near]]:
        """`nearest` with texts and metadata."""


class SearchesWords(Protocol):
    """The keyword list of a question."""

    def search(
        self, query: str, k: int, condition: Filter | None = None
    ) -> list[tuple[str, float]]:
        """At most `k` pairs of a passage id and its BM25 score, best first."""


def finite_vector(vector: Sequence[float]) -> npt.NDArray[np.float64]:
    """The vector as an array.

    Raises:
        ValueError: The vector is not one row of finite numbers.
    """
    query = np.array(vector, dtype=np.float64)
    if query.ndim != 1 or not np.isfinite(query).all():
        raise ValueError("The query's vector must be one row of finite numbers")
    return query


def diverse(
    query: npt.NDArray[np.float64], near: Sequence[Near], k: int, lambda_mult: float
) -> list[int]:
    """Positions in `near` of the `k` hits chosen by maximal marginal relevance, in order.

    At each step, LangChain's function compares each candidate with all chosen hits, which takes
    seconds for k = 300. This function compares it only with the last chosen hit.
    """
    if not near:
        return []
    vectors = np.stack([each.vector for each in near]).astype(np.float64)
    length = np.linalg.norm(query)
    similarities = vectors @ (query / length if length else query)
    nearest = np.full(len(near), -np.inf)  # the cosine to the nearest chosen hit
    values, chosen = similarities.copy(), list[int]()
    for _ in range(min(k, len(near))):
        chosen.append(int(np.argmax(values)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
        values = lambda_mult * similarities - (1 - lambda_mult) * nearest
        values[chosen] = -np.inf
    return chosen


def require_positive(name: str, count: int) -> int:
    """Return `count`; raises ValueError if it is not positive."""
    if count <= 0:
        raise ValueError(f"{name} must be at least 1, got {count}")
    return count


class PassageVectorStore(VectorStore):
    """Passages and their vectors, searched by the metric of the rows, usually cosine similarity.

    Scores are those of the metric (see `DistanceMetric`), and relevance is computed from them by
    `relevance_score_fn`, by default LangChain's formula for vectors of length 1.

    Every search accepts `filter` (`domain.Filter`), which is applied before the `k` best are
    chosen, and no other keyword: a misspelled keyword raises TypeError instead of widening the
    search. A passage with a zero vector (the model doesn't support its script) is stored but never
    found by cosine similarity, and a zero query finds nothing.
    """

    def __init__(
        self,
        rows: Rows,
        embedding: Embeddings,
        relevance_score_fn: Callable[[float], float] | None = None,
    ) -> None:
        self._rows = rows
        self._embedding = embedding
        self._relevance_score_fn = relevance_score_fn or partial(relevance, rows.metric)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} can't be pickled or copied, because it holds open files or"
            " connections: create it again where you need it"
        )

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[Metadata] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Open the store that the other keywords describe, and add these texts to it."""
        store = cls(embedding=embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @property
    def embeddings(self) -> Embeddings:
        """The embedding model."""
        return self._embedding

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[Metadata] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Embed texts and add them, replacing passages with the same ids.

        The model embeds `batch_size` texts per call, by default all of them; all are written
        together.

        Returns:
            The ids in order; missing ones are random.

        Raises:
            TypeError: An id is not a string.
            ValueError: `batch_size` is not positive, or see `add_vectors`.
        """
        self._refuse(kwargs)
        if isinstance(ids, str):
            require_text_ids(ids)
        all_texts = list(texts)
        present = ids or [None] * len(all_texts)
        names = [str(uuid4()) if id_ is None or id_ == "" else id_ for id_ in present]
        require_text_ids(names)
        size = max(1, len(all_texts)) if batch_size is None else batch_size
        vectors = self._embed(all_texts, require_positive("batch_size", size))
        self.add_vectors(names, all_texts, vectors, metadatas or [{} for _ in all_texts])
        return names

    def _embed(self, texts: list[str], batch_size: int) -> npt.NDArray[np.float64]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), batch_size):
            vectors += self._embedding.embed_documents(texts[start : start + batch_size])
        return np.array(vectors, dtype=np.float64)

    def add_vectors(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        vectors: npt.NDArray[Any],
        metadatas: Sequence[Metadata],
    ) -> None:
        """Add embedded passages, replacing those with the same ids.

        Of passages with the same id, the last one wins.

        Args:
            ids: Nonempty strings.
            texts: The passages; may be empty strings.
            vectors: One row of finite numbers per text, stored as float32. A row of zeros means
                that the text is not embedded.
            metadatas: JSON values with string keys; tuples are read back as lists, and dates and
                values of numpy as `stored_value` returns them.

        Raises:
            TypeError: An id is not a string.
            ValueError: The lengths differ, or a value can't be stored exactly.
            StorageError: Writing failed; some passages may have been written.
        """
        if len(ids) or len(texts):
            self._rows.upsert(new_rows(ids, texts, vectors, metadatas))

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> bool:
        """Delete passages; unknown ids are ignored.

        As in LangChain, None (and only None) deletes all passages.
        """
        self._refuse(kwargs)
        require_text_ids(() if ids is None else ids)
        if ids is None or len(ids):
            self._rows.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The passages in the order of these ids; unknown ids are omitted."""
        require_text_ids(ids)
        return [_document(row) for row in self._rows.get(ids)]

    def __len__(self) -> int:
        return len(self._rows)

    def ids(self) -> list[str]:
        """The ids of all passages."""
        return self._rows.ids()

    def similar_ids(
        self, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """`similarity_search_with_score` without reading texts and metadata from disk."""
        return self._rows.nearest_ids(self._query_vector(query), require_positive("k", k), filter)

    def diverse_ids(
        self,
        query: str,
        k: int,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
    ) -> list[tuple[str, float]]:
        """`max_marginal_relevance_search` without reading texts and metadata from disk.

        Returns:
            The ids in the order of selection, with their scores (not sorted).
        """
        vector, _ = self._query_vector(query), require_positive("k", k)
        near = self._rows.nearest(vector, require_positive("fetch_k", fetch_k), filter)
        chosen = diverse(vector, near, k, lambda_mult)
        return [(near[position].id, near[position].score) for position in chosen]

    def paired(self) -> tuple["PassageVectorStore", SearchesWords] | None:
        """This store and the words for one question, if they share a request.

        `similar_ids` also fetches the result of `search` with the same arguments.
        """
        return None

    def matching(self, ids: Collection[str], filter: Filter) -> set[str]:
        """Those of the ids whose passages exist and match the filter."""
        return self._rows.matching(ids, filter)

    def vectors_of(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors by id; unknown ids are omitted."""
        return self._rows.vectors(ids)

    def _query_vector(self, query: str) -> npt.NDArray[np.float64]:
        return finite_vector(self._embedding.embed_query(query))

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to the question, best first."""
        scored = self.similarity_search_with_score(query, k, filter=filter, **kwargs)
        return [document for document, _ in scored]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The `k` passages most similar to the question, with their scores, best first."""
        self._refuse(kwargs)
        vector = self._embedding.embed_query(query)
        return self.similarity_search_with_score_by_vector(vector, k, filter=filter)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to a vector, best first."""
        self._refuse(kwargs)
        scored = self.similarity_search_with_score_by_vector(embedding, k, filter=filter)
        return [document for document, _ in scored]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None
    ) -> list[tuple[Document, float]]:
        """The `k` passages most similar to a vector, with their scores, best first."""
        hits = self._rows.nearest_rows(finite_vector(embedding), require_positive("k", k), filter)
        return [(_document(row), near.score) for row, near in hits]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """`k` of the `fetch_k` most similar passages, chosen to differ from each other."""
        self._refuse(kwargs)
        vector = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, filter=filter
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Filter | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """`max_marginal_relevance_search` for a vector.

        Each step selects the passage with the highest `lambda_mult` x similarity to the query -
        (1 - `lambda_mult`) x similarity to the nearest passage already selected.
        """
        self._refuse(kwargs)
        vector, _ = finite_vector(embedding), require_positive("k", k)
        hits = self._rows.nearest_rows(vector, require_positive("fetch_k", fetch_k), filter)
        chosen = diverse(vector, [near for _, near in hits], k, lambda_mult)
        return [_document(hits[position][0]) for position in chosen]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return self._relevance_score_fn

    def _refuse(self, kwargs: Metadata) -> None:
        """Reject unknown keywords, because a misspelled filter must not be ignored silently."""
        if kwargs:
            raise TypeError(f"{type(self).__name__} doesn't know the keyword {', '.join(kwargs)}")


def _document(row: Row) -> Document:
    return Document(id=row.id, page_content=row.text, metadata=row.metadata)
