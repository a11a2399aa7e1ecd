"""LangChain's OpenAI chat model with limits and user-facing errors, without hidden downloads."""

import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from openai import BadRequestError, Stream
from openai.resources.chat import Completions
from pydantic import PrivateAttr

from domain import LENGTH_LIMIT, REPETITION, TIME_LIMIT
from domain.errors import ModelUnavailableError
from models.answer_limits import AnswerCutError, AnswerLimits, limit_hooks
from models.http_log import LoggedHttpClient
from models.openai_errors import (
    Endpoint,
    NotStreamedError,
    broken_off,
    model_errors,
    not_understood,
    too_long,
)

_LEFT_TO_THE_CLIENT = {"tools", "extra_body", "extra_headers", "extra_query", "timeout"}


class PlainCompletions(Completions):
    """Chat completions that stream mappings instead of the client's objects.

    LangChain's model converts the objects to mappings anyway, and creating them took a quarter of
    the total cost of an answer over the API (`python -m benchmarks --only api`).
    """

    def create(self, **payload: Any) -> Any:
        """Return the client's result; for a stream without bound tools, a stream of mappings.

        With tools, the client's objects are kept, because it fills in what some servers leave out
        of tool calls.
        """
        try:
            result = self._create(payload)
        except BadRequestError as error:
            result = self._create(_rename_limit(payload, error))
        if isinstance(result, Stream) and _is_json(result):
            result.close()
            raise NotStreamedError
        return result

    def _create(self, payload: dict[str, Any]) -> Any:
        if not payload.get("stream") or payload.keys() & _LEFT_TO_THE_CLIENT:
            return super().create(**payload)
        return self._client.post(
            "/chat/completions", cast_to=object, body=payload, stream=True, stream_cls=_Pieces
        )


def _is_json(stream: Stream[Any]) -> bool:
    content_type: str = stream.response.headers.get("content-type", "")
    return content_type.startswith("application/json")


def _rename_limit(payload: Mapping[str, Any], error: BadRequestError) -> dict[str, Any]:
    """The payload with the newer name of max_tokens; raises `error` if it has another cause.

    A gateway may forward the request to an OpenAI model that rejects the older name.
    """
    if "max_tokens" not in payload or "max_completion_tokens" not in error.message:
        raise error
    others = {name: value for name, value in payload.items() if name != "max_tokens"}
    return others | {"max_completion_tokens": payload["max_tokens"]}


class _Pieces(Stream[object]):
    def __stream__(self) -> Iterator[object]:
        for piece in super().__stream__():
            if isinstance(piece, dict):
                for choice in piece.get("choices") or ():
                    choice.setdefault("delta", None)  # as the client does; LangChain requires it
            yield piece


LONGEST_TAIL = 2_400
"""The number of characters at the end of a text that are examined."""
LEAST_CHARS = 500
LEAST_TIMES = 4
CHECK_EVERY_CHARS = 100
_KEY_CHARS = 40
# Small models often keep counting: "[6] Leave policy", "[7] Leave policy", or "1. Yes", "2. Yes".
_COUNTER = re.compile(r"\[\d{1,4}\]|^[ \t]*\d{1,4}[.)]", re.MULTILINE)


def ends_in_loop(text: str) -> bool:
    """Whether the text ends with the same characters over and over.

    They must be repeated at least `LEAST_TIMES` times in a row and span at least `LEAST_CHARS`
    characters, more than any ruled line or table in an answer. Citation numbers and list numbers
    may differ.
    """
    tail = _COUNTER.sub("", text[-LONGEST_TAIL:])
    key, last = tail[-_KEY_CHARS:], len(tail) - _KEY_CHARS
    start = tail.rfind(key, 0, len(tail) - 1)
    while start >= 0:
        period = last - start
        span = max(LEAST_CHARS, LEAST_TIMES * period)
        if span > len(tail):
            return False
        if tail[-span:-period] == tail[-span + period :]:
            return True
        start = tail.rfind(key, 0, start + _KEY_CHARS - 1)
    return False


