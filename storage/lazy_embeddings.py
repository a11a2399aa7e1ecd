"""An embedding model that is loaded when the first text is embedded."""

import threading
from collections.abc import Callable

from langchain_core.embeddings import Embeddings


class LazyEmbeddings(Embeddings):
    """Stands for a model where opening an index must not cost loading it."""

    def __init__(self, load: Callable[[], Embeddings]) -> None:
        self._load = load
        self._model: Embeddings | None = None
        self._loading = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As the model does."""
        return self.model.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """As the model does."""
        return self.model.embed_query(text)

    @property
    def model(self) -> Embeddings:
        """The model itself, loaded now if it was not."""
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model
