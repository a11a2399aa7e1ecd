import base64
import struct

import openai
import pytest

from domain import LOCAL_USER

MODEL = "multilingual-e5-small"


def embed(client, texts, model=MODEL, **more):
    return client.embeddings.create(model=model, input=texts, **more)


def test_the_vectors_are_those_of_the_index_in_the_order_of_the_texts(client):
    made = client()
    told = embed(made, ["annual leave", "VPN"])
    expected = made.services.embedding.embed(LOCAL_USER, ["annual leave", "VPN"])
    assert [one.index for one in told.data] == [0, 1]
    for one, vector in zip(told.data, expected, strict=True):
        assert one.embedding == pytest.approx(vector)
    assert (told.model, told.usage.total_tokens) == (MODEL, 0)


def test_numbers_and_base64_say_the_same(client):
    made = client()
    body = {"model": MODEL, "input": "annual leave"}
    as_floats = made.post("/embeddings", body=body, cast_to=object)["data"][0]["embedding"]
    packed = made.post("/embeddings", body={**body, "encoding_format": "base64"}, cast_to=object)[
        "data"
    ][0]["embedding"]
    assert struct.unpack("<384f", base64.b64decode(packed)) == pytest.approx(as_floats)
    assert embed(made, "annual leave").data[0].embedding == pytest.approx(as_floats)


def test_the_number_of_dimensions_can_only_be_the_models(client):
    made = client()
    assert len(embed(made, "x", dimensions=384).data[0].embedding) == 384
    with pytest.raises(openai.ConflictError, match="have 384 and"):
        embed(made, "x", dimensions=256)


@pytest.mark.parametrize(
    ("texts", "told"),
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
def test_what_can_not_be_embedded_is_refused(client, texts, told):
    with pytest.raises(openai.BadRequestError, match=told) as failed:
        embed(client(), texts)
    assert failed.value.param.startswith("input")


def test_another_model_is_none(client):
    with pytest.raises(openai.NotFoundError, match=f"Available models: {MODEL}"):
        embed(client(), "x", model="text-embedding-3-small")
