"""The choice of an embedding, and the fingerprint of its vectors."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from domain.errors import ConfigError
from models.builtin import BuiltinEmbeddings
from models.embedding_choice import EmbeddingSpec, build_embeddings, fingerprint, known_scripts

KEY = SecretStr("sk-secret-7")
SERVER = EmbeddingSpec("openai", "e", base_url="http://me:sk-secret-7@host:1/v1", api_key=KEY)

names = st.text(min_size=1, max_size=20)
specs = st.builds(
    EmbeddingSpec,
    provider=st.sampled_from(["builtin", "fastembed", "openai"]),
    model=names,
    precision=st.sampled_from(["int8", "fp32"]),
    path=st.none() | names,
    base_url=st.none() | st.just("http://localhost:11434/v1"),
    dimensions=st.none() | st.integers(1, 4096),
)


@given(specs)
def test_a_specification_is_restored_from_its_stored_options(spec):
    assert EmbeddingSpec(**json.loads(json.dumps(spec.stored()))) == spec


@given(specs)
def test_the_key_is_in_neither_the_stored_options_nor_the_fingerprint(spec):
    spec = dataclasses.replace(spec, api_key=KEY)
    for text in (json.dumps(spec.stored()), fingerprint(spec), repr(spec)):
        assert "sk-secret-7" not in text
    assert EmbeddingSpec(**spec.stored(), api_key=KEY).api_key == KEY


def test_a_password_in_the_base_url_is_in_neither_the_stored_options_nor_the_fingerprint():
    assert "sk-secret-7" not in fingerprint(SERVER) + json.dumps(SERVER.stored())
    assert "host:1" in fingerprint(SERVER)
    assert EmbeddingSpec(**SERVER.stored()).base_url == "http://host:1/v1"


DIFFERENT = [
    EmbeddingSpec(),
    EmbeddingSpec(precision="fp32"),
    EmbeddingSpec(model="all-MiniLM-L6-v2"),
    EmbeddingSpec("fastembed", "BAAI/bge-small-en-v1.5"),
    EmbeddingSpec("fastembed", "intfloat/multilingual-e5-large"),
    EmbeddingSpec("openai", "text-embedding-3-small", api_key=KEY),
    EmbeddingSpec("openai", "text-embedding-3-small", api_key=KEY, dimensions=256),
    EmbeddingSpec("openai", "text-embedding-3-large", api_key=KEY),
    EmbeddingSpec("openai", "text-embedding-3-small", base_url="http://localhost:1/v1"),
]


def test_settings_that_change_the_vectors_change_the_fingerprint():
    assert len({fingerprint(spec) for spec in DIFFERENT}) == len(DIFFERENT)


def test_other_settings_do_not_change_the_fingerprint():
    server = DIFFERENT[-1]
    same = dataclasses.replace(server, api_key=SecretStr("another"), timeout_s=5)
    assert fingerprint(same) == fingerprint(server)
    assert fingerprint(EmbeddingSpec(path="/models")) == fingerprint(EmbeddingSpec())


def test_the_passage_prefix_of_a_model_is_in_its_fingerprint():
    served = EmbeddingSpec("openai", "intfloat/e5-large-v2", base_url="http://localhost:1/v1")
    assert "passage='passage: '" in fingerprint(served)
    assert "passage='passage: '" in fingerprint(EmbeddingSpec("fastembed", served.model))
    assert "passage=" not in fingerprint(SERVER)


def test_the_built_in_embedding_is_loaded_lazily(tmp_path):
    assert isinstance(build_embeddings(EmbeddingSpec(), tmp_path), BuiltinEmbeddings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            EmbeddingSpec("cohere"),
            "FOOTNOTE_EMBEDDING_PROVIDER must be .*builtin, fastembed.*not 'cohere'",
        ),
        (
            EmbeddingSpec(precision="int4"),
            "FOOTNOTE_EMBEDDING_PRECISION must be .*int8 or fp32.*not 'int4'",
        ),
        (EmbeddingSpec(model="bge-m3"), "FOOTNOTE_EMBEDDING_MODEL is 'bge-m3'.*PROVIDER"),
        (EmbeddingSpec("openai", ""), "FOOTNOTE_EMBEDDING_MODEL is not set"),
        (EmbeddingSpec("openai", "e"), "OPENAI_API_KEY.*OPENAI_BASE_URL"),
    ],
)
def test_an_invalid_setting_is_reported_with_the_allowed_values(spec, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        build_embeddings(spec, tmp_path)


def test_the_scripts_that_a_model_supports_are_known():
    assert known_scripts(EmbeddingSpec(model="all-MiniLM-L6-v2")) == {"latin"}
    assert known_scripts(EmbeddingSpec(model="multilingual-e5-small")) is None
    assert known_scripts(EmbeddingSpec("fastembed", "BAAI/bge-small-en-v1.5")) == {"latin"}
    assert known_scripts(EmbeddingSpec("fastembed", "BAAI/bge-small-zh-v1.5")) == {"chinese"}
    mixed = EmbeddingSpec("fastembed", "jinaai/jina-embeddings-v2-base-zh")
    assert known_scripts(mixed) == {"latin", "chinese"}
    assert known_scripts(EmbeddingSpec("fastembed", "intfloat/multilingual-e5-large")) is None
    assert known_scripts(SERVER) is None
