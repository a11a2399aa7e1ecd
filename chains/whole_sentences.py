"""The sentences of a passage that can be quoted by themselves."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from langchain_core.documents import Document

from chains.built_in_answer import quotable
from language.blocks import blocks
from language.characters import CJK
from language.sentences import split_sentences
from language.tokens import content_tokens

MAX_CHARS = 400
MIN_TOKENS = 4
"""Shorter sentences say nothing by themselves, longer ones are lists or text without a break."""

_FINISHED = re.compile(r"[.!?。！？…][\s\"'”’)\]」』*_]*\Z")
_LEADS_ON = re.compile(r"[?？:：][\s\"'”’)*_`」』]*\Z")
_BEGINS = re.compile(rf"[\s\"'“‘(\[「『*_`-]*(?:[A-Z0-9]|[{CJK}])")


class WholeSentence(NamedTuple):
    """A sentence from `start` of its document, its words as they are quoted, and its tokens.

    `is_finished` is False without a closing mark, as of a list item.
    """

    start: int
    words: str
    tokens: Sequence[str]
    is_finished: bool


def whole_sentences(passage: Document) -> Iterator[WholeSentence]:
    """Those in their order; no headings, table rows, code, questions or cut sentences."""
    text, offset = passage.page_content, passage.metadata.get("start", 0)
    prose = [block for block in blocks(text) if block.is_prose]
    for start, end in split_sentences(text):
        block = next((one for one in prose if one.start <= start < one.end), None)
        if block is None:
            continue
        begin = max(start, block.prose_start)  # without the mark of a list item
        sentence = text[begin:end]
        tokens = content_tokens(sentence)
        if _stands_alone(sentence, tokens) and (words := quotable(passage, begin, end)):
            finished = _FINISHED.search(sentence) is not None
            yield WholeSentence(offset + begin, words, tokens, finished)


def first_lines(passages: Sequence[Document]) -> Iterator[tuple[int, str]]:
    """Whatever can be quoted, and the place of its passage: headings and rows of tables too."""
    for place, passage in enumerate(passages):
        for start, end in split_sentences(passage.page_content):
            if words := quotable(passage, start, end):
                yield place, words


def _stands_alone(sentence: str, tokens: Sequence[str]) -> bool:
    return (
        len(sentence) <= MAX_CHARS
        and len(set(tokens)) >= MIN_TOKENS
        and not _LEADS_ON.search(sentence)
        and _BEGINS.match(sentence) is not None
    )
