"""fastembed's own loading and scoring code with a tiny generated model."""

import pytest
from fastembed.rerank.cross_encoder import TextCrossEncoder

from domain.errors import ConfigError, ModelError, ModelUnavailableError
from models.cross_encoders import DEFAULT_MODEL, PAIRS_PER_BATCH, CatalogCrossEncoder
from models.rerankers import RerankSpec, build_cross_encoder
from tests.fakes.cross_encoder import write_cross_encoder

WORDS = ["annual", "leave", "days", "vpn"]
PAIR = ("annual leave", "25 days of annual leave")


@pytest.fixture
def folder(tmp_path):
    return write_cross_encoder(tmp_path / "tiny", WORDS)


def build(folder, tmp_path):
    return build_cross_encoder(RerankSpec("fastembed", path=folder), tmp_path)


def test_question_and_passage_are_scored_together(folder, tmp_path):
    pairs = [PAIR, ("vpn", "days of leave"), ("leave days", "leave days leave"), ("vpn", "vpn")]
    assert build(folder, tmp_path).score(pairs) == [2.0, 0.0, 3.0, 1.0]


def test_more_pairs_than_a_batch_keep_their_order(folder, tmp_path):
    pairs = [("leave", "leave " * (n % 7)) for n in range(3 * PAIRS_PER_BATCH + 1)]
    assert build(folder, tmp_path).score(pairs) == [float(n % 7) for n in range(len(pairs))]


def test_texts_too_long_for_the_model_are_truncated(folder, tmp_path):
    pairs = [("leave", "leave " * 100_000), ("leave " * 100_000, "leave")]
    assert build(folder, tmp_path).score(pairs) == [60.0, 60.0]


def test_without_pairs_nothing_is_loaded_or_scored(tmp_path):
    assert build(str(tmp_path / "missing"), tmp_path).score([]) == []


def test_a_folder_without_a_model_is_reported(tmp_path):
    with pytest.raises(
        ModelUnavailableError,
        match=r"can't be loaded.*RERANK_PATH to that folder \(currently .*empty",
    ):
        build(str(tmp_path / "empty"), tmp_path).score([PAIR])


@pytest.mark.parametrize("file", ["onnx/model.onnx", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", [b"", b"<html>", b"{}"])
def test_a_damaged_file_is_reported(folder, tmp_path, file, content):
    (tmp_path / "tiny" / file).write_bytes(content)
    with pytest.raises(ModelUnavailableError, match=f"{DEFAULT_MODEL} can't be loaded"):
        build(folder, tmp_path).score([PAIR])


@pytest.mark.parametrize("outputs", [("flat", 1), ("vectors", 3)])
def test_a_model_that_is_not_a_cross_encoder_is_reported(tmp_path, outputs):
    folder = write_cross_encoder(tmp_path / "other", WORDS, outputs)
    with pytest.raises(ModelError, match="can't score.*is a cross-encoder"):
        build(folder, tmp_path).score([PAIR])


def test_a_failed_download_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailableError, match="requires internet access.*currently unset"):
        build(None, tmp_path).score([PAIR])


def test_an_unknown_name_is_reported_with_similar_names(tmp_path):
    with pytest.raises(ConfigError, match="RERANK_MODEL.*'ms-marco-L6'.*Xenova/ms-marco-MiniLM"):
        build_cross_encoder(RerankSpec("fastembed", "ms-marco-L6"), tmp_path)


def test_model_names_are_case_insensitive_and_include_the_default(tmp_path):
    names = [entry["model"] for entry in TextCrossEncoder.list_supported_models()]
    assert DEFAULT_MODEL in names
    for name in names:
        model = build_cross_encoder(RerankSpec("fastembed", name.upper()), tmp_path)
        assert isinstance(model, CatalogCrossEncoder)


def test_without_a_provider_there_is_no_reranker(tmp_path):
    assert build_cross_encoder(RerankSpec(), tmp_path) is None
