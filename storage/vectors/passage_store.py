"""The passages of a folder as a LangChain vector store, and embeddings that load on first use."""

import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from langchain_core.embeddings import Embeddings

from domain import Filter
from storage.allowed_ids import AllowedIds
from storage.vectors.deep_lake import PassageFiles
from storage.vectors.distance_metrics import DistanceMetric
from storage.vectors.passage_rows import PassageRows
from storage.vectors.passage_vector_store import PassageVectorStore


class DeepLakePassages(PassageVectorStore):
    """Passages and their vectors in a folder, searched by cosine similarity by default.

    Searches are exact, except those by cosine without a filter in large stores (see `VectorIndex`).

    Every change is one commit: if the disk is full or writing fails, StorageError is raised and
    nothing is saved. If another process keeps writing for too long, BusyError is raised.

    Threads may share a store; several processes may open the same folder and see each other's
    commits within a second.

    Nothing is created before the first passage is added. deeplake is imported only then or to read
    an existing store.
    """

    _rows: PassageRows

    def __init__(
        self,
        path: Path,
        embedding: Embeddings,
        *,
        timeout_s: float = 30.0,
        files: PassageFiles | None = None,
        distance_metric: str = DistanceMetric.COSINE,
        relevance_score_fn: Callable[[float], float] | None = None,
    ) -> None:
        """Set the folder without opening or creating it.

        Args:
            path: A folder for this store only.
            embedding: Embeds added texts and questions.
            timeout_s: How long a write waits for another writer before `BusyError`.
            files: The checker of the folder's files, if shared with others.
            distance_metric: See `DistanceMetric`; it may differ each time the folder is opened.
            relevance_score_fn: See `PassageVectorStore`.

        Raises:
            ValueError: There is no such metric.
        """
        metric = DistanceMetric(distance_metric)
        rows = PassageRows(files or PassageFiles(Path(path)), timeout_s=timeout_s, metric=metric)
        super().__init__(rows, embedding, relevance_score_fn)

    def refresh(self) -> None:
        """Let the next read find what other processes have written by now."""
        self._rows.expire()

    def allowed(self, filter: Filter | None) -> AllowedIds:
        """The ids that match the filter, as of this call, which takes one pass over the rows."""
        return self._rows.allowed(filter)


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
