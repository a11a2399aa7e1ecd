"""Vectors, as OpenAI's clients are told them."""

import base64
import struct
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field


class Embedding(BaseModel):
    """The vector of one text."""

    object: Literal["embedding"] = Field("embedding", description="Kind of the object")
    index: int = Field(ge=0, description="The place of its text in the input, from 0", examples=[0])
    embedding: list[float] | str = Field(
        description="Its numbers; with encoding_format base64 they are float32, little-endian",
        examples=[[0.021, -0.084, 0.047]],
    )


class EmbeddingUsage(BaseModel):
    """Embeddings tell no tokens: both are 0."""

    prompt_tokens: Literal[0] = Field(0, description="Always 0")
    total_tokens: Literal[0] = Field(0, description="Always 0")


class EmbeddingList(BaseModel):
    """The vectors, in the order of the texts."""

    object: Literal["list"] = Field("list", description="Kind of the object")
    data: list[Embedding] = Field(description="A vector for each text")
    model: str = Field(description="The model that made them", examples=["multilingual-e5-small"])
    usage: EmbeddingUsage = Field(EmbeddingUsage(), description="Not counted")


def embeddings_of(vectors: Sequence[Sequence[float]], model: str, encoding: str) -> EmbeddingList:
    """The vectors in the encoding asked for, `float` or `base64`."""
    told = [_packed(one) if encoding == "base64" else list(one) for one in vectors]
    data = [Embedding(index=index, embedding=one) for index, one in enumerate(told)]
    return EmbeddingList(data=data, model=model)


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
