"""Answers that the program composes from its own text and quotations."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import Runnable
from langchain_core.runnables.utils import AddableDict

from chains.citations.answer_reader import INNER_QUOTES, citation, quotation
from chains.citations.markers import as_markdown
from chains.citations.quotes import find_quote
from chains.citations.visible_text import shown
from chains.history import Inputs
from domain import EXTRACTIVE
from domain.language.script import CJK
from domain.language.sentences import blocks, split_sentences
from domain.language.tokens import content_tokens


class FindsDocuments(Protocol):
    """Finds documents; all methods but `retriever` return one document's passages, or none."""

    def retriever(self) -> Runnable[str, list[Document]]:
        """Finds enough passages to compare documents."""

    def named(self, name: str) -> list[Document]:
        """The document with that name."""

    def nearest(self, text: str) -> list[Document]:
        """The document closest to the text."""

    def only(self) -> list[Document]:
        """The only document, if there is exactly one."""

    def known(self, document_id: str) -> list[Document]:
        """The document with that id."""


class Quotation(NamedTuple):
    """Words of passage `n`, counted from 1."""

    n: int
    words: str


def answer_pieces(paragraphs: Iterable[str | Quotation]) -> Iterator[Inputs]:
    """A piece of the answer for each paragraph, then the whole message.

    Each piece has `answer_citations`. They are empty for the program's own Markdown, which is not
    parsed and needs no citation.
    """
    answer = ""
    for paragraph in paragraphs:
        before = answer + ("\n\n" if answer else "")
        citations = []
        if isinstance(paragraph, Quotation):
            citations.append(citation(*paragraph, len(before)))
            paragraph = as_markdown(quotation(*paragraph))  # as displayed
        text = before[len(answer) :] + paragraph
        answer += text
        yield AddableDict(answer=text, answer_citations=citations)
    yield AddableDict(answer_message=_message(answer))


def quotable(document: Document, start: int, end: int) -> str:
    """The span in quotable form, or "" if the quote could not be found in the document."""
    words = shown(document.page_content[start:end]).translate(INNER_QUOTES)
    return words if find_quote(document.page_content, words) else ""


def _message(answer: str) -> AIMessageChunk:
    return AIMessageChunk(
        content=answer,
        response_metadata={"model_name": EXTRACTIVE, "finish_reason": "stop"},
        chunk_position="last",
    )


MAX_CHARS = 400
MIN_TOKENS = 4
"""Shorter sentences mean nothing on their own; longer ones are lists or unbroken text."""

_FINISHED = re.compile(r"[.!?。！？…][\s\"'”’)\]」』*_]*\Z")
_LEADS_ON = re.compile(r"[?？:：][\s\"'”’)*_`」』]*\Z")
_BEGINS = re.compile(rf"[\s\"'“‘(\[「『*_`-]*(?:[A-Z0-9]|[{CJK}])")


class WholeSentence(NamedTuple):
    """A sentence at offset `start` of its document, with its quotable words and its tokens.

    `is_finished` is False if there is no closing punctuation, as in a list item.
    """

    start: int
    words: str
    tokens: Sequence[str]
    is_finished: bool


def whole_sentences(passage: Document) -> Iterator[WholeSentence]:
    """The sentences in order, without headings, table rows, code, questions, and fragments."""
    text, offset = passage.page_content, passage.metadata.get("start", 0)
    prose = [block for block in blocks(text) if block.is_prose]
    for start, end in split_sentences(text):
        block = next((one for one in prose if one.start <= start < one.end), None)
        if block is None:
            continue
        begin = max(start, block.prose_start)  # without the marker of a list item
        sentence = text[begin:end]
        tokens = content_tokens(sentence)
        if _stands_alone(sentence, tokens) and (words := quotable(passage, begin, end)):
            is_finished = _FINISHED.search(sentence) is not None
            yield WholeSentence(offset + begin, words, tokens, is_finished)


def first_lines(passages: Sequence[Document]) -> Iterator[tuple[int, str]]:
    """All quotable lines, including headings and rows, each with the index of its passage."""
    for index, passage in enumerate(passages):
        for start, end in split_sentences(passage.page_content):
            if words := quotable(passage, start, end):
                yield index, words


def _stands_alone(sentence: str, tokens: Sequence[str]) -> bool:
    return (
        len(sentence) <= MAX_CHARS
        and len(set(tokens)) >= MIN_TOKENS
        and not _LEADS_ON.search(sentence)
        and _BEGINS.match(sentence) is not None
    )
