"""The ONNX graph of a packaged BERT encoder, built from its weights once and cached in a folder."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from domain.errors import ConfigError
from domain.messages import _

if TYPE_CHECKING:  # slow, and not needed to look up a version
    import numpy as np
    from numpy.typing import NDArray
    from onnx import ModelProto

Precision = Literal["int8", "fp32"]
Weights = dict[str, "NDArray[np.float32]"]

BUILDER_VERSION = "1"
HEADS, HEAD_WIDTH, WIDTH = 12, 32, 384
LAYER_NORM_EPSILON = 1e-12
OPSET = 20
OUTPUT = "sentence_embedding"
MASKED = -1e9
TEMPORARY = "embedding-building-"
LEFTOVER_AFTER_S = 600
WORD_VECTORS = "embeddings.word_embeddings.weight"


class PackagedModel(Protocol):
    """An encoder with `HEADS` heads of `HEAD_WIDTH`; its weights come with an installed package."""

    name: str
    sha256: str
    """The checksum of the file that contains the weights."""
    layers: int

    def weights(self) -> Weights:
        """The tensors by their names in BertModel.

        If `WORD_VECTORS` is missing, the graph takes word vectors as input instead of ids.

        Raises:
            ConfigError: The file is not the pinned one.
        """


def graph_file(model: PackagedModel, cache_dir: Path, precision: Precision) -> Path:
    """The path of the model's graph, which is built now if it is not cached yet.

    Raises:
        ConfigError: The weights are not the pinned ones, or the cache is not writable.
    """
    key = f"{model.sha256[:12]}-{BUILDER_VERSION}-ort{version('onnxruntime')}-{precision}"
    path = cache_dir / f"{model.name}-{key}.onnx"

    def write(folder: Path) -> Path:
        return _write(build(model), folder, precision)

    return prepared_file(path, write)


def prepared_file(path: Path, write: Callable[[Path], Path]) -> Path:
    """Return `path`; if the file is missing, `write` first creates it in the folder it is passed.

    The file is moved to `path` only when it is complete: a process killed while building leaves
    only a temporary file, and two processes can safely build at the same time.

    Raises:
        ConfigError: The folder of `path` is not writable.
    """
    if path.exists():
        return path
    cache_dir = path.parent
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(cache_dir)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=cache_dir) as folder:
            built = write(Path(folder))
            with built.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(built, path)
    except OSError as error:
        raise ConfigError(
            _(
                "The built-in embedding model can't be prepared in {cache_dir}: {error}. Make"
                " sure that the folder is writable and has 200 MB of free space, or choose"
                " another data folder (FOOTNOTE_DATA_DIR)."
            ).format(cache_dir=cache_dir, error=error)
        ) from error
    return path


def _remove_leftovers(cache_dir: Path) -> None:
    """Remove what killed builds left behind; a build a few minutes old may still be running."""
    for folder in cache_dir.glob(f"{TEMPORARY}*"):
        if folder.stat().st_mtime < time.time() - LEFTOVER_AFTER_S:
            shutil.rmtree(folder, ignore_errors=True)


def _write(made: "ModelProto", folder: Path, precision: Precision) -> Path:
    import onnx

    path = folder / "fp32.onnx"
    onnx.save(made, path)
    return path if precision == "fp32" else _quantize(path, folder / "int8.onnx")


def _quantize(source: Path, target: Path) -> Path:
    from onnxruntime.quantization import (  # type: ignore[import-untyped]
        QuantType,
        quantize_dynamic,
    )

    # One scale per tensor instead of per channel costs 0.013 nDCG@10. Weights of 7 bits can't
    # overflow the 16-bit sums of processors without VNNI, so every machine computes the same
    # vectors.
    quantize_dynamic(
        source, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
    )
    return target


def build(model: PackagedModel) -> "ModelProto":
    """The model with pooling and normalization.

    Inputs: `input_ids` (int64, batch by length, length at most 512) or `word_vectors` (float32,
    batch by length by 384), and `attention_mask` (int64, batch by length). Output:
    `sentence_embedding` (float32, batch by 384, unit length).
    """
    from onnx import checker, helper

    graph = _Graph(model.weights())
    hidden = graph.embeddings()
    bias = graph.attention_bias()
    for layer in range(model.layers):
        hidden = graph.layer(f"encoder.layer.{layer}", hidden, bias)
    graph.pool(hidden)
    made = helper.make_graph(
        graph.nodes, model.name, graph.inputs(), [graph.output()], graph.constants
    )
    whole = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    # Tells the quantizer that the shapes are known; otherwise it sets up logging to warn.
    helper.set_model_props(whole, {"onnx.quant.pre_process": "onnxruntime.quant"})
    checker.check_model(whole, full_check=True)
    return whole


class _Graph:
    """Builds nodes and constants; each method that adds a node returns the name of its result."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._takes_ids = WORD_VECTORS in weights

    def inputs(self) -> list[Any]:
        from onnx import TensorProto, helper

        shape = ["batch", "length"]
        words = (
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)
            if self._takes_ids
            else helper.make_tensor_value_info("word_vectors", TensorProto.FLOAT, [*shape, WIDTH])
        )
        return [words, helper.make_tensor_value_info("attention_mask", TensorProto.INT64, shape)]

    def output(self) -> Any:
        from onnx import TensorProto, helper

        return helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", WIDTH])

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value: "NDArray[Any]") -> str:
        import numpy as np
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def ints(self, *values: int) -> str:
        import numpy as np

        return self.constant(np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        import numpy as np

        return self.constant(np.array([value], np.float32))

    def embeddings(self) -> str:
        # Every token has type 0, so the vector of that type is added to every position.
        places = (
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        length = self.op("Shape", "attention_mask", start=1, end=2)
        place = self.op("Slice", self.constant(places), self.ints(0), length, self.ints(0))
        total = self.op("Add", self.words(), place)
        return self.layer_norm("embeddings.LayerNorm", total)

    def words(self) -> str:
        if not self._takes_ids:
            return "word_vectors"
        return self.op("Gather", self.constant(self.weights[WORD_VECTORS]), "input_ids")

    def attention_bias(self) -> str:
        from onnx import TensorProto

        mask = self.op("Cast", "attention_mask", to=TensorProto.FLOAT, output="mask")
        absent = self.op("Sub", self.number(1), mask)
        scaled = self.op("Mul", absent, self.number(MASKED))
        return self.op("Unsqueeze", scaled, self.ints(1, 2))

    def linear(self, prefix: str, hidden: str) -> str:
        kernel = self.constant(self.weights[f"{prefix}.weight"].T)
        bias = self.constant(self.weights[f"{prefix}.bias"])
        return self.op("Add", self.op("MatMul", hidden, kernel), bias)

    def layer_norm(self, prefix: str, hidden: str) -> str:
        scale = self.constant(self.weights[f"{prefix}.weight"])
        bias = self.constant(self.weights[f"{prefix}.bias"])
        return self.op(
            "LayerNormalization", hidden, scale, bias, axis=-1, epsilon=LAYER_NORM_EPSILON
        )

    def heads(self, prefix: str, hidden: str, order: list[int]) -> str:
        split = self.op("Reshape", self.linear(prefix, hidden), self.ints(0, 0, HEADS, HEAD_WIDTH))
        return self.op("Transpose", split, perm=order)

    def attention(self, prefix: str, hidden: str, bias: str) -> str:
        query = self.heads(f"{prefix}.self.query", hidden, [0, 2, 1, 3])
        key = self.heads(f"{prefix}.self.key", hidden, [0, 2, 3, 1])
        value = self.heads(f"{prefix}.self.value", hidden, [0, 2, 1, 3])
        scale = self.number(HEAD_WIDTH**-0.5)
        scores = self.op("Add", self.op("Mul", self.op("MatMul", query, key), scale), bias)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        joined = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", joined, self.ints(0, 0, WIDTH))

    def layer(self, prefix: str, hidden: str, bias: str) -> str:
        seen = self.linear(
            f"{prefix}.attention.output.dense",
            self.attention(f"{prefix}.attention", hidden, bias),
        )
        hidden = self.layer_norm(
            f"{prefix}.attention.output.LayerNorm", self.op("Add", seen, hidden)
        )
        inner = self.op("Gelu", self.linear(f"{prefix}.intermediate.dense", hidden))
        outer = self.linear(f"{prefix}.output.dense", inner)
        return self.layer_norm(f"{prefix}.output.LayerNorm", self.op("Add", outer, hidden))

    def pool(self, hidden: str) -> str:
        column = self.op("Unsqueeze", "mask", self.ints(2))
        total = self.op("ReduceSum", self.op("Mul", hidden, column), self.ints(1), keepdims=0)
        mean = self.op("Div", total, self.op("ReduceSum", "mask", self.ints(1), keepdims=1))
        return self.op("LpNormalization", mean, axis=-1, p=2, output=OUTPUT)
