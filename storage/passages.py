"""A LangChain vector store over Deep Lake."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from domain import Filter, Metadata
from storage.found_rows import Row
from storage.new_rows import new_rows
from storage.passage_files import PassageFiles
from storage.passage_rows import PassageRows
from storage.passage_search import PassageSearch, checked, counted, diverse


class DeepLakePassages(PassageSearch, VectorStore):
    """Passages with their vectors in a folder, found by cosine similarity.

    Searches are exact, save those without a filter in large stores (see `VectorIndex`).

    Every search takes `filter` (`domain.Filter`), applied before the `k` best are chosen, and
    no other keyword: a misspelt one raises TypeError and can't widen what is found. A passage
    whose vector is zero (its model doesn't know the script) is kept but never found by a search,
    and a zero query finds nothing. Threads may share a store; several processes may open the
    same folder, and see each other's commits within a second.

    Nothing is created before the first passage is added, and deeplake is imported only then or
    when there is something to read.
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
        """Name the folder; it is neither opened nor created yet.

        Args:
            path: A folder of its own for this store.
            embedding: Turns the texts that are added, and questions, into vectors.
            read_only: Refuse every change, and never create anything.
            timeout_s: How long a change waits for another writer before `BusyError`.
            files: Watches over the folder's files, where others ask it too.
        """
        watched = files or PassageFiles(Path(path))
        rows = PassageRows(watched, read_only=read_only, timeout_s=timeout_s)
        super().__init__(rows, embedding)

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
        """What turns questions into vectors."""
        return self._embedding

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[Metadata] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Embed texts and keep them in one commit, in place of passages with the same ids.

        Returns:
            The ids in order; where none was given, a new random one.
        """
        _refuse(kwargs)
        kept = list(texts)
        names = [id_ or str(uuid4()) for id_ in (ids or [None] * len(kept))]
        vectors = np.array(self._embedding.embed_documents(kept) if kept else [], dtype=np.float64)
        self.add_vectors(names, kept, vectors, metadatas or [{} for _ in kept])
        return names

    def add_vectors(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        vectors: npt.NDArray[Any],
        metadatas: Sequence[Metadata],
    ) -> None:
        """Keep passages that are embedded already, in one commit, replacing those of the same ids.

        Where an id comes twice, its last passage counts.

        Args:
            ids: None of them empty.
            texts: The passages; an empty one is allowed.
            vectors: One row for each text, finite; kept as float32. Zeros mean: not embedded.
            metadatas: What JSON can hold: texts as keys; tuples come back as lists.

        Raises:
            ValueError: The four don't fit together, or a value can't be kept exactly.
            BusyError: Another process went on writing for too long.
            StorageError: The disk is too full, or writing failed; nothing was kept.
        """
        if len(ids) or len(texts):
            self._rows.upsert(new_rows(ids, texts, vectors, metadatas))

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> bool:
        """Delete passages in one commit; unknown ids don't matter.

        As LangChain has it, None (and only None) deletes every passage.
        """
        _refuse(kwargs)
        if ids is None or len(ids):
            self._rows.delete(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The passages with these ids in the order asked; unknown ids are left out."""
        return [_document(row) for row in self._rows.get(ids)]

    def similarity_search(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to the question, best first."""
        _refuse(kwargs)
        return [found for found, _ in self.similarity_search_with_score(query, k, filter=filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The same with their cosine similarities, from -1 to 1, highest first."""
        _refuse(kwargs)
        vector = self._embedding.embed_query(query)
        return self.similarity_search_with_score_by_vector(vector, k, filter=filter)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` passages most similar to a vector, best first."""
        _refuse(kwargs)
        found = self.similarity_search_with_score_by_vector(embedding, k, filter=filter)
        return [document for document, _ in found]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: Filter | None = None
    ) -> list[tuple[Document, float]]:
        """The same with their cosine similarities, from -1 to 1, highest first."""
        found = self._rows.nearest_rows(checked(embedding), counted("k", k), filter)
        return [(_document(row), near.cosine) for row, near in found]

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
        """The same for a vector.

        The next one chosen has the highest `lambda_mult` x its similarity to the query -
        (1 - `lambda_mult`) x its similarity to the nearest one already chosen.
        """
        _refuse(kwargs)
        vector, _ = checked(embedding), counted("k", k)
        found = self._rows.nearest_rows(vector, counted("fetch_k", fetch_k), filter)
        chosen = diverse(vector, [near for _, near in found], k, lambda_mult)
        return [_document(found[place][0]) for place in chosen]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        """Relevance is the cosine, or 0 where it is negative.

        LangChain's convention for cosine is 1 - distance, which is the cosine again; cutting it
        off at 0 keeps it in [0, 1] without changing what a `score_threshold` means.
        """
        return lambda cosine: max(0.0, cosine)


def _document(row: Row) -> Document:
    return Document(id=row.id, page_content=row.text, metadata=row.metadata)


def _refuse(kwargs: Metadata) -> None:
    """Turn away keywords that would have no effect: a misspelt filter must not pass unseen."""
    if kwargs:
        message = f"DeepLakePassages doesn't know the keyword {', '.join(kwargs)}"
        raise TypeError(message)
