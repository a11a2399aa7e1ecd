"""Any cross-encoder of fastembed's catalogue, by name or from a folder."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.cross_encoders import BaseCrossEncoder

from errors import ConfigError, ModelError, ModelUnavailableError
from models.catalogue import near_names
from models.runtime import load_errors

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

DEFAULT_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
PAIRS_PER_BATCH = 8
"""A batch is padded to its longest pair and can't be interrupted: small ones waste the least."""


class CatalogueCrossEncoder(BaseCrossEncoder):
    """Scores with a model that fastembed downloads at the first pair, or loads from `path`.

    `path` is a folder laid out like the model's own: onnx/model.onnx beside tokenizer.json and
    tokenizer_config.json. `cache_dir` keeps a download. Scores are the model's own (logits of
    any size for most): the higher the better, compared within one question only. What is too
    long for the model is cut at its end.
    """

    def __init__(self, model: str, cache_dir: Path, *, path: str | None = None) -> None:
        self._name = model
        self._cache_dir = cache_dir
        self._path = path
        self._lock = threading.Lock()
        self._loaded: TextCrossEncoder | None = None

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """A score for each pair of question and passage, in their order.

        Raises:
            ModelUnavailableError: The model can't be downloaded or loaded.
            ModelError: It is no cross-encoder, or can't read a pair.
        """
        if not text_pairs:
            return []
        model = self._model()
        errors: tuple[type[Exception], ...] = (*load_errors(), IndexError, TypeError)
        try:
            return list(model.rerank_pairs(text_pairs, batch_size=PAIRS_PER_BATCH))
        except errors as error:
            raise ModelError(
                f"The reranker {self._name} can't score: {error}. Check that it is a "
                f"cross-encoder ({self._place()})."
            ) from error

    def _model(self) -> "TextCrossEncoder":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "TextCrossEncoder":
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        try:
            return TextCrossEncoder(
                self._name, cache_dir=str(self._cache_dir), specific_model_path=self._path
            )
        # A damaged tokenizer is reported as a bare Exception, so no shorter list will do.
        except Exception as error:
            raise ModelUnavailableError(
                f"The reranker {self._name} can't be loaded: {error}. It is downloaded once, "
                "which needs the internet; without it, put its files into a folder and name that "
                f"in FOOTNOTE_RERANK_PATH ({self._place()})."
            ) from error

    def _place(self) -> str:
        return f"now {self._path}" if self._path else "now unset"


def check_name(model: str) -> None:
    """Raise ConfigError, with the nearest names, where fastembed knows no such cross-encoder."""
    if model == DEFAULT_MODEL:  # fastembed takes most of a second to import
        return
    names = {name.lower(): name for name in _catalogue()}
    if model.lower() in names:
        return
    raise ConfigError(
        f"FOOTNOTE_RERANK_MODEL: fastembed knows no cross-encoder {model!r}. "
        f"Near to it: {near_names(model, names)}. "
        f"All names: {', '.join(names.values())}."
    )


def _catalogue() -> list[str]:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return [entry["model"] for entry in TextCrossEncoder.list_supported_models()]
