"""Answers of a chat model, up to the end of its turn, with an extract if they are not usable."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.content import Citation
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from chains.chat_prompts import ANSWER_PROMPT, render_sources
from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import open_fence
from chains.condensing.condense import as_one_question
from chains.history import as_chunk, render_history
from chains.streaming_runnable import StreamingRunnable
from domain import CitationState, RetrievedPassage
from domain.language.script import Language, answer_language, script_of
from domain.language.tokens import content_tokens
from domain.logs import get_logger

_MARKERS = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|user|>",
    "<|assistant|>", "<|system|>", "<|start_header_id|>", "<|end_header_id|>", "<|begin_of_text|>",
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "</s>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
)  # fmt: skip
_LONGEST = max(map(len, _MARKERS))

_log = get_logger("questions")


class TurnEnd:
    """Passes on a streamed answer up to the first marker of a chat template.

    A server that applies a wrong template or none returns its markers as text, followed by a
    dialogue that the model invents. Markers before the first word are dropped. A marker that the
    passages or the question contain is text, because a document may be about templates.
    """

    def __init__(self, quotable_texts: Iterable[str]) -> None:
        """`quotable_texts` are the passages and the question, which may contain markers."""
        texts = list(quotable_texts)
        markers = [one for one in _MARKERS if not any(one in text for text in texts)]
        self._marker = re.compile("|".join(map(re.escape, markers)) or r"(?!)")
        self._beginnings = {one[:length] for one in markers for length in range(1, len(one))}
        self._held = ""
        self._has_text = False
        self.reached = False

    def read(self, piece: str) -> str:
        """The part of the answer that can no longer change; "" once `reached` is True."""
        if self.reached:
            return ""
        self._held += piece
        text = self._before_marker()
        if not self.reached:
            pending = self._possible_marker()
            certain = len(self._held) - pending
            text, self._held = self._held[:certain], self._held[certain:]
        self._has_text = self._has_text or bool(text.strip())
        return text

    def close(self) -> str:
        """The text that was held back because it could have become a marker."""
        pending, self._held = self._held, ""
        return "" if self.reached else pending

    def _before_marker(self) -> str:
        """The text before a marker that ends the answer; markers at its beginning are dropped."""
        while match := self._marker.search(self._held):
            before = self._held[: match.start()]
            if self._has_text or before.strip():
                self.reached = True
                self._held = ""
                return before.rstrip()
            self._held = self._held[match.end() :]
        return ""

    def _possible_marker(self) -> int:
        """The number of characters at the end that may begin a marker."""
        most = min(_LONGEST, len(self._held))
        lengths = range(most, 0, -1)
        return next((n for n in lengths if self._held[-n:] in self._beginnings), 0)


Answerer = Runnable[dict[str, Any], BaseMessage | str]
"""Streams an answer in message pieces (or strings).

The inputs are `question`, `typed_question` (which determines the language of the answer),
`input_documents` (numbered from 1 in order), `chat_history` (as in `chains.history`), and all
other inputs of the chain.
"""


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


class _PromptedModel(StreamingRunnable[dict[str, Any], BaseMessage | str]):
    """Like `prompt | llm`, but a piece takes a sixth less time, and the answer ends with the turn.

    A `RunnableSequence` accumulates the pieces for its trace, but the model's trace has them too.
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
        return _complete(answer, _turn_end(input))

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the answer as the model writes them."""
        messages, end = self._prompt.invoke(input, config), _turn_end(input)
        pieces = cast("Generator[BaseMessage | str]", self._llm.stream(messages, config, **kwargs))
        with closing(pieces):  # close now instead of at garbage collection
            for piece in pieces:
                yield _up_to(end, piece)
                if end.reached:
                    return
        yield end.close()


def _turn_end(inputs: dict[str, Any]) -> TurnEnd:
    texts = [document.page_content for document in inputs["input_documents"]]
    return TurnEnd([inputs["question"], *texts])


def _up_to(end: TurnEnd, piece: BaseMessage | str) -> BaseMessage | str:
    """The part of the piece before the end of the turn."""
    if isinstance(piece, str):
        return end.read(piece)
    if not isinstance(piece.content, str):
        return piece
    text = end.read(piece.content)
    return piece if text == piece.content else piece.model_copy(update={"content": text})


def _complete(answer: BaseMessage | str, end: TurnEnd) -> BaseMessage | str:
    """The answer up to the end of the turn."""
    if isinstance(answer, str):
        return end.read(answer) + end.close()
    if not isinstance(answer.content, str):
        return answer
    return answer.model_copy(update={"content": end.read(answer.content) + end.close()})


def _prompt_inputs(variable: str, render: Renderer, inputs: dict[str, Any]) -> dict[str, Any]:
    rendered = {
        "question": _in_its_language(inputs["question"], inputs.get("typed_question", "")),
        variable: render(inputs["input_documents"]),
        "chat_history": render_history(inputs["chat_history"]),
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

_FENCES = ("```", "~~~")


class AnswererWithExtract(StreamingRunnable[dict[str, Any], BaseMessage | str]):
    """Streams the answer of a chat model, followed by an extract if the answer is not usable.

    The extract is one piece with an explanatory heading, and with its citations in
    `additional_kwargs`, whose indices refer to the whole answer. There is none after an answer that
    says that the passages contain no answer, or if nothing can be extracted; only an empty answer
    always gets one.
    """

    def __init__(self, by_model: Answerer, extractive: Answerer) -> None:
        """Combine the answerers with and without a chat model."""
        self._by_model = by_model
        self._extractive = extractive

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the model's answer, then the extract if there is one."""
        texts = []
        for piece in self._by_model.stream(input, config, **kwargs):
            texts.append(str(as_chunk(piece).text))
            yield piece
        answer = "".join(texts)
        if not is_usable(answer, input["input_documents"]):
            _log.warning("answer not supported by its citations: an extract follows")
            extract = as_chunk(self._extractive.invoke(input, config))
            yield from _below(answer, extract, input)


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


def _below(answer: str, extract: AIMessageChunk, inputs: dict[str, Any]) -> Iterator[BaseMessage]:
    """The extract as a piece that follows the answer; nothing if it would add nothing."""
    citations: list[Citation] = extract.additional_kwargs.get("citations", [])
    is_empty = not answer.strip()
    if not citations and not is_empty:
        return
    headings = _HEADING_WITHOUT_ANSWER if is_empty else _HEADING
    language = answer_language(inputs.get("typed_question") or inputs["question"])
    before = f"{_end_of(answer)}{headings[language]}\n\n"
    shifted = [_shifted(one, len(answer) + len(before)) for one in citations]
    text = before + str(extract.text)
    yield AIMessageChunk(content=text, additional_kwargs={"citations": shifted})


def _end_of(answer: str) -> str:
    """Text that ends the answer's last paragraph, and a code block that is still open."""
    fence = open_fence(answer)
    return f"\n{fence}\n\n" if fence else "\n\n" if answer.strip() else ""


def _shifted(citation: Citation, characters: int) -> Citation:
    start, end = citation["start_index"] + characters, citation["end_index"] + characters
    return {**citation, "start_index": start, "end_index": end}
