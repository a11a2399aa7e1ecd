"""The passages for the vector stores, and Footnote's store of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from benchmarks.contest import Searches

Vectors = npt.NDArray[np.float32]

K = 20
GROUPS, GROUP = 100, 7
"""Every row is in one of so many groups; a filter leaves the rows of that one."""
TEXT = "A passage of the usual length. " * 24
AT_ONCE = 4096
VECTORS, QUESTIONS = "vectors.npy", "questions.npy"


def text_of(row: int) -> str:
    return f"{row}: {TEXT}"


def metadata_of(row: int) -> dict[str, Any]:
    return {"group": row % GROUPS, "title": f"Document {row // 10}"}


def blocks(vectors: Vectors) -> list[range]:
    """Batches of rows to write."""
    count = len(vectors)
    return [range(start, min(start + AT_ONCE, count)) for start in range(0, count, AT_ONCE)]


class QueryVector(Embeddings):
    """Replaces an embedding model: every question has the vector set last."""

    vector: Any = None

    def embed_query(self, text: str) -> Any:  # noqa: ARG002  # LangChain's signature
        """The vector set last."""
        return self.vector

    def embed_documents(self, texts: list[str]) -> Any:
        """Never called.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{len(texts)} passages come with their vectors")


def build_footnote(vectors: Vectors, folder: Path) -> None:
    fill_footnote(folder, vectors, [text_of(row) for row in range(len(vectors))])


def fill_footnote(folder: Path, vectors: Vectors, texts: Sequence[str]) -> None:
    from storage.vectors.passage_store import DeepLakePassages

    store = DeepLakePassages(folder, QueryVector())
    for rows in blocks(vectors):
        store.add_vectors(
            [str(row) for row in rows],
            texts[rows.start : rows.stop],
            vectors[rows.start : rows.stop],
            [metadata_of(row) for row in rows],
        )


def open_footnote(_place: Path, folder: Path) -> Searches:
    from storage.vectors.passage_store import DeepLakePassages

    embedding = QueryVector()
    store = DeepLakePassages(folder, embedding)

    def ids(condition: Any) -> Callable[[Vectors], list[int]]:
        def search(question: Vectors) -> list[int]:
            embedding.vector = question
            return [int(id_) for id_, _ in store.similar_ids("", K, filter=condition)]

        return search

    def texts(question: Vectors) -> list[int]:
        found = store.similarity_search_with_score_by_vector(question.tolist(), K)
        return [int(document.id or -1) for document, _ in found]

    return {"ids": ids(None), "texts": texts, "filtered": ids({"group": GROUP})}