class LoopDetector:
    """Reads a text piece by piece and detects when it repeats itself."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0
        self.in_loop = False

    def read(self, piece: str) -> None:
        """Read the next piece; `in_loop` is updated every `CHECK_EVERY_CHARS` characters."""
        self._tail = (self._tail + piece)[-LONGEST_TAIL:]
        self._unchecked += len(piece)
        if self._unchecked >= CHECK_EVERY_CHARS:
            self._unchecked = 0
            self.in_loop = self.in_loop or ends_in_loop(self._tail)


class TranslatedChatOpenAI(ChatOpenAI):
    """Raises ModelError and ModelUnavailableError instead of the client's errors.

    A stream that ends without a finish_reason was interrupted: an error is raised after its last
    piece, although the client would consider it complete. A stream that reaches a limit is closed
    with its connection, and its last piece has the finish_reason LENGTH_LIMIT, TIME_LIMIT or, if it
    kept repeating itself, REPETITION.

    After an empty stream, one token is requested without streaming, because llama-cpp-python then
    reports the problem, such as a prompt that is too long. If the server returns one, the prompt
    leaves no space for the whole answer.

    Asynchronous calls make the synchronous ones in threads of the event loop's default executor, so
    there is one HTTP client to limit. One that is canceled ends at its next piece or timeout.
    """

    _agenerate = BaseChatModel._agenerate
    _astream = BaseChatModel._astream
    _endpoint: Endpoint = PrivateAttr()
    _limits: AnswerLimits = PrivateAttr()

    def __init__(self, endpoint: Endpoint, limits: AnswerLimits, **settings: Any) -> None:
        super().__init__(
            http_client=LoggedHttpClient(endpoint.guard, event_hooks=limit_hooks(limits)),
            async_client="not used",  # otherwise, one is created
            openai_proxy="",
            max_tokens=limits.max_tokens,
            **settings,
        )
        self.client = PlainCompletions(self.root_client)
        self._endpoint = endpoint
        self._limits = limits

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        if "max_completion_tokens" in payload and not self._endpoint.takes_completion_tokens:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        if "response_format" in payload:  # LangChain would parse the answer, past all limits
            payload["extra_body"] = {"response_format": payload.pop("response_format")}
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        """The piece, with the reasoning of servers other than OpenAI's, which LangChain drops."""
        piece = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
        if piece and (reasoning := _reasoning_in(chunk)):
            piece.message.additional_kwargs["reasoning_content"] = reasoning
        return piece

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with model_errors(self._endpoint):
            return super()._generate(*args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        reading = _Reading(self._endpoint, self._limits)
        # Closed now rather than at garbage collection, to stop the server if the reader leaves.
        stream = cast("Generator[ChatGenerationChunk]", super()._stream(*args, **kwargs))
        with reading.errors(), closing(stream) as pieces:
            while reading.may_continue() and (piece := next(pieces, None)):
                reading.take(piece)
                yield piece
        if reading.is_empty:
            with model_errors(self._endpoint):
                token = self.client.create(**self._payload_of_one_token(*args, **kwargs))
            if getattr(token, "choices", None):  # the server can answer with one token
                raise too_long(self._endpoint)
        yield from reading.last_piece()

    def _payload_of_one_token(
        self,
        messages: LanguageModelInput,
        stop: list[str] | None = None,
        run_manager: object = None,  # noqa: ARG002  # same arguments as `_stream`
        **kwargs: Any,
    ) -> dict[str, Any]:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        is_new = self._endpoint.takes_completion_tokens
        name = "max_completion_tokens" if is_new else "max_tokens"
        return {**payload, "stream": False, name: 1}

    def get_num_tokens(self, text: str) -> int:
        """Estimate the number of tokens; an exact count would download the model's vocabulary."""
        return count_tokens_approximately([HumanMessage(text)])

    def get_num_tokens_from_messages(
        self,
        messages: Sequence[BaseMessage],
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool] | None = None,
        **_: Any,
    ) -> int:
        """Estimate the number of tokens; an exact count would download the model's vocabulary."""
        del tools
        return count_tokens_approximately(messages)


def _reasoning_in(chunk: Mapping[str, Any]) -> str:
    """The reasoning in an event: vLLM, Ollama, and OpenRouter have another name for it."""
    delta = (choices[0].get("delta") if (choices := chunk.get("choices")) else None) or {}
    reasoning = delta.get("reasoning_content") or delta.get("reasoning")
    return reasoning if isinstance(reasoning, str) else ""


class _Reading:
    """The state of a stream: how much of its limits is used up, and how it ended."""

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
        """Translate errors; none is raised if a limit ended the stream."""
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
        """Whether nothing arrived although no limit was reached."""
        return not (self._started or self._cut)

    def may_continue(self) -> bool:
        """Whether the limits allow another piece."""
        if self._chars > self._most_chars:
            self._cut = LENGTH_LIMIT
        elif self._loop.in_loop:
            self._cut = REPETITION
        elif self._is_late():
            self._cut = TIME_LIMIT
        return not self._cut

    def take(self, piece: ChatGenerationChunk) -> None:
        """Count the piece toward the limits."""
        self._started = True
        self._finished = self._finished or bool((piece.generation_info or {}).get("finish_reason"))
        self._chars += _chars_of(piece)
        self._loop.read(piece.text)

    def last_piece(self) -> Iterator[ChatGenerationChunk]:
        """A piece that says why the stream was cut short, if it was.

        Raises:
            ModelError: The stream ended without finishing.
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
    reasoning = message.additional_kwargs.get("reasoning_content", "")
    return len(piece.text) + len(reasoning) + sum(len(call["args"] or "") for call in calls)
