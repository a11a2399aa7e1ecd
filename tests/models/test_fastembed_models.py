"""fastembed's own loading code with a tiny generated model."""

import json

import numpy as np
import onnx
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

from domain.errors import ConfigError, ModelUnavailableError
from models.embedding_choice import EmbeddingSpec, build_embeddings
from models.embedding_models import RECOMMENDED, CatalogEmbeddings, catalog_scripts, prefixes

WORDS = ["[PAD]", "[UNK]", "query:", "passage:", "leave", "days", "vpn"]
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), 4)).astype(np.float32)
PLAIN, PREFIXED = "test/tiny", "intfloat/multilingual-e5-tiny"
E5_LARGE = "intfloat/e5-large-v2"


@pytest.fixture(scope="module", autouse=True)
def register_models():
    for name in (PLAIN, PREFIXED):
        TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType.MEAN,
            normalization=False,
            sources=ModelSource(hf=name),
            dim=4,
            model_file="model.onnx",
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model with one table row per word; fastembed pools them, and we normalize."""
    folder = tmp_path_factory.mktemp("tiny")
    onnx.save(tiny_model(), folder / "model.onnx")
    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **special}))
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return str(folder)


def tiny_model():
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"])
    out = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "length", 4])
    node = helper.make_node("Gather", ["table", "input_ids"], ["hidden"])
    table = [numpy_helper.from_array(TABLE, "table")]
    graph = helper.make_graph([node], "tiny", [ids, mask], [out], table)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def expected(*words):
    mean = TABLE[[WORDS.index(word) for word in words]].astype(np.float64).mean(axis=0)
    return mean / np.linalg.norm(mean)


def build(name, folder, tmp_path):
    return build_embeddings(EmbeddingSpec("fastembed", name, path=folder), tmp_path)


def test_vectors_from_fastembed_have_length_one(folder, tmp_path):
    model = build(PLAIN, folder, tmp_path)
    vectors = model.embed_documents(["leave days", "vpn"])
    assert np.allclose(vectors, [expected("leave", "days"), expected("vpn")], atol=1e-6)
    assert np.allclose(model.embed_query("vpn"), expected("vpn"), atol=1e-6)


def test_a_model_receives_its_training_prefixes(folder, tmp_path):
    model = build(PREFIXED, folder, tmp_path)
    (passage,) = model.embed_documents(["leave"])
    assert np.allclose(passage, expected("passage:", "leave"), atol=1e-6)
    assert np.allclose(model.embed_query("leave"), expected("query:", "leave"), atol=1e-6)


def test_e5_large_is_available_by_name_and_receives_its_prefixes(folder, tmp_path):
    model = build(E5_LARGE, folder, tmp_path)
    (passage,) = model.embed_documents(["leave"])
    assert np.allclose(passage, expected("passage:", "leave"), atol=1e-6)
    assert np.allclose(model.embed_query("leave"), expected("query:", "leave"), atol=1e-6)
    assert catalog_scripts(E5_LARGE) == {"latin"}


@pytest.mark.parametrize(
    ("name", "expected_prefixes"),
    [
        (E5_LARGE, ("query: ", "passage: ")),
        ("e5-large-v2", ("query: ", "passage: ")),
        ("intfloat/e5-small", ("query: ", "passage: ")),
        (RECOMMENDED, ("query: ", "passage: ")),
        ("text-embedding-3-small", ("", "")),
    ],
)
def test_every_e5_model_has_its_prefixes_from_any_provider(name, expected_prefixes):
    assert prefixes(name) == expected_prefixes


@pytest.mark.parametrize("name", ["multilingual-e5-large-instruct", "e5-mistral-7b-instruct"])
def test_an_e5_instruct_model_receives_an_instruction_only_for_questions(name):
    question, passage = prefixes(f"intfloat/{name}")
    assert question.startswith("Instruct: ")
    assert passage == ""


def test_more_texts_than_a_batch_keep_their_order(folder, tmp_path):
    texts = ["leave", "days", "vpn"] * 20
    vectors = build(PLAIN, folder, tmp_path).embed_documents(texts)
    assert np.allclose(vectors, [expected(text) for text in texts], atol=1e-6)


def test_no_texts_have_no_vectors(folder, tmp_path):
    assert build(PLAIN, folder, tmp_path).embed_documents([]) == []


def test_a_folder_without_a_model_is_reported(tmp_path):
    with pytest.raises(ModelUnavailableError, match=f"{PLAIN} can't be loaded.*EMBEDDING_PATH"):
        CatalogEmbeddings(PLAIN, tmp_path, path=str(tmp_path / "empty")).embed_query("x")


def test_a_failed_download_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailableError, match="can't be loaded.*requires internet access"):
        CatalogEmbeddings("BAAI/bge-small-en-v1.5", tmp_path).embed_query("x")


def test_an_unknown_name_is_reported_with_similar_names(tmp_path):
    with pytest.raises(ConfigError, match="'bge-small-en'.*BAAI/bge-small-en.*https://"):
        build_embeddings(EmbeddingSpec("fastembed", "bge-small-en"), tmp_path)


def test_every_model_that_needs_prefixes_has_them_except_a_passage_only_one():
    needing = {
        entry["model"]
        for entry in TextEmbedding.list_supported_models()
        if any(sign in entry["description"] for sign in ("documents: nec", "documents: `"))
    }
    assert {name for name in needing if prefixes(name) == ("", "")} == {
        "Qdrant/stella-en-400M-v5-doc-onnx"
    }


def test_the_recommended_model_is_in_the_catalog_and_multilingual(tmp_path):
    build_embeddings(EmbeddingSpec("fastembed", RECOMMENDED), tmp_path)
    about = {e["model"]: e["description"] for e in TextEmbedding.list_supported_models()}
    assert "Multilingual (~100" in about[RECOMMENDED]
