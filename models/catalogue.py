"""Any embedding of fastembed's catalogue, and e5-large-v2, by name."""

import threading
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from errors import ConfigError, ModelUnavailableError
from models.runtime import load_errors
from models.vectors import unit_vectors

if TYPE_CHECKING:
    from fastembed import TextEmbedding

RECOMMENDED = "intfloat/multilingual-e5-large"
TEXTS_PER_BATCH = 16
_RETRIEVE = "Given a question, retrieve passages that answer it"
_PASSAGES = "Represent this sentence for searching relevant passages: "
# What each model was trained to see before a question and before a passage; neither fastembed nor
# servers add any. The first that a name begins with counts, whoever's it is said to be.
_E5 = ("query: ", "passage: ")
_PREFIXES = {
    "multilingual-e5-large-instruct": (f"Instruct: {_RETRIEVE}\nQuery: ", ""),
    "multilingual-e5": _E5,
    "e5-mistral": (f"Instruct: {_RETRIEVE}\nQuery: ", ""),
    "e5-": _E5,
    "google/embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen/qwen3-embedding": (f"Instruct: {_RETRIEVE}\nQuery:", ""),
    "nomic-ai/nomic-embed": ("search_query: ", "search_document: "),
    "snowflake/snowflake-arctic": (_PASSAGES, ""),
    "mixedbread-ai/mxbai": (_PASSAGES, ""),
    "baai/bge-base-en": (_PASSAGES, ""),
    "baai/bge-small-en": (_PASSAGES, ""),
}
# Not in fastembed's catalogue: in ONNX it is published, converted, by Nixiesearch.
_E5_LARGE = "intfloat/e5-large-v2"
_E5_LARGE_FILES = "nixiesearch/e5-large-v2-onnx"
_registering = threading.Lock()
_SCRIPTS = {"english": "latin", "german": "latin", "spanish": "latin", "chinese": "chinese"}


class CatalogueEmbeddings(Embeddings):
    """Embeds with a model that fastembed downloads at the first text, or loads from `path`.

    Vectors are of length one. `cache_dir` keeps the download. The prefixes that the model was
    trained with are put before questions and passages.

    Raises (all methods):
        ModelUnavailableError: The model can't be downloaded or loaded.
    """

    def __init__(self, model: str, cache_dir: Path, *, path: str | None = None) -> None:
        self._name = model
        self._cache_dir = cache_dir
        self._path = path
        self._query_prefix, self._passage_prefix = prefixes(model)
        self._lock = threading.Lock()
        self._loaded: TextEmbedding | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the texts, in their order."""
        marked = [self._passage_prefix + text for text in texts]
        return unit_vectors(self._model().passage_embed(marked, batch_size=TEXTS_PER_BATCH))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return unit_vectors(self._model().query_embed(self._query_prefix + text))[0]

    def _model(self) -> "TextEmbedding":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "TextEmbedding":
        try:
            return _fastembed()(
                self._name, cache_dir=str(self._cache_dir), specific_model_path=self._path
            )
        except load_errors() as error:
            raise ModelUnavailableError(
                f"The embedding {self._name} can't be loaded: {error}. It is downloaded once, "
                "which needs the internet; without it, put its files into a folder and name that "
                "in FOOTNOTE_EMBEDDING_PATH."
            ) from error


def check_name(model: str) -> None:
    """Raise ConfigError, with the nearest names, where fastembed knows no such model."""
    names = {name.lower(): name for name, _ in _catalogue()}
    if model.lower() in names:
        return
    raise ConfigError(
        f"FOOTNOTE_EMBEDDING_MODEL: fastembed knows no embedding {model!r}. "
        f"Near to it: {near_names(model, names)}. "
        f"For Korean and Japanese: {RECOMMENDED}. All names: "
        "https://qdrant.github.io/fastembed/examples/Supported_Models/"
    )


def near_names(model: str, names: Mapping[str, str]) -> str:
    """The names most like it, for a message; `names` has each under its lower-case form."""
    near = get_close_matches(model.lower(), names, n=3, cutoff=0.4)
    return ", ".join(names[name] for name in near) or "none"


def prefixes(model: str) -> tuple[str, str]:
    """What goes before a question and before a passage; empty for most models."""
    name = model.lower().removeprefix("intfloat/")
    return next((pair for start, pair in _PREFIXES.items() if name.startswith(start)), ("", ""))


def catalogue_scripts(model: str) -> frozenset[str] | None:
    """The scripts the model reads, as its catalogue entry says; None for all of them."""
    about = next((text.lower() for name, text in _catalogue() if name.lower() == model.lower()), "")
    return frozenset(script for word, script in _SCRIPTS.items() if word in about) or None


def _catalogue() -> list[tuple[str, str]]:
    models = _fastembed().list_supported_models()
    return [(entry["model"], entry["description"]) for entry in models]


def _fastembed() -> "type[TextEmbedding]":
    """The class of fastembed, which knows e5-large-v2 from the first call on."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    with _registering:
        known = {entry["model"] for entry in TextEmbedding.list_supported_models()}
        if _E5_LARGE not in known:
            TextEmbedding.add_custom_model(
                _E5_LARGE,
                PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=_E5_LARGE_FILES),
                dim=1024,
                model_file="model.onnx",
                description="English",
            )
    return TextEmbedding
