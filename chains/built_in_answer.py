"""Answers that the program writes itself: its own words, and quotations whose numbers it knows."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.utils import AddableDict

from chains.citations import shown_text
from chains.quotes import find_quote
from chains.visible_text import shown
from chains.written_answer import citation, quotation
from domain import EXTRACTIVE

Inputs = dict[str, Any]

# Inner quotation marks become single ones, so that the outer pair is plain to see.
_INNER = str.maketrans(dict.fromkeys('"“”„‟', "'"))


class Quotation(NamedTuple):
    """Words of source `n`, counted from 1."""

    n: int
    words: str


class BuiltInAnswerer(Runnable[Inputs, Inputs]):
    """Streams the pieces of `ConversationalRetrievalChain` without asking a model."""

    def invoke(self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any) -> Inputs:
        """All pieces of the stream, added up."""
        return reduce(add, self.stream(input, config, **kwargs))

    @abstractmethod
    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Inputs]:
        """The pieces, as they are known."""


def answer_pieces(paragraphs: Iterable[str | Quotation]) -> Iterator[Inputs]:
    """A piece of the answer for each paragraph, then its whole message.

    Each piece has `answer_citations`, empty for the program's own Markdown: it is not parsed,
    and needs no source.
    """
    answer = ""
    for paragraph in paragraphs:
        before = answer + ("\n\n" if answer else "")
        cited = []
        if isinstance(paragraph, Quotation):
            cited.append(citation(*paragraph, len(before)))
            paragraph = shown_text(quotation(*paragraph))  # as it is shown
        text = before[len(answer) :] + paragraph
        answer += text
        yield AddableDict(answer=text, answer_citations=cited)
    yield AddableDict(answer_message=_message(answer))


def quotable(document: Document, start: int, end: int) -> str:
    """That span as it can be quoted; "" where it could not be found in the document again."""
    words = shown(document.page_content[start:end]).translate(_INNER)
    return words if find_quote(document.page_content, words) else ""


def _message(answer: str) -> AIMessageChunk:
    return AIMessageChunk(
        content=answer,
        response_metadata={"model_name": EXTRACTIVE, "finish_reason": "stop"},
        chunk_position="last",
    )
