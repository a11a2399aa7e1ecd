"""An embedding model that is loaded on first use and caches the vectors of recent questions."""

import threading
from collections.abc import Callable
from functools import lru_cache

from langchain_core.embeddings import Embeddings

RECENT_QUESTIONS = 32
"""The number of cached questions; each is embedded for the search and to select sentences."""


class LazyEmbeddings(Embeddings):
    """A proxy for a model, so that opening an index does not load the model."""

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
