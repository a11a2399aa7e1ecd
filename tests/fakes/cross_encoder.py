"""A tiny cross-encoder in the format of the real library: it counts shared words."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def write_cross_encoder(folder, words, outputs=("scores", 2)):
    """Write model and tokenizer to the folder, in the layout of fastembed's default model.

    Words are one-hot vectors; special and unknown tokens are zero. `outputs` chooses another
    node of the graph and its rank, for a model that is not a cross-encoder.
    """
    (folder / "onnx").mkdir(parents=True)
    onnx.save(_model(len(SPECIAL) + len(words), *outputs), folder / "onnx" / "model.onnx")
    _tokenizer([*SPECIAL, *words]).save(str(folder / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **special}))
    return str(folder)


def _tokenizer(vocabulary):
    ids = {word: n for n, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, ids[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def _model(size, output, rank):
    """The dot product of the question's and the passage's summed vectors."""
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "n"]) for name in names]
    table = np.eye(size, dtype=np.float32)
    table[: len(SPECIAL)] = 0
    constants = {"table": table, "last": np.array([2]), "words": np.array([1]), "one": np.ones(1)}
    constants["one"] = constants["one"].astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["of_passage"]),
        helper.make_node("Sub", ["one", "of_passage"], ["of_question"]),
        helper.make_node("Mul", ["vectors", "of_passage"], ["passage_words"]),
        helper.make_node("Mul", ["vectors", "of_question"], ["question_words"]),
        helper.make_node("ReduceSum", ["passage_words", "words"], ["passage"], keepdims=0),
        helper.make_node("ReduceSum", ["question_words", "words"], ["question"], keepdims=0),
        helper.make_node("Mul", ["passage", "question"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "words"], ["scores"], keepdims=1),
        helper.make_node("ReduceSum", ["shared", "words"], ["flat"], keepdims=0),
    ]
    shape = ["b", "n", "w"][:rank]
    graph = helper.make_graph(
        nodes,
        "tiny",
        inputs,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
