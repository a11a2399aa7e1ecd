"""A chat model's answer, and below it the built-in extract where the answer proves nothing."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.content import Citation
from langchain_core.runnables import Runnable, RunnableConfig

from chains.answer import Answerer, as_chunk
from chains.citations import check_answer
from chains.markers import open_fence
from domain import CitationState, Source
from language.answer_language import Language, answer_language
from language.tokens import content_tokens

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
_HEADING_BELOW_NOTHING: dict[Language, str] = {
    "english": "**The language model wrote no answer. This was found without it:**",
    "korean": "**언어 모델이 답을 쓰지 않았습니다. 다음은 언어 모델 없이 찾은 것입니다.**",
    "japanese": (
        "**言語モデルは回答を書きませんでした。次は言語モデルを使わずに見つけたものです。**"
    ),
}

_FENCES = ("```", "~~~")


class AnswererWithExtract(Runnable[dict[str, Any], BaseMessage | str]):
    """Streams what a chat model answers; where that can't be used, an extract follows.

    The extract is a piece of its own with a heading that says what it is, and with its citations
    in `additional_kwargs`, whose indices count in the whole answer. An answer that says that the
    sources hold nothing gets none, nor does one for which the extract finds nothing; only an empty
    answer always has something below it.
    """

    def __init__(self, by_model: Answerer, extractive: Answerer) -> None:
        """Args: what asks the model, and what quotes without it."""
        self._by_model = by_model
        self._extractive = extractive

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessageChunk:
        """The whole answer."""
        first, *others = map(as_chunk, self.stream(input, config, **kwargs))
        return sum(others, first)

    def stream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[BaseMessage | str]:
        """The pieces of the model's answer as they come, then perhaps the extract."""
        texts = []
        for piece in self._by_model.stream(input, config, **kwargs):
            texts.append(str(as_chunk(piece).text))
            yield piece
        answer = "".join(texts)
        if not is_usable(answer, input["input_documents"]):
            extract = as_chunk(self._extractive.invoke(input, config))
            yield from _below(answer, extract, input)

    async def astream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[BaseMessage | str]:
        """The pieces of the model's answer as they come, then perhaps the extract."""
        texts = []
        async for piece in self._by_model.astream(input, config, **kwargs):
            texts.append(str(as_chunk(piece).text))
            yield piece
        answer = "".join(texts)
        if not is_usable(answer, input["input_documents"]):
            extract = as_chunk(await self._extractive.ainvoke(input, config))
            for piece in _below(answer, extract, input):
                yield piece


def is_usable(answer: str, documents: Sequence[Document]) -> bool:
    """Whether at least half of what the answer cites was found in the documents.

    An answer in words that claims nothing, such as one that says that the sources hold no answer,
    can be used as well.
    """
    sources = [_source(n, document) for n, document in enumerate(documents, start=1)]
    checked = check_answer(answer, sources, lambda _: None)
    found = sum(one.state is CitationState.VERIFIED for one in checked.citations)
    if checked.citations:
        return 0 < found >= len(checked.citations) / 2
    is_code = any(fence in answer for fence in _FENCES)
    return checked.statements == 0 and not is_code and bool(content_tokens(answer))


def _source(n: int, document: Document) -> Source:
    known = document.metadata
    headings = tuple(known.get("heading_path") or ())
    return Source(
        n, "", "", known.get("title") or "", "", document.page_content, heading_path=headings
    )


def _below(answer: str, extract: AIMessageChunk, inputs: dict[str, Any]) -> Iterator[BaseMessage]:
    """The extract as a piece to follow the answer; none where it would say nothing new."""
    cited: list[Citation] = extract.additional_kwargs.get("citations", [])
    is_empty = not answer.strip()
    if not cited and not is_empty:
        return
    headings = _HEADING_BELOW_NOTHING if is_empty else _HEADING
    language = answer_language(inputs.get("typed_question") or inputs["question"])
    before = f"{_end_of(answer)}{headings[language]}\n\n"
    moved = [_moved(one, len(answer) + len(before)) for one in cited]
    text = before + str(extract.text)
    yield AIMessageChunk(content=text, additional_kwargs={"citations": moved})


def _end_of(answer: str) -> str:
    """What ends the last paragraph of the answer, and a code block that it leaves open."""
    fence = open_fence(answer)
    return f"\n{fence}\n\n" if fence else "\n\n" if answer.strip() else ""


def _moved(citation: Citation, characters: int) -> Citation:
    start, end = citation["start_index"] + characters, citation["end_index"] + characters
    return {**citation, "start_index": start, "end_index": end}
