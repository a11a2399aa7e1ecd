"""A chat model and a retriever that follow a script and record what they receive."""

import re
from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

USAGE = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
FINISH = {"model_name": "scripted-1", "finish_reason": "stop"}


class ScriptedChatModel(BaseChatModel):
    """Returns its replies in order, and starts again after the last."""

    replies: list[str]
    prompts: list[list[tuple[str, str]]] = Field(default_factory=list)
    closed: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _reply(self, messages: list[BaseMessage]) -> str:
        self.prompts.append([(message.type, str(message.text)) for message in messages])
        return self.replies[(len(self.prompts) - 1) % len(self.replies)]

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        message = AIMessage(
            self._reply(messages), usage_metadata=USAGE, response_metadata=dict(FINISH)
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def get_num_tokens(self, text: str) -> int:
        return len(text)


class StreamingChatModel(ScriptedChatModel):
    """Streams word by word; the last piece has the usage and no text, as OpenAI sends it."""

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> Iterator[ChatGenerationChunk]:
        try:
            for word in re.findall(r"\s*\S+\s*$|\s*\S+", self._reply(messages)):
                yield ChatGenerationChunk(message=AIMessageChunk(word))
            last = AIMessageChunk("", usage_metadata=USAGE, response_metadata=dict(FINISH))
            yield ChatGenerationChunk(message=last)
        finally:
            self.closed = True


class ScriptedRetriever(BaseRetriever):
    documents: list[Document]
    queries: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        self.queries.append(query)
        return list(self.documents)


def numbered(*texts: str) -> list[Document]:
    """Documents whose metadata contains their source number, from 1."""
    return [
        Document(text, metadata={"n": n, "title": f"Title {n}"})
        for n, text in enumerate(texts, start=1)
    ]
