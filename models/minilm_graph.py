"""The ONNX graph of all-MiniLM-L6-v2, built once from its weights and kept in a cache folder."""

import hashlib
import os
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from errors import ConfigError

if TYPE_CHECKING:  # slow, and whoever only asks for a version needs none
    import numpy as np
    from numpy.typing import NDArray
    from onnx import ModelProto

Precision = Literal["int8", "fp32"]
Weights = dict[str, "NDArray[np.float32]"]

MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUILDER_VERSION = "1"
LAYERS, HEADS, HEAD_WIDTH, WIDTH = 6, 12, 32, 384
LAYER_NORM_EPSILON = 1e-12
OPSET = 20
OUTPUT = "sentence_embedding"
MASKED = -1e9
TEMPORARY = "minilm-building-"
LEFTOVER_AFTER_S = 600


def graph_file(weights_file: Path, cache_dir: Path, precision: Precision) -> Path:
    """Path of the graph, built now if the cache doesn't hold it yet.

    It appears under its name only when it is complete, so a process killed while building
    leaves at most a temporary file, and two processes building at once do no harm.

    Raises:
        ConfigError: The weights are not the pinned ones, or the cache can't be written.
    """
    key = f"{MODEL_SHA256[:12]}-{BUILDER_VERSION}-ort{version('onnxruntime')}-{precision}"
    path = cache_dir / f"all-MiniLM-L6-v2-{key}.onnx"
    if path.exists():
        return path
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(cache_dir)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=cache_dir) as folder:
            built = _write(load_weights(weights_file), Path(folder), precision)
            os.replace(built, path)
    except OSError as error:
        raise ConfigError(
            f"The built-in embedding can't be prepared in {cache_dir}: {error}. "
            "Give it a writable folder with 200 MB of free disk, or choose another data folder "
            "(FOOTNOTE_DATA_DIR)."
        ) from error
    return path


def _remove_leftovers(cache_dir: Path) -> None:
    """Remove what a killed build left; one that is a few minutes old may still be at work."""
    for folder in cache_dir.glob(f"{TEMPORARY}*"):
        if folder.stat().st_mtime < time.time() - LEFTOVER_AFTER_S:
            shutil.rmtree(folder, ignore_errors=True)


def load_weights(path: Path) -> Weights:
    """The model's tensors by name, after checking that the file is the pinned one."""
    from safetensors.numpy import load

    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != MODEL_SHA256:
        raise ConfigError(
            f"{path} is not the model this program knows (sha256 {found}, expected "
            f"{MODEL_SHA256}). Install the pinned requirements again."
        )
    return load(data)


def _write(weights: Weights, folder: Path, precision: Precision) -> Path:
    import onnx

    path = folder / "fp32.onnx"
    onnx.save(build(weights), path)
    built = path if precision == "fp32" else _quantise(path, folder / "int8.onnx")
    with built.open("rb+") as file:
        os.fsync(file.fileno())
    return built


def _quantise(source: Path, target: Path) -> Path:
    from onnxruntime.quantization import (  # type: ignore[import-untyped]
        QuantType,
        quantize_dynamic,
    )

    # Scales per tensor instead of per channel cost 0.013 nDCG@10. Weights of 7 bits can't overflow
    # the 16-bit sums of processors without VNNI, so that every machine makes the same vectors.
    quantize_dynamic(
        source, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
    )
    return target


def build(weights: Weights) -> "ModelProto":
    """The model with pooling and normalisation.

    Inputs `input_ids` and `attention_mask` (int64, batch by length at most 512); output
    `sentence_embedding` (float32, batch by 384, of length one).
    """
    from onnx import TensorProto, checker, helper

    graph = _Graph(weights)
    hidden = graph.embeddings()
    bias = graph.attention_bias()
    for layer in range(LAYERS):
        hidden = graph.layer(f"encoder.layer.{layer}", hidden, bias)
    graph.pool(hidden)
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info(
        "sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH]
    )
    made = helper.make_graph(graph.nodes, "minilm", inputs, [output], graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    # Says that the shapes are known; otherwise the quantiser warns, and sets up logging to do so.
    helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Nodes and constants in the making; each method gives the name of its result."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

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
        words = self.constant(self.weights["embeddings.word_embeddings.weight"])
        # The type of every token is 0, so its vector is part of each position's.
        places = (
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        length = self.op("Shape", "input_ids", start=1, end=2)
        place = self.op("Slice", self.constant(places), self.ints(0), length, self.ints(0))
        total = self.op("Add", self.op("Gather", words, "input_ids"), place)
        return self.layer_norm("embeddings.LayerNorm", total)

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
