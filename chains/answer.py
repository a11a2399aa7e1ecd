"""What an answerer is, and the one that asks a chat model."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from chains.history import render_history
from chains.prompts import ANSWER_PROMPT, render_sources
from chains.rewrite_guard import as_one_question
from chains.turn_end import TurnEnd
from language.script import script_of

Answerer = Runnable[dict[str, Any], BaseMessage | str]
"""Streams an answer in message pieces (or strings).

It is given `question`, `typed_question` (whose language the answer is to have),
`input_documents` (the sources, numbered from 1 in that order), `chat_history` (as in
`chains.history`) and whatever else the chain was given.
"""


def answer_with_model(
    llm: LanguageModelLike, prompt: BasePromptTemplate[Any] = ANSWER_PROMPT
) -> Answerer:
    """An answerer that shows a chat model the numbered sources.

    `prompt` may use `sources`, `question`, `chat_history` and further inputs of the chain.
    """
    return _PromptedModel(RunnableLambda(_prompt_inputs, name="number_sources") | prompt, llm)


class _PromptedModel(Runnable[dict[str, Any], BaseMessage | str]):
    """`prompt | llm`, as a sequence gives it, for a sixth less of the time that a piece takes.

    With each piece of a stream a sequence adds up all pieces so far, for its trace; the trace of
    the model has them anyway. An answer ends where the model's turn does (`chains.turn_end`).
    """

    def __init__(
        self, prompt: Runnable[dict[str, Any], PromptValue], llm: LanguageModelLike
    ) -> None:
        self._prompt = prompt
        self._llm = llm

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseMessage | str:
        """The whole answer."""
        answer = self._llm.invoke(self._prompt.invoke(input, config), config, **kwargs)
        return _whole(answer, _turn_end(input))

    async def ainvoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseMessage | str:
        """The whole answer."""
        asked = await self._prompt.ainvoke(input, config)
        answer = await self._llm.ainvoke(asked, config, **kwargs)
        return _whole(answer, _turn_end(input))

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the answer, as the model gives them."""
        asked, end = self._prompt.invoke(input, config), _turn_end(input)
        pieces = cast("Generator[BaseMessage | str]", self._llm.stream(asked, config, **kwargs))
        with closing(pieces):  # at once, not at garbage collection
            for piece in pieces:
                yield _up_to(end, piece)
                if end.reached:
                    return
        yield end.close()

    async def astream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[BaseMessage | str]:
        """The pieces of the answer, as the model gives them."""
        asked, end = await self._prompt.ainvoke(input, config), _turn_end(input)
        pieces = cast(
            "AsyncGenerator[BaseMessage | str]", self._llm.astream(asked, config, **kwargs)
        )
        async with aclosing(pieces):  # at once where the reader leaves, not at garbage collection
            async for piece in pieces:
                yield _up_to(end, piece)
                if end.reached:
                    return
        yield end.close()


def as_chunk(piece: BaseMessage | str) -> AIMessageChunk:
    """The piece as what can be added up.

    A model that can't stream gives one whole message, a plain function a string.
    """
    if isinstance(piece, AIMessageChunk):
        return piece
    if isinstance(piece, str):
        return AIMessageChunk(content=piece)
    return AIMessageChunk(**piece.model_dump(exclude={"type"}))


def _turn_end(inputs: dict[str, Any]) -> TurnEnd:
    texts = [document.page_content for document in inputs["input_documents"]]
    return TurnEnd([inputs["question"], *texts])


def _up_to(end: TurnEnd, piece: BaseMessage | str) -> BaseMessage | str:
    """What of the piece comes before the end of the turn."""
    if isinstance(piece, str):
        return end.read(piece)
    if not isinstance(piece.content, str):
        return piece
    text = end.read(piece.content)
    return piece if text == piece.content else piece.model_copy(update={"content": text})


def _whole(answer: BaseMessage | str, end: TurnEnd) -> BaseMessage | str:
    """The answer up to the end of the turn."""
    if isinstance(answer, str):
        return end.read(answer) + end.close()
    if not isinstance(answer.content, str):
        return answer
    return answer.model_copy(update={"content": end.read(answer.content) + end.close()})


def _prompt_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    rendered = {
        "question": _in_its_language(inputs["question"], inputs.get("typed_question", "")),
        "sources": render_sources(inputs["input_documents"]),
        "chat_history": render_history(inputs["chat_history"]),
    }
    return {key: inputs[key] for key in inputs if key != "input_documents"} | rendered


def _in_its_language(question: str, typed: str) -> str:
    """The question, behind the typed one where that is in another language.

    A person may search a Korean question in English: the answer is to be Korean.
    """
    if not typed or typed in question or script_of(typed) == script_of(question):
        return question
    return as_one_question([question, typed])
