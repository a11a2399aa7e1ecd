"""Embeddings over HTTP, through the real client."""

import json
import urllib.request

import numpy as np
import pytest
from pydantic import SecretStr

from domain.errors import ModelError, ModelUnavailableError
from models.embedding_choice import EmbeddingSpec, build_embeddings
from models.embedding_models import TEXTS_PER_REQUEST
from tests.fakes.openai import EMBEDDING_MODEL, Fault, Raw, Vectors, vector_of

KEY = "sk-secret-7"


def connect(server, tmp_path, **settings):
    spec = EmbeddingSpec("openai", EMBEDDING_MODEL, base_url=server.url, **settings)
    return build_embeddings(spec, tmp_path)


def unit(text, dimension=8):
    vector = np.array(vector_of(text, dimension))
    return vector / np.linalg.norm(vector)


def test_vectors_are_in_order_and_have_length_one(server, tmp_path):
    texts = ["one", "둘", "三"]
    vectors = connect(server, tmp_path).embed_documents(texts)
    assert np.allclose(vectors, [unit(text) for text in texts], atol=1e-6)


def test_texts_are_sent_untokenized_and_vectors_requested_in_base64(server, tmp_path):
    connect(server, tmp_path).embed_query("how many days?")
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {
        "model": EMBEDDING_MODEL,
        "input": ["how many days?"],
        "encoding_format": "base64",
    }


def test_a_model_receives_its_training_prefixes(server, tmp_path):
    spec = EmbeddingSpec("openai", "intfloat/e5-large-v2", base_url=server.url)
    model = build_embeddings(spec, tmp_path)
    model.embed_documents(["leave", ""])
    model.embed_query("how many days?")
    sent = [text for request in server.requests for text in request.body["input"]]
    assert sent == ["passage: leave", "passage: ", "query: how many days?"]


def test_the_server_returns_vectors_as_floats_unless_base64_is_requested(server, tmp_path):
    body = json.dumps({"model": EMBEDDING_MODEL, "input": "one"}).encode()
    with urllib.request.urlopen(f"{server.url}/embeddings", body) as response:
        (row,) = json.load(response)["data"]
    assert row["embedding"] == vector_of("one")


def test_many_texts_are_sent_in_bounded_requests(server, tmp_path):
    texts = [f"text {n}" for n in range(2 * TEXTS_PER_REQUEST + 1)]
    vectors = connect(server, tmp_path).embed_documents(texts)
    assert np.allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 1]


def test_no_texts_send_no_request_and_an_empty_text_is_sent_as_a_space(server, tmp_path):
    model = connect(server, tmp_path)
    assert model.embed_documents([]) == []
    assert len(model.embed_documents(["", "x"])) == 2
    assert server.requests[0].body["input"] == [" ", "x"]


def test_the_dimension_is_learned_from_the_first_vector(server, tmp_path):
    model = connect(server, tmp_path)
    assert model.dimensions is None
    model.embed_query("x")
    assert model.dimensions == 8
    server.will_embed(Vectors(((1.0, 2.0),)))
    with pytest.raises(ModelError, match="2 dimensions.*with 8 dimensions.*EMBEDDING_MODEL"):
        model.embed_query("x")


def test_fewer_vectors_than_texts_are_an_error(server, tmp_path):
    server.will_embed(Vectors(((1.0, 2.0),)))
    with pytest.raises(ModelError, match="1 vectors.*for 2 texts"):
        connect(server, tmp_path).embed_documents(["a", "b"])


def test_a_configured_dimension_is_sent(server, tmp_path):
    vector = connect(server, tmp_path, dimensions=4).embed_query("x")
    assert server.requests[0].body["dimensions"] == 4
    assert np.allclose(vector, unit("x", 4), atol=1e-6)


def test_a_zero_vector_stays_zero(server, tmp_path):
    server.will_embed(Vectors(((0.0, 0.0),)))
    assert connect(server, tmp_path).embed_query("x") == [0.0, 0.0]


def test_a_refused_key_is_not_shown(server, tmp_path):
    server.api_key = "another"
    with pytest.raises(ModelError, match="FOOTNOTE_EMBEDDING_API_KEY") as raised:
        connect(server, tmp_path, api_key=SecretStr(KEY)).embed_query("x")
    assert KEY not in str(raised.value)


def test_a_busy_server_is_retried_for_passages_but_not_for_a_question(server, tmp_path):
    model = connect(server, tmp_path)
    server.will_embed(Fault(429, retry_after="0.01"), Fault(503))
    assert len(model.embed_documents(["x"])) == 1
    assert len(server.requests) == 3
    server.will_embed(Fault(429, retry_after="17"))
    with pytest.raises(ModelUnavailableError, match="in 17 s"):
        model.embed_query("x")
    assert len(server.requests) == 4


@pytest.mark.parametrize("body", [b"[]", b"{}", b"<html>hello</html>"])
def test_an_answer_in_another_protocol_is_reported_with_the_base_url(server, tmp_path, body):
    server.will_embed(Raw(body, "text/html" if body[0] == ord("<") else "application/json"))
    with pytest.raises(ModelError, match="OpenAI's protocol.*FOOTNOTE_EMBEDDING_BASE_URL"):
        connect(server, tmp_path).embed_query("x")


def test_an_unreachable_server_is_reported(tmp_path):
    spec = EmbeddingSpec("openai", "e", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailableError, match="127.0.0.1:9 can't be reached"):
        build_embeddings(spec, tmp_path).embed_query("x")
