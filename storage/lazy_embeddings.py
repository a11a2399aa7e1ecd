"""An embedding model that is loaded when the first text is embedded, and knows recent questions."""

import threading
from collections.abc import Callable
from functools import lru_cache

from langchain_core.embeddings import Embeddings

RECENT_QUESTIONS = 32
"""A question is embedded for the search and again for the choice of sentences: once is enough."""


class LazyEmbeddings(Embeddings):
    """Stands for a model where opening an index must not cost loading it.

    It remembers the vectors of recent questions.
    """

    def __init__(self, load: Callable[[], Embeddings]) -> None:
        self._load = load
        self._model: Embeddings | None = None
        self._loading = threading.Lock()
        self._question_vector = lru_cache(RECENT_QUESTIONS)(self._embed_question)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As the model does."""
        return self.model.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """As the model does."""
        return list(self._question_vector(text))

    def _embed_question(self, text: str) -> tuple[float, ...]:
        return tuple(self.model.embed_query(text))

    @property
    def model(self) -> Embeddings:
        """The model itself, loaded now if it was not."""
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model
