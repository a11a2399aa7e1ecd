"""LangChain's OpenAI chat model, with errors for people and without hidden downloads."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from models.openai_errors import Endpoint, broken_off, model_errors, not_understood
from models.openai_pieces import PlainCompletions


class TranslatedChatOpenAI(ChatOpenAI):
    """Raises ModelError and ModelUnavailableError instead of the client's errors.

    A stream that ends without a finish_reason has been cut short somewhere on its way; it
    raises after its last piece, where the client takes it for complete.
    """

    _endpoint: Endpoint = PrivateAttr()

    def __init__(self, endpoint: Endpoint, **settings: Any) -> None:
        super().__init__(**settings)
        self.client = PlainCompletions(self.root_client)
        self._endpoint = endpoint

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with model_errors(self._endpoint):
            return super()._generate(*args, **kwargs)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with model_errors(self._endpoint):
            return await super()._agenerate(*args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        started = finished = False
        # Closing at once, not at garbage collection, is what stops the server when a reader leaves.
        stream = cast("Generator[ChatGenerationChunk]", super()._stream(*args, **kwargs))
        with model_errors(self._endpoint), closing(stream) as pieces:
            for piece in pieces:
                started, finished = True, finished or _finishes(piece)
                yield piece
        if not finished:
            raise broken_off(self._endpoint) if started else not_understood(self._endpoint)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        started = finished = False
        stream = cast("AsyncGenerator[ChatGenerationChunk]", super()._astream(*args, **kwargs))
        with model_errors(self._endpoint):
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    started, finished = True, finished or _finishes(piece)
                    yield piece
        if not finished:
            raise broken_off(self._endpoint) if started else not_understood(self._endpoint)

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


def _finishes(piece: ChatGenerationChunk) -> bool:
    return bool((piece.generation_info or {}).get("finish_reason"))
