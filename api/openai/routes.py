"""The operations of OpenAI's protocol that the library answers."""

import time
import uuid
from collections.abc import AsyncIterator, Generator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from api.access import Asker, Caller, OpenServices, Reader
from api.openai.completions import ChatCompletion, completion_of
from api.openai.embeddings import EmbeddingList, embeddings_of
from api.openai.errors import error_responses
from api.openai.models import AGENT, CHAIN, Model, ModelList, all_models, chat_models, require_model
from api.openai.requests import ChatRequest, EmbeddingRequest
from api.openai.stream import STREAMED, ChunkStream
from api.openai.talk import talk_of
from api.streaming import (
    GONE,
    EventStream,
    OpenStreams,
    Stream,
    next_unless_gone,
    read_unless_gone,
)
from domain import SearchChoice
from services.events import Event, turn_of

_WITH_BODY = error_responses(404, 409, 413, 415, 502)

_Named = Annotated[str, Path(description="Name of the model", examples=[CHAIN])]

router = APIRouter(tags=["openai"])


@router.get("/models")
def list_models(services: OpenServices, _principal: Caller) -> ModelList:
    """The models that answer, and the one that embeds."""
    return ModelList(data=[Model(id=name) for name in all_models(services)])


@router.get("/models/{model:path}", responses=error_responses(404))
def retrieve_model(model: _Named, services: OpenServices, _principal: Caller) -> Model:
    """One model."""
    require_model(model, all_models(services))
    return Model(id=model)


@router.post("/embeddings", responses=_WITH_BODY)
def create_embedding(
    wanted: EmbeddingRequest, services: OpenServices, principal: Reader
) -> EmbeddingList:
    """Vectors of texts, made by the embedding of the library's index."""
    model = services.embedding.model
    require_model(wanted.model, [model])
    vectors = services.embedding.embed(
        principal,
        wanted.texts,
        as_questions=wanted.input_type == "query",
        dimensions=wanted.dimensions,
    )
    return embeddings_of(vectors, model, wanted.encoding_format or "float")


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    responses=_WITH_BODY | {200: {"content": STREAMED}},
)
async def create_chat_completion(
    wanted: ChatRequest,
    services: OpenServices,
    streams: OpenStreams,
    principal: Asker,
    request: Request,
) -> Any:
    """Answer the last question of a chat out of the library, with checked citations.

    Nothing is kept: the messages are the whole conversation.
    """
    require_model(wanted.model, chat_models(services))
    question, history = talk_of(wanted.messages)
    search = _search_of(wanted)

    def events() -> Generator[Event, None, None]:
        return services.chat.answer(principal, question, history, search=search)

    id_ = f"chatcmpl-{uuid.uuid4().hex}"
    if wanted.stream:
        chunks = ChunkStream(id_, int(time.time()), wanted.model, wanted.wants_usage)
        stream = streams.start(lambda: chunks.lines(events()))
        first = await next_unless_gone(stream, request)
        return EventStream(_after(first, stream), stream) if first else GONE
    told = await read_unless_gone(streams.start(events), request)
    return completion_of(turn_of(told), id_, wanted.model) if told else GONE


async def _after(first: bytes, rest: Stream[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for lines in rest.together():
        yield b"".join(lines)


def _search_of(wanted: ChatRequest) -> SearchChoice:
    told = wanted.footnote and wanted.footnote.search
    chosen = told.choice() if told else SearchChoice()
    return replace(chosen, by_agent=wanted.model == AGENT)
