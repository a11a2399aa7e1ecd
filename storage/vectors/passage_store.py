"""A LangChain vector store over Deep Lake, and an embedding model that is loaded on first use."""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from domain import Filter, Metadata
from storage.vectors.new_rows import new_rows
from storage.vectors.passage_files import PassageFiles
from storage.vectors.passage_rows import Near, PassageRows, Row


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


class DeepLakePassages(VectorStore):
    """Passages and their vectors in a folder, searched by cosine similarity.

    Searches are exact, except searches without a filter in large stores (see `VectorIndex`).

    Every search accepts `filter` (`domain.Filter`), which is applied before the `k` best are
    chosen, and no other keyword: a misspelled keyword raises TypeError instead of widening the
    search. A passage with a zero vector (the model doesn't support its script) is stored but never
    found, and a zero query finds nothing. Threads may share a store; several processes may open the
    same folder and see each other's commits within a second.

    Nothing is created before the first passage is added. deeplake is imported only then or to read
    an existing store.
    """

    def __init__(
        self,
        path: Path,
        embedding: Embeddings,
        *,
        read_only: bool = False,
        timeout_s: float = 30.0,
        files: PassageFiles | None = None,
    ) -> None:
        """Set the folder without opening or creating it.

        Args:
            path: A folder for this store only.
            embedding: Embeds added texts and questions.
            read_only: Reject changes, and never create anything.
            timeout_s: How long a write waits for another writer before `BusyError`.
            files: The checker of the folder's files, if shared with others.
        """
        checked_files = files or PassageFiles(Path(path))
        self._rows = PassageRows(checked_files, read_only=read_only, timeout_s=timeout_s)
        self._embedding = embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[Metadata] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> "DeepLakePassages":
        """Open the store in the folder `path` (a required keyword) and add these texts to it."""
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
        **kwargs: Any,
    ) -> list[str]:
        """Embed texts and add them in one commit, replacing passages with the same ids.

        Returns:
            The ids in order; missing ones are random.
        """
        _refuse(kwargs)
        all_texts = list(texts)
        names = [id_ or str(uuid4()) for id_ in (ids or [None] * len(all_texts))]
        vectors = np.array(
            self._embedding.embed_documents(all_texts) if all_texts else [], dtype=np.float64
        )
        self.add_vectors(names, all_texts, vectors, metadatas or [{} for _ in all_texts])
        return names

    def add_vectors(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        vectors: npt.NDArray[Any],
        metadatas: Sequence[Metadata],
    ) -> None:
        """Add embedded passages in one commit, replacing those with the same ids.

        Of passages with the same id, the last one wins.

        Args:
            ids: Nonempty strings.
            texts: The passages; may be empty strings.
            vectors: One row of finite numbers per text, stored as float32. A row of zeros means
                that the text is not embedded.
            metadatas: JSON values with string keys; tuples are read back as lists.

        Raises:
            ValueError: The lengths differ, or a value can't be stored exactly.
            BusyError: Another process kept writing for too long.
            StorageError: The disk is full, or writing failed; nothing was saved.
        """
        if len(ids) or len(texts):
            self._rows.upsert(new_rows(ids, texts, vectors, metadatas))

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> bool:
        """Delete passages in one commit; unknown ids are ignored.

        As in LangChain, None (and only None) deletes all passages.
        """
        _refuse(kwargs)
        if ids is None or len(ids):
            self._rows.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The passages in the order of these ids; unknown ids are omitted."""
        return [_document(row) for row in self._rows.get(ids)]

    def __len__(self) -> int:
        return len(self._rows)

    def ids(self) -> list[str]:
        """The ids of all passages."""
        return self._rows.ids()

    def allowed(self, filter: Filter | None) -> Callable[[str], bool]:
        """Return a predicate: whether an id exists and matches the filter, as of this call.

        Creating the predicate takes one pass over the rows; calling it takes one lookup.
        """
        return self._rows.allowed(filter or {})

    def similar_ids(
        self, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """`similarity_search_with_score` without reading texts and metadata from disk."""
        near = self._rows.nearest(self._query_vector(query), require_positive("k", k), filter)
        return [(each.id, each.cosine) for each in near]

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
            The ids in the order of selection, with their cosines to the question (not sorted).
        """
        vector, _ = self._query_vector(query), require_positive("k", k)
        near = self._rows.nearest(vector, require_positive("fetch_k", fetch_k), filter)
        chosen = diverse(vector, near, k, lambda_mult)
        return [(near[position].id, near[position].cosine) for position in chosen]

    def vectors_of(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors by id; unknown ids are omitted."""
        return self._rows.vectors(ids)

    def _query_vector(self, query: str) -> npt.NDArray[np.float64]:
        return finite_vector(self._embedding.embed_query(query))

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to the question, best first."""
        _refuse(kwargs)
        return [
            document for document, _ in self.similarity_search_with_score(query, k, filter=filter)
        ]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The `k` passages most similar to the question, with cosines from -1 to 1, best first."""
        _refuse(kwargs)
        vector = self._embedding.embed_query(query)
        return self.similarity_search_with_score_by_vector(vector, k, filter=filter)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to a vector, best first."""
        _refuse(kwargs)
        scored = self.similarity_search_with_score_by_vector(embedding, k, filter=filter)
        return [document for document, _ in scored]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None
    ) -> list[tuple[Document, float]]:
        """The `k` passages most similar to a vector, with cosines from -1 to 1, best first."""
        hits = self._rows.nearest_rows(finite_vector(embedding), require_positive("k", k), filter)
        return [(_document(row), near.cosine) for row, near in hits]

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
        _refuse(kwargs)
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
        _refuse(kwargs)
        vector, _ = finite_vector(embedding), require_positive("k", k)
        hits = self._rows.nearest_rows(vector, require_positive("fetch_k", fetch_k), filter)
        chosen = diverse(vector, [near for _, near in hits], k, lambda_mult)
        return [_document(hits[position][0]) for position in chosen]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """Relevance is the cosine, or 0 if it is negative.

        LangChain defines relevance as 1 - distance, which for cosine distance is the cosine.
        Clipping it at 0 keeps it in [0, 1] without changing the meaning of `score_threshold`.
        """
        return lambda cosine: max(0.0, cosine)


def _document(row: Row) -> Document:
    return Document(id=row.id, page_content=row.text, metadata=row.metadata)


def _refuse(kwargs: Metadata) -> None:
    """Reject unknown keywords, because a misspelled filter must not be ignored silently."""
    if kwargs:
        raise TypeError(f"DeepLakePassages doesn't know the keyword {', '.join(kwargs)}")


RECENT_QUESTIONS = 32
"""The number of cached questions; each is embedded for the search and to select sentences."""


class LazyEmbeddings(Embeddings):
    """A proxy that loads its model on first use and caches the vectors of recent questions."""

    def __init__(self, load: Callable[[], Embeddings]) -> None:
        self._load = load
        self._model: Embeddings | None = None
        self._loading = threading.Lock()
        self._question_vector = lru_cache(RECENT_QUESTIONS)(self._embed_question)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed with the model."""
        return self.model.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed with the model."""
        return list(self._question_vector(text))

    def _embed_question(self, text: str) -> tuple[float, ...]:
        return tuple(self.model.embed_query(text))

    @property
    def model(self) -> Embeddings:
        """The model, which is loaded on the first call."""
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model
