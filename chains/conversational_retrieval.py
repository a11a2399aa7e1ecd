"""Answers questions in a conversation from retrieved documents.

Also says what replaces the options and methods of LangChain's classic chain that do not exist here;
docs/migration.md has the whole table.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, Self, cast

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.utils import AddableDict
from pydantic import ConfigDict, Field, model_validator

from chains.chat_prompts import ANSWER_PROMPT, CONDENSE_PROMPT, StuffedDocuments
from chains.condensing.condense import (
    as_one_question,
    condense_with_model,
    interleave,
    questions_to_search,
    uncondensed,
)
from chains.condensing.follow_ups import prefer_cited
from chains.history import (
    HistoryOrText,
    Inputs,
    TokenCounter,
    as_chunk,
    estimate_tokens,
    fit_documents,
    fit_history,
)
from chains.model_answer import DOCUMENT_COUNT, Answerer, answer_with_model
from chains.reasoning import reasoning_of
from chains.streaming_runnable import StreamingRunnable

_REPLACEMENTS = {
    "memory": "keep the turns, and pass them as `chat_history` with each question",
    "verbose": "call langchain_core.globals.set_debug(True), which prints every prompt and reply",
    "callback_manager": "use `callbacks`",
    "chain_type": 'only "stuff" exists; limit the documents with `max_tokens_limit`, or pass a'
    " Runnable that answers from `input_documents` as `answer`",
    "combine_docs_chain": "pass a Runnable that answers from `input_documents` as `answer`, or use"
    " from_llm with `combine_docs_chain_kwargs`",
    "question_generator": "pass a Runnable that returns the standalone question as `condense`, or"
    " use from_llm with `condense_question_prompt`",
    "output_key": 'the answer is under "answer"; rename it with a Runnable after the chain',
    "include_run_info": 'set the "run_id" in the config of the call',
    "run": 'use chain.invoke(inputs)["answer"]',
    "arun": 'use (await chain.ainvoke(inputs))["answer"]',
    "acall": "use chain.ainvoke(inputs)",
    "apply": "use chain.batch(list_of_inputs)",
    "save": "build the chain in code",
    "__call__": "use chain.invoke(inputs)",
}
"""What to use instead of each option or method that does not exist."""

_WITHOUT_EFFECT = {
    "verbose": False,
    "include_run_info": False,
    "chain_type": "stuff",
    "output_key": "answer",
}
"""Values that ask for what the chain does anyway; None always does."""


class ConversationalRetrievalChain(
    StreamingRunnable[Inputs, Inputs], RunnableSerializable[Inputs, Inputs]
):
    """Condenses a follow-up, retrieves documents for it, and streams an answer from them.

    The inputs are `question` and `chat_history` (messages or (human, ai) pairs, oldest first, or a
    text); a string is a question without a history. A `standalone_question` is searched unchanged,
    without condensing; all other keys are passed to the answerer. The stream has
    `generated_question`, then `source_documents` (each only if enabled below), then `answer` piece
    by piece. `invoke` returns their sum, which equals the outputs of LangChain's classic chain of
    this name; with `return_only_outputs=False`, it contains the inputs as well. Other options of
    the classic chain raise TypeError (docs/migration.md).

    Without a history, the question is used unchanged and `condense` is not called. If the history
    has citations, passages of the last cited documents move up slightly for a follow-up (see
    `prefer_cited`).

    Child runs have the tag `condense` or `answer`, so that their tokens can be distinguished.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retriever: Runnable[str, list[Document]]
    condense: Runnable[Inputs, str]
    """Returns the standalone question for `question` and `chat_history`. For each "" that it
    streams first, the chain streams an empty piece, at which the reader can stop."""
    answer: Answerer
    respell: Runnable[str, str] | None = None
    """Corrects the spelling of each question before it is searched, except a
    `standalone_question`."""
    rephrase_question: bool = True
    """Whether the answerer gets the standalone question rather than the typed one."""
    guard_rewrite: bool = False
    """Whether the typed question is searched as well if the standalone question lost its words.
    The two lists are interleaved. The classic chain has no such guard."""
    return_searched_questions: bool = False
    """Whether to stream the list `searched_questions` after `generated_question`."""
    return_source_documents: bool = False
    """Whether to stream the `source_documents`, and their `document_count` if the prompt was too
    long for the model, so that it got only so many of them."""
    return_generated_question: bool = False
    return_answer_message: bool = False
    """Whether the last piece is `answer_message`, the model's whole message with its
    `usage_metadata`, and `model_name` and `finish_reason` in its `response_metadata`. There is
    none if no answerer was called."""
    return_answer_citations: bool = False
    """Whether quotations of the built-in answerer are accompanied by `answer_citations`: LangChain
    `Citation`s, with indices into the whole answer and the document's number in `extras["n"]`."""
    return_reasoning: bool = False
    """Whether to stream the model's `reasoning`, which precedes the answer, piece by piece."""
    response_if_no_docs_found: str | None = None
    """The answer if no documents were found or fit; the answerer is not called then."""
    max_tokens_limit: int | None = Field(default=None, ge=1)
    """The maximum number of tokens of document text; the last documents are dropped first."""
    max_history_tokens: int | None = Field(default=None, ge=0)
    """The maximum number of tokens of history; the oldest turns are dropped first, all for 0."""
    token_counter: TokenCounter = estimate_tokens
    get_chat_history: Callable[[Any], HistoryOrText] | None = None
    """Writes the history for the prompts. Without its messages, the citations of earlier answers
    are not known."""
    callbacks: Callbacks = Field(default=None, exclude=True)
    """Called, like `tags` and `metadata`, for every run of the chain and its parts, in addition to
    those in the config of a call."""
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_classic_options(cls, options: Any) -> Any:
        return _supported(options) if isinstance(options, Mapping) else options

    @classmethod
    def from_llm(
        cls,
        llm: LanguageModelLike,
        retriever: Runnable[str, list[Document]],
        *,
        condense_question_llm: LanguageModelLike | None = None,
        condense_question_prompt: BasePromptTemplate[Any] = CONDENSE_PROMPT,
        answer_prompt: BasePromptTemplate[Any] = ANSWER_PROMPT,
        combine_docs_chain_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """A chain in which a chat model condenses and answers.

        Args:
            llm: Answers, and also condenses unless `condense_question_llm` is given.
            retriever: Finds the documents.
            condense_question_llm: A smaller model for condensing.
            condense_question_prompt: Has the variables `chat_history` and `question`.
            answer_prompt: Has the variables `sources`, `question`, and perhaps other inputs.
            combine_docs_chain_kwargs: The fields of `StuffedDocuments`, which replace
                `answer_prompt`. The documents have no numbers unless `document_prompt` adds them.
            **options: Any other field of the chain.

        Raises:
            TypeError: An option is not supported; the message names the replacement.
        """
        answer = answer_with_model(llm, answer_prompt)
        if combine_docs_chain_kwargs:
            stuffed = StuffedDocuments.from_options(combine_docs_chain_kwargs)
            variable = stuffed.document_variable_name
            answer = answer_with_model(
                llm, stuffed.prompt, variable=variable, render=stuffed.render
            )
        return cls(
            retriever=retriever,
            condense=condense_with_model(condense_question_llm or llm, condense_question_prompt),
            answer=answer,
            **options,
        )

    @property
    def input_keys(self) -> list[str]:
        """The inputs that the classic chain requires; only `question` is required here."""
        return ["question", "chat_history"]

    @property
    def output_keys(self) -> list[str]:
        """The keys of the outputs.

        `answer_message`, `answer_citations`, and `reasoning` may be missing, and `document_count`
        may be added.
        """
        optional = {
            "source_documents": self.return_source_documents,
            "generated_question": self.return_generated_question,
            "searched_questions": self.return_searched_questions,
            "answer_message": self.return_answer_message,
            "answer_citations": self.return_answer_citations,
            "reasoning": self.return_reasoning,
        }
        return ["answer", *(key for key, is_returned in optional.items() if is_returned)]

    def stream(  # type: ignore[override]  # with one more option
        self,
        input: Inputs | str,
        config: RunnableConfig | None = None,
        *,
        return_only_outputs: bool = True,
        **kwargs: Any,
    ) -> Iterator[Inputs]:
        """The standalone question, the documents, then the answer as it is written.

        Without `return_only_outputs`, the first piece contains the inputs.

        Raises:
            TypeError: The input or the history has another type.
            ValueError: The input has no `question`.
        """
        inputs = as_inputs(input)
        if not return_only_outputs:
            yield AddableDict({key: inputs[key] for key in inputs.keys() - {*self.output_keys}})
        yield from self._transform_stream_with_config(
            iter([inputs]),
            self._stream_pieces,  # type: ignore[arg-type]  # LangChain inspects its signature
            self._with_own_config(config),
            **_supported(kwargs),
        )

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise TypeError, which names `invoke`."""
        raise TypeError(_replacement_of("__call__"))

    def __getattr__(self, name: str) -> Any:
        if message := _replacement_of(name):
            raise AttributeError(message)
        return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it from checkers

    def _with_own_config(self, config: RunnableConfig | None) -> RunnableConfig | None:
        own = {"callbacks": self.callbacks, "tags": self.tags, "metadata": self.metadata}
        set_values = {key: value for key, value in own.items() if value}
        return merge_configs(ensure_config(config), cast("RunnableConfig", set_values))

    def _stream_pieces(self, inputs: Iterator[Inputs], config: RunnableConfig) -> Iterator[Inputs]:
        """The pieces, each with only what is to be returned; an empty piece stays empty."""
        keys = {*self.output_keys, *(["document_count"] if self.return_source_documents else ())}
        for piece in self._pieces(self._request(next(inputs)), config):
            returned = {key: value for key, value in piece.items() if key in keys}
            if returned or not piece:
                yield AddableDict(returned)

    def _pieces(self, request: Inputs, config: RunnableConfig) -> Iterator[Inputs]:
        questions = uncondensed(request)
        if not questions:
            standalone = ""
            for part in self.condense.stream(_follow_up(request), _with_tag(config, "condense")):
                standalone += part
                if not part:
                    yield {}
            questions = self._questions(request, standalone)
        if self.respell and not request.get("standalone_question"):
            questions = [self.respell.invoke(question, config) for question in questions]
        yield {"generated_question": questions[0]}
        yield {"searched_questions": questions}
        results = [self.retriever.invoke(question, config) for question in questions]
        documents = self._fitting(request, results)
        yield {"source_documents": documents}
        if not documents and self.response_if_no_docs_found is not None:
            yield {"answer": self.response_if_no_docs_found}
            return
        yield from self._answer_pieces(self._answer_inputs(request, questions, documents), config)

    def _answer_pieces(self, inputs: Inputs, config: RunnableConfig) -> Iterator[Inputs]:
        messages = []
        for message in self.answer.stream(inputs, _with_tag(config, "answer")):
            messages.append(as_chunk(message))
            yield from _message_pieces(messages[-1], self.return_answer_citations)
        if not any(message.text for message in messages):
            yield {"answer": ""}
        if self.return_answer_message and messages:
            yield {"answer_message": messages[0] + messages[1:]}

    def _request(self, inputs: Inputs) -> Inputs:
        """The inputs, with the history shortened to fit."""
        history: HistoryOrText = inputs.get("chat_history") or []
        if not isinstance(history, str):
            history = fit_history(history, self.max_history_tokens, self.token_counter)
        if self.get_chat_history is not None:
            history = self.get_chat_history(history)
        return {**inputs, "chat_history": history}

    def _questions(self, request: Inputs, standalone: str) -> list[str]:
        typed = request["question"]
        return questions_to_search(typed, standalone) if self.guard_rewrite else [standalone]

    def _fitting(self, request: Inputs, results: list[list[Document]]) -> list[Document]:
        documents = prefer_cited(interleave(results), request)
        return fit_documents(documents, self.max_tokens_limit, self.token_counter)

    def _answer_inputs(
        self, request: Inputs, questions: list[str], documents: list[Document]
    ) -> Inputs:
        typed = request["question"]
        question = as_one_question(questions) if self.rephrase_question else typed
        added = {"question": question, "typed_question": typed, "input_documents": documents}
        return {**request, **added}


def _message_pieces(message: AIMessageChunk, has_citations: bool) -> Iterator[Inputs]:
    """The pieces for a piece of the model's message."""
    count = message.additional_kwargs.get(DOCUMENT_COUNT)
    if count is not None:
        yield {"document_count": count}
    if reasoning := reasoning_of(message):
        yield {"reasoning": reasoning}
    citations, text = message.additional_kwargs.get("citations"), str(message.text)
    if citations is not None and has_citations:
        yield {"answer": text, "answer_citations": citations}
    elif text:
        yield {"answer": text}


def as_inputs(value: Inputs | str) -> Inputs:
    """The inputs as a dictionary; a string is a question without a history.

    Raises:
        TypeError: The value is neither.
        ValueError: There is no `question`.
    """
    if isinstance(value, str):
        return {"question": value}
    if not isinstance(value, Mapping):
        raise TypeError(
            "the input of the chain is a question or a dictionary with `question` and"
            f" `chat_history`, not {type(value).__name__}"
        )
    if "question" not in value:
        raise ValueError(f"the input has no `question`, but only: {', '.join(value) or 'nothing'}")
    return dict(value)


def _follow_up(request: Inputs) -> Inputs:
    """The inputs for the condenser."""
    return {key: request[key] for key in ("question", "chat_history")}


def _with_tag(config: RunnableConfig, tag: str) -> RunnableConfig:
    return merge_configs(config, {"tags": [tag]})


def _replacement_of(name: str) -> str:
    """The message for an option or method of the classic chain; "" if it is not one of those."""
    replacement = _REPLACEMENTS.get(name)
    if replacement is None:
        return ""
    return (
        f"ConversationalRetrievalChain has no `{name}`: {replacement}."
        " docs/migration.md compares it with the classic chain."
    )


def _supported(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those of the classic chain that ask for what happens anyway.

    Raises:
        TypeError: An option does not exist; the message names the replacement.
    """
    for name, value in options.items():
        message = _replacement_of(name)
        if message and value is not None and value != _WITHOUT_EFFECT.get(name):
            raise TypeError(message)
    return {name: value for name, value in options.items() if name not in _REPLACEMENTS}
