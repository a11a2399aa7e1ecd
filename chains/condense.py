"""Follow-up questions made to stand alone, by a model or by rule."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.utils import AddableDict

from chains.answer import as_chunk
from chains.follow_ups import Idf, salient_terms
from chains.history import render_history
from chains.leaning import leans_on_history
from chains.prompts import CONDENSE_PROMPT
from chains.replies import whole_text

Condenser = Runnable[dict[str, Any], str]
"""Makes a standalone question of `question` and `chat_history` (see `chains.history`)."""

ADDED_TERMS = 3

MAX_REWRITE_CHARS = 1_000
"""A longer rewrite, unless the follow-up is longer still, is no question but an answer."""

MARKER = re.compile(r"\[\d{1,3}[\]:]")
"""What cites something is an answer, or copied from one, and no question."""

# Cut short it has no end; some servers leave its beginning in the prompt.
REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# Models like to announce the question: "**Standalone question:** ...", "질문: ...", "質問：...".
LABEL = re.compile(
    r"\A[\s*_#]*+(?:[\w-]+ ){0,3}[\w-]*(?:question|질문|質問|问题)[\s*_]*[:：][\s*_]*",
    re.IGNORECASE,
)
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}


def condense_with_model(
    llm: LanguageModelLike,
    prompt: BasePromptTemplate[Any] = CONDENSE_PROMPT,
    fallback: Condenser | None = None,
) -> Condenser:
    """A condenser that asks a chat model.

    What the model adds around the question (its reasoning, a label, quotes, line breaks) is
    taken off. The fallback is used where nothing is left, or so much that it is no question, or
    what cites like an answer, and where the reply was cut short.

    Args:
        llm: Asked once per follow-up.
        prompt: With the variables `chat_history` and `question`.
        fallback: Condenses where the model's reply is of no use. If None, the question as typed is
            used there, and a reply that cites is used as it is, as in the classic chain.
    """
    ask = RunnableLambda(_prompt_inputs, name="render_history") | prompt | llm
    return _ModelCondenser(ask, fallback)


class _ModelCondenser(Runnable[dict[str, Any], str]):
    """Streams "" for each piece of the model's reply, at which a reader can leave."""

    def __init__(
        self, ask: Runnable[dict[str, Any], BaseMessage | str], fallback: Condenser | None
    ) -> None:
        self._ask = ask
        self._fallback = fallback

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        return "".join(self.stream(input, config, **kwargs))

    async def ainvoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        return "".join([piece async for piece in self.astream(input, config, **kwargs)])

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[str]:
        reply: list[AIMessageChunk] = []
        stream = cast("Generator[BaseMessage | str]", self._ask.stream(input, config, **kwargs))
        with closing(stream) as pieces:
            for piece in pieces:
                reply.append(as_chunk(piece))
                yield ""
        question = self._question(input, reply)
        yield question or (
            self._fallback.invoke(input, config) if self._fallback else input["question"]
        )

    async def astream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[str]:
        reply: list[AIMessageChunk] = []
        stream = cast(
            "AsyncGenerator[BaseMessage | str]", self._ask.astream(input, config, **kwargs)
        )
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                reply.append(as_chunk(piece))
                yield ""
        question = self._question(input, reply)
        yield question or (
            await self._fallback.ainvoke(input, config) if self._fallback else input["question"]
        )

    def _question(self, inputs: dict[str, Any], reply: list[AIMessageChunk]) -> str:
        """The question in the model's reply, "" where there is none."""
        text = whole_text(reply[0] + reply[1:]) if reply else ""
        question = _standalone(text, inputs["question"])
        copies = MARKER.search(question) and not MARKER.search(inputs["question"])
        return "" if self._fallback and copies else question


class Condensing:
    """A question while it is condensed; `question` is complete once the pieces have been read."""

    def __init__(self, condense: Condenser, inputs: dict[str, Any], config: RunnableConfig) -> None:
        self.question = ""
        self._condense = condense
        self._call = (inputs, config)

    def pieces(self) -> Iterator[AddableDict]:
        """An empty piece of a chain's stream for each "" of the condenser's."""
        for part in self._condense.stream(*self._call):
            self.question += part
            if not part:
                yield AddableDict()

    async def apieces(self) -> AsyncIterator[AddableDict]:
        """An empty piece of a chain's stream for each "" of the condenser's."""
        async for part in self._condense.astream(*self._call):
            self.question += part
            if not part:
                yield AddableDict()


class RuleCondenser(Runnable[dict[str, Any], str]):
    """Gives a follow-up that leans on the conversation the terms it leaves out.

    "And in Japan?" becomes "And in Japan? (annual leave, new employees)". A question that
    can be understood alone is left as it is. No model is asked.
    """

    def __init__(self, idf: Idf | None = None) -> None:
        """Without `idf` all terms count the same, but for how lately they were used."""
        self._idf = idf

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> str:
        """The standalone question for `question` and `chat_history`."""
        return self._call_with_config(self._condense, input, config, **kwargs)

    def _condense(self, inputs: dict[str, Any]) -> str:
        question: str = inputs["question"]
        history = inputs["chat_history"]
        if not leans_on_history(question):
            return question
        added = salient_terms(question, history, ADDED_TERMS, self._idf)
        return f"{question} ({', '.join(added)})" if added else question


def _prompt_inputs(inputs: dict[str, Any]) -> dict[str, str]:
    history = render_history(inputs["chat_history"])
    return {"question": inputs["question"], "chat_history": history}


def _standalone(reply: str, typed: str) -> str:
    """The question in the reply, "" where there is none."""
    _, _, rewrite = REASONING.sub("", reply).rpartition("</think>")
    storable = rewrite.encode(errors="replace").decode()  # a careless server sends half characters
    question = LABEL.sub("", " ".join(storable.split()))
    while len(question) > 1 and _is_quoted(question):
        question = question[1:-1].strip()
    return question if len(question) <= max(MAX_REWRITE_CHARS, 2 * len(typed)) else ""


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes holds it all, unlike `"a" or "b"`."""
    closing = QUOTES.get(text[0])
    return closing is not None and text.find(closing, 1) == len(text) - 1
