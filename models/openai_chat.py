"""LangChain's OpenAI chat model, with limits, errors for people and without hidden downloads."""

import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from typing import Any, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import PrivateAttr

from domain import LENGTH_LIMIT, REPETITION, TIME_LIMIT
from errors import ModelUnavailableError
from models.answer_limits import AnswerCutError, AnswerLimits, LimitedHttp
from models.openai_errors import Endpoint, broken_off, model_errors, not_understood
from models.openai_pieces import PlainCompletions, RenamingCompletions
from models.repetition import LoopDetector


class TranslatedChatOpenAI(ChatOpenAI):
    """Raises ModelError and ModelUnavailableError instead of the client's errors.

    A stream that ends without a finish_reason has been cut short somewhere on its way; it
    raises after its last piece, where the client takes it for complete. One that is still going on
    at a limit is left, which closes the connection: its last piece has the finish_reason
    LENGTH_LIMIT or TIME_LIMIT, and is the only one where the time was over beforehand. So is one
    that repeats itself without end (REPETITION).

    Where a stream holds nothing at all, the server is asked once more, for one token and without
    a stream: llama-cpp-python then says what is wrong, such as a prompt that is too long.
    """

    _endpoint: Endpoint = PrivateAttr()
    _limits: AnswerLimits = PrivateAttr()

    def __init__(self, endpoint: Endpoint, limits: AnswerLimits, **settings: Any) -> None:
        limited = LimitedHttp(limits)
        # What ChatOpenAI would do with it, had it made the clients.
        proxy = os.environ.get("OPENAI_PROXY") or None
        super().__init__(
            http_client=DefaultHttpxClient(event_hooks=limited.hooks, proxy=proxy),
            http_async_client=DefaultAsyncHttpxClient(event_hooks=limited.async_hooks, proxy=proxy),
            openai_proxy="",
            max_tokens=limits.max_tokens,
            **settings,
        )
        self.client = PlainCompletions(self.root_client)
        self.async_client = RenamingCompletions(self.root_async_client)
        self._endpoint = endpoint
        self._limits = limits

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        if "max_completion_tokens" in payload and not self._endpoint.takes_completion_tokens:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with model_errors(self._endpoint):
            return super()._generate(*args, **kwargs)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with model_errors(self._endpoint):
            return await super()._agenerate(*args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        reading = _Reading(self._endpoint, self._limits)
        # Closing at once, not at garbage collection, is what stops the server when a reader leaves.
        stream = cast("Generator[ChatGenerationChunk]", super()._stream(*args, **kwargs))
        with reading.errors(), closing(stream) as pieces:
            while reading.goes_on() and (piece := next(pieces, None)):
                reading.take(piece)
                yield piece
        if reading.is_empty:
            with model_errors(self._endpoint):
                self.client.create(**self._payload_of_one_token(*args, **kwargs))
        yield from reading.last_piece()

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        reading = _Reading(self._endpoint, self._limits)
        stream = cast("AsyncGenerator[ChatGenerationChunk]", super()._astream(*args, **kwargs))
        with reading.errors():
            async with aclosing(stream) as pieces:
                while reading.goes_on() and (piece := await anext(pieces, None)):
                    reading.take(piece)
                    yield piece
        if reading.is_empty:
            with model_errors(self._endpoint):
                await self.async_client.create(**self._payload_of_one_token(*args, **kwargs))
        for piece in reading.last_piece():
            yield piece

    def _payload_of_one_token(
        self,
        messages: LanguageModelInput,
        stop: list[str] | None = None,
        run_manager: object = None,  # noqa: ARG002  # the arguments are those of `_stream`
        **kwargs: Any,
    ) -> dict[str, Any]:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        is_new = self._endpoint.takes_completion_tokens
        name = "max_completion_tokens" if is_new else "max_tokens"
        return {**payload, "stream": False, name: 1}

    def get_num_tokens(self, text: str) -> int:
        """Approximate: the exact count would download the model's vocabulary."""
        return count_tokens_approximately([HumanMessage(text)])

    def get_num_tokens_from_messages(
        self,
        messages: Sequence[BaseMessage],
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool] | None = None,
        **_: Any,
    ) -> int:
        """Approximate: the exact count would download the model's vocabulary."""
        del tools
        return count_tokens_approximately(messages)


class _Reading:
    """One stream as it is read: how far it is within its limits, and how it ends."""

    def __init__(self, endpoint: Endpoint, limits: AnswerLimits) -> None:
        self._endpoint = endpoint
        self._most_chars = limits.max_chars
        self._deadline = limits.deadline()
        self._chars = 0
        self._loop = LoopDetector()
        self._started = self._finished = False
        self._cut = ""

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Errors for people; none where a limit is what ended the stream."""
        try:
            with model_errors(self._endpoint):
                yield
        except ModelUnavailableError as error:
            cut = error.__cause__
            if not (isinstance(cut, AnswerCutError) or self._is_late()):
                raise
            self._cut = cut.reason if isinstance(cut, AnswerCutError) else TIME_LIMIT

    @property
    def is_empty(self) -> bool:
        """Whether nothing came, and no limit is why."""
        return not (self._started or self._cut)

    def goes_on(self) -> bool:
        """Whether the limits allow another piece."""
        if self._chars > self._most_chars:
            self._cut = LENGTH_LIMIT
        elif self._loop.in_loop:
            self._cut = REPETITION
        elif self._is_late():
            self._cut = TIME_LIMIT
        return not self._cut

    def take(self, piece: ChatGenerationChunk) -> None:
        """Count the piece."""
        self._started = True
        self._finished = self._finished or bool((piece.generation_info or {}).get("finish_reason"))
        self._chars += _chars_of(piece)
        self._loop.read(piece.text)

    def last_piece(self) -> Iterator[ChatGenerationChunk]:
        """What says that the stream was cut short, where it was.

        Raises:
            ModelError: It ended without finishing.
        """
        if self._finished:
            return
        if not self._cut:
            raise (broken_off if self._started else not_understood)(self._endpoint)
        info = {"finish_reason": self._cut, "model_name": self._endpoint.model}
        yield ChatGenerationChunk(message=AIMessageChunk(content=""), generation_info=info)

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


def _chars_of(piece: ChatGenerationChunk) -> int:
    message = piece.message
    calls = message.tool_call_chunks if isinstance(message, AIMessageChunk) else ()
    return len(piece.text) + sum(len(call["args"] or "") for call in calls)
