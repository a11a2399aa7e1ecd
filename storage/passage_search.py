"""Searches for passages by their vectors that read neither texts nor metadata from the disk."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from domain import Filter
from storage.found_rows import Near
from storage.passage_rows import PassageRows


class PassageSearch:
    """Finds the ids of passages; what they say is read by whoever shows them."""

    def __init__(self, rows: PassageRows, embedding: Embeddings) -> None:
        """Args: where the passages lie, and what turns questions into vectors."""
        self._rows = rows
        self._embedding = embedding

    def __len__(self) -> int:
        return len(self._rows)

    def ids(self) -> list[str]:
        """The id of every passage."""
        return self._rows.ids()

    def allowed(self, filter: Filter | None) -> Callable[[str], bool]:
        """Whether an id is that of a passage which satisfies the filter, exactly, as of this call.

        Building it costs one pass over the rows, asking it a look-up.
        """
        return self._rows.allowed(filter or {})

    def similar_ids(
        self, query: str, k: int, *, filter: Filter | None = None
    ) -> list[tuple[str, float]]:
        """The ids and cosines of the `k` passages most similar to the question, best first.

        It is `similarity_search_with_score` without reading texts and metadata from the disk.
        """
        near = self._rows.nearest(self._asked(query), counted("k", k), filter)
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
        """`max_marginal_relevance_search` without reading texts and metadata from the disk.

        Returns:
            The ids in the order of choice, with their cosines to the question (in no order).
        """
        vector, _ = self._asked(query), counted("k", k)
        near = self._rows.nearest(vector, counted("fetch_k", fetch_k), filter)
        chosen = diverse(vector, near, k, lambda_mult)
        return [(near[place].id, near[place].cosine) for place in chosen]

    def vectors_of(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors of these passages as they were given; unknown ids are left out."""
        return self._rows.vectors(ids)

    def _asked(self, query: str) -> npt.NDArray[np.float64]:
        return checked(self._embedding.embed_query(query))


def checked(vector: Sequence[float]) -> npt.NDArray[np.float64]:
    """A question's vector.

    Raises:
        ValueError: It is no row of finite numbers.
    """
    query = np.array(vector, dtype=np.float64)
    if query.ndim != 1 or not np.isfinite(query).all():
        message = "The query's vector must be one row of finite numbers"
        raise ValueError(message)
    return query


def diverse(
    query: npt.NDArray[np.float64], near: Sequence[Near], k: int, lambda_mult: float
) -> list[int]:
    """Places in `near` of the `k` chosen by maximal marginal relevance, in the order of choice.

    LangChain's own function compares each candidate with all chosen ones at each step: at k = 300
    it takes seconds. Here each step compares with the last one chosen only.
    """
    if not near:
        return []
    vectors = np.stack([each.vector for each in near]).astype(np.float64)
    length = np.linalg.norm(query)
    alike = vectors @ (query / length if length else query)
    nearest = np.full(len(near), -np.inf)  # the cosine to the nearest one chosen
    values, chosen = alike.copy(), list[int]()
    for _ in range(min(k, len(near))):
        chosen.append(int(np.argmax(values)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
        values = lambda_mult * alike - (1 - lambda_mult) * nearest
        values[chosen] = -np.inf
    return chosen


def counted(name: str, count: int) -> int:
    """How many are to be found.

    Raises:
        ValueError: Not even one.
    """
    if count <= 0:
        message = f"{name} must be at least 1, got {count}"
        raise ValueError(message)
    return count
