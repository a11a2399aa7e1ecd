"""The built-in embeddings, which run on ONNX Runtime without torch or downloads."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from domain.errors import ConfigError
from domain.language.script import script_of
from domain.messages import _
from models.bert_graph import WIDTH, Precision, graph_file
from models.builtin_models import BuiltinModel
from models.model_files import load_errors, return_freed_memory

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]


class BuiltinEmbeddings(Embeddings):
    """Embeds texts as unit vectors of 384 numbers; text beyond the model's limit is ignored.

    A text in a script that the model can't read gets the zero vector, which has no direction and so
    is not near anything. The model is loaded when the first text is embedded; the first time ever,
    its graph is built in `cache_dir`.

    Each text is computed alone, because in a batch the int8 scales would make its vector depend on
    its neighbors. Each core computes one text at a time.
    """

    def __init__(
        self,
        model: BuiltinModel,
        cache_dir: Path,
        *,
        precision: Precision = "int8",
        workers: int | None = None,
    ) -> None:
        self._model = model
        self._cache_dir = cache_dir
        self._precision: Precision = precision
        self._workers = workers or _cores()
        self._loading = threading.Lock()
        self._loaded: InferenceSession | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the passages, in order."""
        if not texts:
            return []
        self._session()
        # Longest first; otherwise one core could end up with a long text while the others idle.
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        with ThreadPoolExecutor(self._workers) as pool:
            vectors = dict(
                zip(order, pool.map(self._passage, (texts[i] for i in order)), strict=True)
            )
        self._return_memory()
        return [vectors[i] for i in range(len(texts))]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._vector(text, is_question=True)

    def _passage(self, text: str) -> list[float]:
        return self._vector(text, is_question=False)

    def _vector(self, text: str, *, is_question: bool) -> list[float]:
        scripts = self._model.scripts
        # A text without letters (numbers, symbols) is the same in every language.
        if scripts is not None and script_of(text) not in scripts | {"none"}:
            return [0.0] * WIDTH
        session = self._session()
        prefix = self._model.query_prefix if is_question else self._model.passage_prefix
        ids = self._model.pieces(prefix + text)
        inputs = {**self._model.words(ids), "attention_mask": _mask(ids)}
        (vectors,) = session.run(None, inputs)
        vector = self._model.adjust(vectors[0], text, is_question=is_question)
        numbers: list[float] = vector.tolist()
        return numbers

    def _return_memory(self) -> None:
        """Shrink ONNX Runtime's memory pool, which keeps what the longest texts needed.

        Without the pool, each text would get new pages from the system, and embedding would take
        up to half as much time again. The pool shrinks at the end of a run, so a short one follows.
        """
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        ids = self._model.pieces(".")
        inputs = {**self._model.words(ids), "attention_mask": _mask(ids)}
        self._session().run(None, inputs, options)

    def _session(self) -> "InferenceSession":
        with self._loading:
            if self._loaded is None:
                self._loaded = _open(graph_file(self._model, self._cache_dir, self._precision))
            return self._loaded


def _mask(ids: list[int]) -> "np.ndarray":
    import numpy as np  # not needed to start the program

    return np.ones((1, len(ids)), dtype=np.int64)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open(graph: Path) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Texts run in parallel instead.
    options.intra_op_num_threads = 1
    # This fused node is slower than its parts: int8 takes one eighth less time without it.
    unwanted = ["SkipLayerNormFusion"]
    try:
        session = onnxruntime.InferenceSession(
            graph, options, ["CPUExecutionProvider"], disabled_optimizers=unwanted
        )
    except load_errors() as error:
        raise ConfigError(
            _(
                "The prepared model {graph} is damaged. Delete the file: the next start"
                " rebuilds it."
            ).format(graph=graph)
        ) from error
    return_freed_memory()
    return session
