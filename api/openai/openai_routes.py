"""The operations of OpenAI's protocol that the API supports."""

import base64
import struct
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import Field

from api.authentication import AnyCall, ReadCall
from api.field_types import Schema
from api.openai.openai_answers import ChatCompletion, completion_of
from api.openai.openai_error_responses import ModelNotFoundError, error_responses
from api.openai.openai_requests import (
    AGENT,
    CHAIN,
    AnswerRequest,
    ChatRequest,
    EmbeddingRequest,
    QuestionWithHistory,
    question_with_history,
)
from api.openai.openai_stream import STREAMED, ChunkStream
from api.openai.responses_answers import AnswerResponse, response_of
from api.openai.responses_requests import ResponseRequest
from api.openai.responses_stream import RESPONSE_STREAMED, ResponseStream
from api.streaming import AnswerCall, Answering
from bootstrap import Services
from domain import EXTRACTIVE, SearchChoice
from domain.errors import ModelOptionError
from services.chat.chat_service import end_of
from services.chat.model_options import ModelOptions
from services.events import Event


class Model(Schema):
    """A model that answers, or the embedding model."""

    id: str = Field(examples=[CHAIN])
    """Name of the model"""
    object: Literal["model"] = "model"
    """Type of the object"""
    created: int = 0
    """Always 0: the creation time is unknown"""
    owned_by: str = "footnote"
    """Always `footnote`"""


class ModelList(Schema):
    """The available models."""

    object: Literal["list"] = "list"
    """Type of the object"""
    data: list[Model]
    """The models that answer, then the embedding model"""


def chat_models(services: Services) -> list[str]:
    """The names of the models that answer; `footnote-agent` requires a chat model."""
    return [CHAIN] if services.chat.model_label == EXTRACTIVE else [CHAIN, AGENT]


def all_models(services: Services) -> list[str]:
    """List the models that answer, and the embedding model."""
    return [*chat_models(services), services.embedding.model]


def require_model(model: str, models: list[str]) -> None:
    """Check that the requested model is one of `models`.

    Raises:
        ModelNotFoundError: The model is not listed.
    """
    if model not in models:
        raise ModelNotFoundError(model, models)


class Embedding(Schema):
    """The vector of one text."""

    object: Literal["embedding"] = "embedding"
    """Type of the object"""
    index: int = Field(ge=0, examples=[0])
    """Index of the text in the input, from 0"""
    embedding: list[float] | str = Field(examples=[[0.021, -0.084, 0.047]])
    """The vector; with encoding_format base64, little-endian float32"""


class EmbeddingUsage(Schema):
    """Tokens are not counted for embeddings: all counts are 0."""

    prompt_tokens: Literal[0] = 0
    """Always 0"""
    total_tokens: Literal[0] = 0
    """Always 0"""


class EmbeddingList(Schema):
    """The vectors, in the order of the texts."""

    object: Literal["list"] = "list"
    """Type of the object"""
    data: list[Embedding]
    """One vector for each text"""
    model: str = Field(examples=["multilingual-e5-small"])
    """Name of the embedding model"""
    usage: EmbeddingUsage = Field(EmbeddingUsage())
    """Token usage; embeddings do not count tokens"""


def _pack(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


_WITH_BODY = error_responses(404, 409, 413, 415, 502)

_Named = Annotated[str, Path(description="Name of the model", examples=[CHAIN])]

router = APIRouter(tags=["openai"])


@router.get("/models")
def list_models(call: AnyCall) -> ModelList:
    """List the models that answer, and the embedding model."""
    return ModelList(data=[Model(id=name) for name in all_models(call.services)])


@router.get("/models/{model:path}", responses=error_responses(404))
def retrieve_model(call: AnyCall, model: _Named) -> Model:
    """Read a model."""
    require_model(model, all_models(call.services))
    return Model(id=model)


@router.post("/embeddings", responses=_WITH_BODY)
def create_embedding(call: ReadCall, body: EmbeddingRequest) -> EmbeddingList:
    """Embed texts with the embedding model of the library's index."""
    model = call.services.embedding.model
    require_model(body.model, [model])
    vectors = call.services.embedding.embed(
        call.principal,
        body.texts,
        as_questions=body.input_type == "query",
        dimensions=body.dimensions,
    )
    values = map(_pack, vectors) if body.encoding_format == "base64" else vectors
    data = [Embedding(index=index, embedding=one) for index, one in enumerate(values)]
    return EmbeddingList(data=data, model=model)


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses=_WITH_BODY | {200: {"content": STREAMED}},
)
async def create_chat_completion(call: Answering, body: ChatRequest) -> Any:
    """Answer the last question of a chat from the library, with checked citations.

    Nothing is stored: the messages are the whole conversation.
    """
    begin = _answer_events(call, body, question_with_history(body.messages))
    id_, created = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())
    if body.stream:
        chunks = ChunkStream(id_, created, body.model, body.wants_usage)
        return await call.stream(partial(chunks.lines, begin), bytes)
    return completion_of(end_of(await call.read(begin)), id_, body.model)


@router.post(
    "/responses",
    response_model=AnswerResponse,
    responses=_WITH_BODY | {200: {"content": RESPONSE_STREAMED}},
)
async def create_response(call: Answering, body: ResponseRequest) -> Any:
    """Answer the last question of the input from the library, with checked citations.

    Nothing is stored: the input is the whole conversation.
    """
    begin = _answer_events(call, body, question_with_history(body.items, "input"))
    id_, created = f"resp_{uuid.uuid4().hex}", int(time.time())
    if body.stream:
        events = ResponseStream(id_, created, body.model, body)
        return await call.stream(partial(events.lines, begin), bytes)
    return response_of(end_of(await call.read(begin)), id_, body)


def _answer_events(
    call: AnswerCall, body: AnswerRequest, question: QuestionWithHistory
) -> Callable[[], Generator[Event, None, None]]:
    """The function that starts the answer; raises the errors of an invalid request."""
    require_model(body.model, chat_models(call.services))
    return partial(_answer, call, body, question, body.options)


def _answer(
    call: AnswerCall, body: AnswerRequest, question: QuestionWithHistory, options: ModelOptions
) -> Generator[Event, None, None]:
    try:
        yield from call.services.chat.answer(
            call.principal, *question, search=_search_of(body), options=options
        )
    except ModelOptionError as error:
        for name, other in body.FIELDS.items():
            error.param = error.param.replace(name, other)
        raise


def _search_of(body: AnswerRequest) -> SearchChoice:
    options = body.footnote and body.footnote.search
    choice = options.choice() if options else SearchChoice()
    return replace(choice, by_agent=body.model == AGENT)
