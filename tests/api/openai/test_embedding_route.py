import base64
import struct

import openai
import pytest

from domain import LOCAL_USER

MODEL = "multilingual-e5-small"


def embed(client, texts, model=MODEL, **more):
    return client.embeddings.create(model=model, input=texts, **more)


def test_vectors_equal_those_of_the_index_in_the_order_of_the_texts(build_client):
    client = build_client()
    response = embed(client, ["annual leave", "VPN"])
    expected = client.services.embedding.embed(LOCAL_USER, ["annual leave", "VPN"])
    assert [one.index for one in response.data] == [0, 1]
    for one, vector in zip(response.data, expected, strict=True):
        assert one.embedding == pytest.approx(vector)
    assert (response.model, response.usage.total_tokens) == (MODEL, 0)


def test_floats_and_base64_encode_the_same_vector(build_client):
    client = build_client()
    body = {"model": MODEL, "input": "annual leave"}
    as_floats = client.post("/embeddings", body=body, cast_to=object)["data"][0]["embedding"]
    as_base64 = client.post(
        "/embeddings", body={**body, "encoding_format": "base64"}, cast_to=object
    )["data"][0]["embedding"]
    assert struct.unpack("<384f", base64.b64decode(as_base64)) == pytest.approx(as_floats)
    assert embed(client, "annual leave").data[0].embedding == pytest.approx(as_floats)


def test_only_the_dimensions_of_the_model_are_accepted(build_client):
    client = build_client()
    assert len(embed(client, "x", dimensions=384).data[0].embedding) == 384
    with pytest.raises(openai.BadRequestError, match="have 384 dimensions and") as raised:
        embed(client, "x", dimensions=256)
    assert raised.value.param == "dimensions"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([1, 2, 3], "check_embedding_ctx_length"),
        ([[1, 2], [3]], "check_embedding_ctx_length"),
        ("", "at least 1 character"),
        ([], "at least 1 item"),
        (["x", ""], r"input\[1\]"),
        (["x"] * 2049, "at most 2048"),
        ("x" * 20_001, "at most 20000"),
    ],
)
def test_texts_that_cannot_be_embedded_are_rejected(build_client, texts, message):
    with pytest.raises(openai.BadRequestError, match=message) as raised:
        embed(build_client(), texts)
    assert raised.value.param.startswith("input")


def test_an_unknown_embedding_model_is_not_found(build_client):
    with pytest.raises(openai.NotFoundError, match=f"Available models: {MODEL}"):
        embed(build_client(), "x", model="text-embedding-3-small")
