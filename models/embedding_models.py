"""Embeddings by name: those of fastembed's catalog, e5-large-v2, and those of servers."""

import threading
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import ArrayLike

from domain.errors import ConfigError, ModelError, ModelUnavailableError
from domain.messages import _
from models.model_files import load_errors
from models.openai_errors import NO_KEY, Endpoint, model_errors

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from langchain_openai import OpenAIEmbeddings


def unit_vectors(vectors: Iterable[ArrayLike]) -> list[list[float]]:
    """The vectors scaled to unit length; a zero vector stays zero.

    Raises:
        ModelError: A vector contains NaN or infinity, so it would not be near anything.
    """
    rows = np.array([np.asarray(vector, dtype=np.float32) for vector in vectors])
    if rows.size == 0:
        return []
    if not np.isfinite(rows).all():
        raise ModelError(
            _(
                "The embedding model returned a vector with values that are not finite"
                " numbers. Try again. If this keeps happening, choose another model with"
                " FOOTNOTE_EMBEDDING_MODEL."
            )
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: list[list[float]] = (rows / np.where(lengths > 0, lengths, 1)).tolist()
    return unit


TEXTS_PER_REQUEST = 64
"""Servers limit the tokens per request, often to 300,000; 64 passages stay far below that."""
RETRIES = 2


class ServerEmbeddings(Embeddings):
    """Embeds through a server's /embeddings; vectors are scaled to unit length.

    If the server is busy, requests for passages are retried, because an import can wait; a question
    is not retried. Before the first text, nothing is sent and no client is imported. `prefixes` are
    put before questions and before passages.

    Raises (all methods):
        ModelUnavailableError, ModelError: See `models.openai_errors.model_errors`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        dimensions: int | None = None,
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        self._endpoint = endpoint
        self._query_prefix, self._passage_prefix = prefixes
        self._requested_dimensions = dimensions
        self.dimensions = dimensions
        """Numbers per vector; None before the first vector unless a number was requested."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the texts, in order."""
        return self._embed(self._patient, [self._passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._embed(self._prompt, [self._query_prefix + text])[0]

    def _embed(self, client: "OpenAIEmbeddings", texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        with model_errors(self._endpoint):
            # OpenAI rejects empty texts.
            vectors = unit_vectors(client.embed_documents([text or " " for text in texts]))
        self._check(len(texts), vectors)
        return vectors

    def _check(self, expected: int, vectors: list[list[float]]) -> None:
        length = len(vectors[0]) if vectors else 0
        self.dimensions = self.dimensions or length
        if len(vectors) != expected or length != self.dimensions:
            raise ModelError(
                _(
                    "{host} returned {vectors} vectors with {length} dimensions for"
                    " {expected} texts, but vectors with {dimensions} dimensions were"
                    " expected. Check {model_setting} ({model})."
                ).format(
                    **self._endpoint.values,
                    vectors=len(vectors),
                    length=length,
                    expected=expected,
                    dimensions=self.dimensions,
                )
            )

    @cached_property
    def _patient(self) -> "OpenAIEmbeddings":
        return self._client(RETRIES)

    @cached_property
    def _prompt(self) -> "OpenAIEmbeddings":
        return self._client(0)

    def _client(self, retries: int) -> "OpenAIEmbeddings":
        from langchain_openai import OpenAIEmbeddings
        from pydantic import SecretStr

        from models.http_log import LoggedHttpClient

        return OpenAIEmbeddings(
            model=self._endpoint.model,
            openai_api_base=self._endpoint.base_url,
            openai_api_key=self._endpoint.key or SecretStr(NO_KEY),
            dimensions=self._requested_dimensions,
            # If true, the client downloads a vocabulary and sends token ids, which most servers
            # other than OpenAI's don't understand.
            check_embedding_ctx_length=False,
            chunk_size=TEXTS_PER_REQUEST,
            request_timeout=self._endpoint.timeout_s,
            max_retries=retries,
            openai_proxy="",  # set by LoggedHttpClient
            http_client=LoggedHttpClient(self._endpoint.guard),
        )


RECOMMENDED = "intfloat/multilingual-e5-large"
TEXTS_PER_BATCH = 16
_RETRIEVE = "Given a question, retrieve passages that answer it"
_PASSAGES = "Represent this sentence for searching relevant passages: "
# The prefixes that each model was trained with, for questions and for passages; neither fastembed
# nor servers add them. The first matching entry applies, regardless of the provider.
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
# Not in fastembed's catalog; Nixiesearch published the conversion to ONNX.
_E5_LARGE = "intfloat/e5-large-v2"
_E5_LARGE_FILES = "nixiesearch/e5-large-v2-onnx"
_registering = threading.Lock()
_SCRIPTS = {"english": "latin", "german": "latin", "spanish": "latin", "chinese": "chinese"}


class CatalogEmbeddings(Embeddings):
    """Embeds with a model that fastembed downloads when first used, or loads from `path`.

    Vectors have unit length. Downloads are kept in `cache_dir`. The prefixes that the model was
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
        """The vectors of the texts, in order."""
        inputs = [self._passage_prefix + text for text in texts]
        return unit_vectors(self._model().passage_embed(inputs, batch_size=TEXTS_PER_BATCH))

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
                _(
                    "The embedding model {name} can't be loaded: {error}. It is downloaded"
                    " once, which requires internet access. Without internet access, put its"
                    " files in a folder, and set FOOTNOTE_EMBEDDING_PATH to that folder."
                ).format(name=self._name, error=error)
            ) from error


def check_name(model: str) -> None:
    """Raise ConfigError with similar names if fastembed has no model of this name."""
    names = {name.lower(): name for name, _ in _catalog()}
    if model.lower() in names:
        return
    raise ConfigError(
        _(
            "FOOTNOTE_EMBEDDING_MODEL: fastembed has no embedding model {model}. Similar"
            " names: {near_names}. For Korean and Japanese: intfloat/multilingual-e5-large."
            " All names: https://qdrant.github.io/fastembed/examples/Supported_Models/"
        ).format(model=repr(model), near_names=near_names(model, names))
    )


def near_names(model: str, names: Mapping[str, str]) -> str:
    """The most similar names, for a message; `names` maps lower-case names to the originals."""
    near = get_close_matches(model.lower(), names, n=3, cutoff=0.4)
    return ", ".join(names[name] for name in near) or "none"


def prefixes(model: str) -> tuple[str, str]:
    """The prefixes for questions and passages; empty for most models."""
    name = model.lower().removeprefix("intfloat/")
    return next((pair for start, pair in _PREFIXES.items() if name.startswith(start)), ("", ""))


def catalog_scripts(model: str) -> frozenset[str] | None:
    """The scripts that the model reads according to its catalog entry; None for all."""
    about = next((text.lower() for name, text in _catalog() if name.lower() == model.lower()), "")
    return frozenset(script for word, script in _SCRIPTS.items() if word in about) or None


def _catalog() -> list[tuple[str, str]]:
    models = _fastembed().list_supported_models()
    return [(entry["model"], entry["description"]) for entry in models]


def _fastembed() -> "type[TextEmbedding]":
    """The fastembed class, after registering e5-large-v2."""
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
