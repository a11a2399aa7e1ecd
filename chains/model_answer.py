"""Answers of a chat model, up to the end of its turn, with an extract if they are not usable."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.content import Citation
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from chains.chat_prompts import ANSWER_PROMPT, neutral_results, render_sources
from chains.citations.answer_check import check_answer
from chains.citations.marker_parser import open_fence
from chains.condensing.condense import as_one_question
from chains.history import as_chunk, render_history
from chains.model_reply import ModelReply
from chains.streaming_runnable import StreamingRunnable
from domain import CUT_SHORT_REASONS, CitationState, RetrievedPassage
from domain.errors import ContextOverflowError
from domain.language.script import Language, answer_language, script_of
from domain.language.surrogate_pairs import join_pairs
from domain.language.tokens import content_tokens
from domain.logs import get_logger

_log = get_logger("questions")


Answerer = Runnable[dict[str, Any], BaseMessage | str]
"""Streams an answer in message pieces (or strings).

The inputs are `question`, `typed_question` (which determines the language of the answer),
`input_documents` (numbered from 1 in order), `chat_history` (as in `chains.history`), and all
other inputs of the chain.
"""


DOCUMENT_COUNT = "document_count"
"""In the `additional_kwargs` of the first piece, if only so many documents fit into the prompt."""

Renderer = Callable[[Sequence[Document]], str]
"""Writes documents for a prompt."""


def answer_with_model(
    llm: LanguageModelLike,
    prompt: BasePromptTemplate[Any] = ANSWER_PROMPT,
    *,
    variable: str = "sources",
    render: Renderer = render_sources,
) -> Answerer:
    """An answerer that shows a chat model the passages.

    Args:
        llm: The model.
        prompt: May use `variable`, `question`, `chat_history`, and other inputs of the chain.
        variable: The variable of the prompt for the passages.
        render: Writes the passages; by default, numbered so that an answer can cite them.
    """
    inputs = RunnableLambda(partial(_prompt_inputs, variable, render), name="number_sources")
    return _PromptedModel(inputs | prompt, llm)


@dataclass(eq=False, repr=False)
class _PromptedModel(StreamingRunnable[dict[str, Any], BaseMessage | str]):
    """Like `prompt | llm`, but a piece takes a sixth less time, and the answer ends with the turn.

    A `RunnableSequence` accumulates the pieces for its trace, but the model's trace has them too.
    """

    prompt: Runnable[dict[str, Any], PromptValue]
    llm: LanguageModelLike

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> BaseMessage | str:
        """The whole answer."""
        reply = ModelReply(input)
        answer = reply.read(self.llm.invoke(self.prompt.invoke(input, config), config, **kwargs))
        return answer + str(reply.close().text) if isinstance(answer, str) else answer

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the answer as the model writes them.

        If the prompt is too long for the model, it is asked once more with the first half of the
        passages, whose number the first piece then has (`DOCUMENT_COUNT`).
        """
        try:
            yield from self._pieces(input, config, **kwargs)
        except ContextOverflowError:
            documents = input["input_documents"]
            if len(documents) < 2:
                raise
            _log.warning("prompt too long for the model: retried with half of the passages")
            count = len(documents) // 2
            fewer = {**input, "input_documents": documents[:count]}
            yield AIMessageChunk(content="", additional_kwargs={DOCUMENT_COUNT: count})
            yield from self._pieces(fewer, config, **kwargs)

    def _pieces(
        self, input: dict[str, Any], config: RunnableConfig | None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        messages, reply = self.prompt.invoke(input, config), ModelReply(input)
        pieces = cast("Generator[BaseMessage | str]", self.llm.stream(messages, config, **kwargs))
        with closing(pieces):  # close now instead of at garbage collection
            for piece in pieces:
                yield reply.read(piece)
                if reply.is_at_end_of_turn:
                    return
        yield reply.close()


def _prompt_inputs(variable: str, render: Renderer, inputs: dict[str, Any]) -> dict[str, Any]:
    documents = inputs["input_documents"]
    rendered = {
        "question": _in_its_language(inputs["question"], inputs.get("typed_question", "")),
        variable: render(documents),
        "chat_history": render_history(inputs["chat_history"]),
        "tool_messages": neutral_results(inputs.get("tool_messages", ()), documents),
    }
    return {key: inputs[key] for key in inputs if key != "input_documents"} | rendered


def _in_its_language(question: str, typed: str) -> str:
    """The question, preceded by the typed one if it is in a different language.

    A Korean question may be searched in English, but its answer should be in Korean.
    """
    if not typed or typed in question or script_of(typed) == script_of(question):
        return question
    return as_one_question([question, typed])


_HEADING: dict[Language, str] = {
    "english": (
        "**The text above cites nothing that was found in the documents. These quotes were found"
        " without the language model:**"
    ),
    "korean": (
        "**위의 글에는 문서에서 확인된 인용이 없습니다. 다음은 언어 모델 없이 찾은 인용문입니다.**"
    ),
    "japanese": (
        "**上の文章には、文書の中で確認できた引用がありません。次は言語モデルを使わずに見つけた"
        "引用です。**"
    ),
}
_HEADING_WITHOUT_ANSWER: dict[Language, str] = {
    "english": "**The language model wrote no answer. This was found without it:**",
    "korean": "**언어 모델이 답을 쓰지 않았습니다. 다음은 언어 모델 없이 찾은 것입니다.**",
    "japanese": (
        "**言語モデルは回答を書きませんでした。次は言語モデルを使わずに見つけたものです。**"
    ),
}

_HEADING_OF_CUT_ANSWER: dict[Language, str] = {
    "english": (
        "**The language model did not finish the text above. These quotes were found without it:**"
    ),
    "korean": (
        "**언어 모델이 위의 글을 끝내지 못했습니다. 다음은 언어 모델 없이 찾은 인용문입니다.**"
    ),
    "japanese": (
        "**言語モデルは上の文章を書き終えませんでした。次は言語モデルを使わずに見つけた引用です。**"
    ),
}


@dataclass(frozen=True)
class _Problem:
    """Why an answer needs an extract: in words for the log, and as the heading of the extract."""

    name: str
    heading: Mapping[Language, str]


_UNSUPPORTED = _Problem("not supported by its citations", _HEADING)
_WITHOUT_TEXT = _Problem("without text", _HEADING_WITHOUT_ANSWER)
_CUT_SHORT = _Problem("cut short", _HEADING_OF_CUT_ANSWER)

_FENCES = ("```", "~~~")


@dataclass(eq=False, repr=False)
class AnswererWithExtract(StreamingRunnable[dict[str, Any], BaseMessage | str]):
    """Streams the answer of a chat model, followed by an extract if the answer is not usable.

    An answer that was cut short is not usable either. The extract is one piece with an explanatory
    heading, and with its citations in `additional_kwargs`, whose indices refer to the whole answer.
    There is none after a complete answer that says that the passages contain no answer, or if
    nothing can be extracted; only an empty answer always gets one. An answer that calls tools that
    were offered, or that follows their results (`tool_messages`), never gets one: it need not cite.
    """

    by_model: Answerer
    extractive: Answerer
    offers_tools: bool = False

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the model's answer, then the extract if there is one."""
        answer = reason = ""
        uses_tools = "tool_messages" in input
        for piece in self.by_model.stream(input, config, **kwargs):
            chunk = as_chunk(piece)
            answer += str(chunk.text)
            if count := chunk.additional_kwargs.get(DOCUMENT_COUNT):
                input = {**input, "input_documents": input["input_documents"][:count]}
            uses_tools = uses_tools or (self.offers_tools and bool(chunk.tool_call_chunks))
            reason = chunk.response_metadata.get("finish_reason") or reason
            yield piece
        answer = join_pairs(answer)  # the halves of a pair may be in two pieces
        problem = _problem_of(answer, reason, input["input_documents"])
        if problem and not uses_tools:
            _log.warning(f"answer {problem.name}: an extract follows")
            extract = as_chunk(self.extractive.invoke(input, config))
            yield from _below(answer, extract, input, problem.heading)


def _problem_of(answer: str, finish_reason: str, documents: Sequence[Document]) -> _Problem | None:
    """Why the answer needs an extract; None if it needs none."""
    if not answer.strip():
        return _WITHOUT_TEXT
    if not is_usable(answer, documents):
        return _UNSUPPORTED
    return _CUT_SHORT if finish_reason in CUT_SHORT_REASONS else None


def is_usable(answer: str, documents: Sequence[Document]) -> bool:
    """Whether at least half of the answer's citations were found in the passages.

    An answer without claims, such as a statement that there is no answer, is usable too.
    """
    passages = [_passage(n, document) for n, document in enumerate(documents, start=1)]
    checked = check_answer(answer, passages, lambda _: None)
    verified = sum(one.state is CitationState.VERIFIED for one in checked.citations)
    if checked.citations:
        return 0 < verified >= len(checked.citations) / 2
    is_code = any(fence in answer for fence in _FENCES)
    return checked.statements == 0 and not is_code and bool(content_tokens(answer))


def _passage(n: int, document: Document) -> RetrievedPassage:
    metadata = document.metadata
    headings = tuple(metadata.get("heading_path") or ())
    return RetrievedPassage(
        n, "", "", metadata.get("title") or "", "", document.page_content, heading_path=headings
    )


def _below(
    answer: str, extract: AIMessageChunk, inputs: dict[str, Any], heading: Mapping[Language, str]
) -> Iterator[BaseMessage]:
    """The extract as a piece that follows the answer; nothing if it would add nothing."""
    citations: list[Citation] = extract.additional_kwargs.get("citations", [])
    if not citations and answer.strip():
        return
    language = answer_language(inputs.get("typed_question") or inputs["question"])
    before = f"{_end_of(answer)}{heading[language]}\n\n"
    shifted = [_shift(one, len(answer) + len(before)) for one in citations]
    text = before + str(extract.text)
    yield AIMessageChunk(content=text, additional_kwargs={"citations": shifted})


def _end_of(answer: str) -> str:
    """Text that ends the answer's last paragraph, and a code block that is still open."""
    fence = open_fence(answer)
    return f"\n{fence}\n\n" if fence else "\n\n" if answer.strip() else ""


def _shift(citation: Citation, characters: int) -> Citation:
    start, end = citation["start_index"] + characters, citation["end_index"] + characters
    return {**citation, "start_index": start, "end_index": end}
