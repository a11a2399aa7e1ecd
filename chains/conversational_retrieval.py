"""Questions in a conversation, answered from what a retriever finds."""

from collections.abc import AsyncIterator, Iterator
from functools import reduce
from operator import add
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.utils import AddableDict
from pydantic import ConfigDict, Field

from chains.answer import Answerer, answer_with_model, as_chunk
from chains.budget import TokenCounter, estimate_tokens, fit_documents, fit_history
from chains.cited_before import prefer_cited
from chains.condense import Condensing, condense_with_model
from chains.prompts import ANSWER_PROMPT, CONDENSE_PROMPT
from chains.replies import tagged
from chains.rewrite_guard import (
    as_one_question,
    condensable,
    interleave,
    questions_to_search,
    uncondensed,
)

Inputs = dict[str, Any]


class ConversationalRetrievalChain(RunnableSerializable[Inputs, Inputs]):
    """Condenses a follow-up, retrieves with it and streams an answer from what was found.

    Takes `question` and `chat_history` (messages or (human, ai) pairs, oldest first); a
    `standalone_question`, where one is given, is searched as it is instead of a condensed one;
    other keys reach the answer runnable untouched. Streams `generated_question`, then
    `source_documents` (each where asked for), then `answer` piece by piece; `invoke` gives
    their sum, the outputs of LangChain's classic chain of this name. Without a history the
    question is used as it is and `condense` is not called; where the history says what was
    cited last, a follow-up gets those documents a little earlier (`chains.cited_before`).

    Runs below it carry the tag `condense` or `answer`, which tells their tokens apart.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retriever: Runnable[str, list[Document]]
    condense: Runnable[Inputs, str]
    """Takes `question` and `chat_history`, gives the standalone question. For each "" that it
    streams before, the chain streams an empty piece, at which its reader can stop."""
    answer: Answerer
    respell: Runnable[str, str] | None = None
    """Corrects the spelling of each question that is searched, but of a `standalone_question`."""
    rephrase_question: bool = True
    """Whether the answerer is asked the standalone question, rather than the one typed."""
    guard_rewrite: bool = False
    """Whether the question as typed is searched beside a standalone one without its words, the
    two lists taking turns (see `chains.rewrite_guard`). The classic chain has no such guard."""
    return_searched_questions: bool = False
    """Whether a piece after `generated_question`, `searched_questions`, lists what is searched."""
    return_source_documents: bool = False
    return_generated_question: bool = False
    return_answer_message: bool = False
    """Whether a last piece, `answer_message`, holds the model's whole message: its
    `usage_metadata`, and in `response_metadata` its `model_name` and `finish_reason`. There is
    none where no model was asked."""
    return_answer_citations: bool = False
    """Whether `answer_citations` comes beside what the built-in answerer quotes: LangChain's
    `Citation`s, with indices in the whole answer and the document's number in `extras["n"]`."""
    response_if_no_docs_found: str | None = None
    """The answer, without asking the answerer, where nothing was found or fits."""
    max_tokens_limit: int | None = Field(default=None, ge=1)
    """The most tokens of text that documents may take; the last go first."""
    max_history_tokens: int | None = Field(default=None, ge=0)
    """The most tokens that the history may take; the oldest turns go first, with 0 all of them."""
    token_counter: TokenCounter = estimate_tokens

    @classmethod
    def from_llm(
        cls,
        llm: LanguageModelLike,
        retriever: Runnable[str, list[Document]],
        *,
        condense_question_llm: LanguageModelLike | None = None,
        condense_question_prompt: BasePromptTemplate[Any] = CONDENSE_PROMPT,
        answer_prompt: BasePromptTemplate[Any] = ANSWER_PROMPT,
        **options: Any,
    ) -> Self:
        """A chain in which a chat model condenses and answers.

        Args:
            llm: Answers, and condenses where no other model is given.
            retriever: Finds the documents.
            condense_question_llm: A smaller model for condensing.
            condense_question_prompt: With the variables `chat_history` and `question`.
            answer_prompt: With the variables `sources`, `question`, perhaps other inputs.
            **options: Any other field of the chain.
        """
        return cls(
            retriever=retriever,
            condense=condense_with_model(condense_question_llm or llm, condense_question_prompt),
            answer=answer_with_model(llm, answer_prompt),
            **options,
        )

    def invoke(self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any) -> Inputs:
        """All pieces of the stream, added up."""
        return reduce(add, self.stream(input, config, **kwargs))

    async def ainvoke(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Inputs:
        """All pieces of the stream, added up."""
        return reduce(add, [piece async for piece in self.astream(input, config, **kwargs)])

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Inputs]:
        """The standalone question, the documents, then the answer as it is written."""
        yield from self._transform_stream_with_config(
            iter([input]),
            self._stream_pieces,  # type: ignore[arg-type]  # its signature is inspected
            config,
            **kwargs,
        )

    async def astream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Inputs]:
        """The standalone question, the documents, then the answer as it is written."""

        async def inputs() -> AsyncIterator[Inputs]:
            yield input

        async for piece in self._atransform_stream_with_config(
            inputs(),
            self._astream_pieces,  # type: ignore[arg-type]  # its signature is inspected
            config,
            **kwargs,
        ):
            yield piece

    def _stream_pieces(self, inputs: Iterator[Inputs], config: RunnableConfig) -> Iterator[Inputs]:
        asked = self._asked(next(inputs))
        searched = uncondensed(asked)
        if not searched:
            condensing = Condensing(self.condense, condensable(asked), tagged(config, "condense"))
            yield from condensing.pieces()
            searched = self._searched(asked, condensing.question)
        if self.respell and not asked.get("standalone_question"):
            searched = [self.respell.invoke(question, config) for question in searched]
        yield from self._question_pieces(searched)
        found = [self.retriever.invoke(question, config) for question in searched]
        documents = self._fitting(asked, found)
        yield from self._document_pieces(documents)
        if not self._needs_answerer(documents):
            return
        answerable = self._answerable(asked, searched, documents)
        messages = []
        for piece in self.answer.stream(answerable, tagged(config, "answer")):
            messages.append(as_chunk(piece))
            yield from self._text_piece(messages[-1])
        yield from self._closing_pieces(messages)

    async def _astream_pieces(
        self, inputs: AsyncIterator[Inputs], config: RunnableConfig
    ) -> AsyncIterator[Inputs]:
        asked = self._asked(await anext(inputs))
        searched = uncondensed(asked)
        if not searched:
            condensing = Condensing(self.condense, condensable(asked), tagged(config, "condense"))
            async for empty in condensing.apieces():
                yield empty
            searched = self._searched(asked, condensing.question)
        if self.respell and not asked.get("standalone_question"):
            searched = [await self.respell.ainvoke(question, config) for question in searched]
        for piece in self._question_pieces(searched):
            yield piece
        found = [await self.retriever.ainvoke(question, config) for question in searched]
        documents = self._fitting(asked, found)
        for piece in self._document_pieces(documents):
            yield piece
        if not self._needs_answerer(documents):
            return
        answerable = self._answerable(asked, searched, documents)
        messages = []
        async for said in self.answer.astream(answerable, tagged(config, "answer")):
            messages.append(as_chunk(said))
            for piece in self._text_piece(messages[-1]):
                yield piece
        for piece in self._closing_pieces(messages):
            yield piece

    def _asked(self, inputs: Inputs) -> Inputs:
        history = inputs.get("chat_history") or []
        fitting = fit_history(history, self.max_history_tokens, self.token_counter)
        return {**inputs, "chat_history": fitting}

    def _fitting(self, asked: Inputs, found: list[list[Document]]) -> list[Document]:
        documents = prefer_cited(interleave(found), asked)
        return fit_documents(documents, self.max_tokens_limit, self.token_counter)

    def _searched(self, asked: Inputs, standalone: str) -> list[str]:
        typed = asked["question"]
        return questions_to_search(typed, standalone) if self.guard_rewrite else [standalone]

    def _answerable(self, asked: Inputs, searched: list[str], documents: list[Document]) -> Inputs:
        question = as_one_question(searched) if self.rephrase_question else asked["question"]
        answerable = {"question": question, "typed_question": asked["question"]}
        return {**asked, **answerable, "input_documents": documents}

    def _needs_answerer(self, documents: list[Document]) -> bool:
        return bool(documents) or self.response_if_no_docs_found is None

    def _question_pieces(self, searched: list[str]) -> Iterator[Inputs]:
        if self.return_generated_question:
            yield AddableDict(generated_question=searched[0])
        if self.return_searched_questions:
            yield AddableDict(searched_questions=searched)

    def _document_pieces(self, documents: list[Document]) -> Iterator[Inputs]:
        if self.return_source_documents:
            yield AddableDict(source_documents=documents)
        if not self._needs_answerer(documents):
            yield AddableDict(answer=self.response_if_no_docs_found)

    def _text_piece(self, message: AIMessageChunk) -> Iterator[Inputs]:
        citations = message.additional_kwargs.get("citations")
        if citations is not None and self.return_answer_citations:
            yield AddableDict(answer=str(message.text), answer_citations=citations)
        elif text := str(message.text):
            yield AddableDict(answer=text)

    def _closing_pieces(self, messages: list[AIMessageChunk]) -> Iterator[Inputs]:
        if not any(message.text for message in messages):
            yield AddableDict(answer="")
        if self.return_answer_message and messages:
            yield AddableDict(answer_message=messages[0] + messages[1:])
