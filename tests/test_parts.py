"""The key of an embedding endpoint stays with its server until the index is rebuilt."""

import pytest

from bootstrap.parts import Parts
from domain.errors import ModelError
from settings import load_settings
from tests.fakes.openai import EMBEDDING_MODEL, vector_of

KEY = "sk-very-secret"


@pytest.fixture
def parts_of(tmp_path):
    def build(url, **settings):
        server = {"embedding_provider": "openai", "embedding_base_url": url}
        model = {"embedding_model": EMBEDDING_MODEL, "embedding_api_key": KEY}
        return Parts(load_settings(**{"data_dir": tmp_path, **server, **model, **settings}))

    return build


def embed(parts, index):
    return parts.embeddings_for(index.embedding).embed_query("x")


def test_a_key_is_not_sent_to_the_earlier_server_of_an_index(parts_of, model_server):
    index = parts_of(model_server.url).configured
    assert embed(parts_of("http://localhost:1/v1"), index)
    assert all(KEY not in str(one.headers) for one in model_server.requests)


def test_an_earlier_server_that_needs_a_key_is_reported(parts_of, model_server):
    model_server.api_key = KEY
    index = parts_of(model_server.url).configured
    assert len(embed(parts_of(model_server.url), index)) == len(vector_of("x"))
    for parts in (parts_of(None), parts_of("http://localhost:1/v1", embedding_provider="builtin")):
        with pytest.raises(ModelError, match=f"{model_server.url}, whose key.*cli.py reindex"):
            embed(parts, index)


def test_an_index_with_another_model_of_the_same_server_has_its_key(parts_of, model_server):
    model_server.api_key = KEY
    index = parts_of(model_server.url).configured
    assert embed(parts_of(model_server.url, embedding_model="other"), index)


def test_an_index_of_the_same_host_follows_its_new_address(parts_of, model_server):
    index = parts_of(model_server.url.replace("http:", "https:")).configured
    model_server.api_key = KEY
    assert embed(parts_of(model_server.url), index)
