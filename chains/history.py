"""Chat messages, histories, and token budgets.

A history consists of messages or (human, ai) pairs, as in the classic chain, or is a text that
prompts contain unchanged.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk, BaseMessage

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation


Inputs = dict[str, Any]
"""The inputs of a chain, for example `question` and `chat_history`."""
HistoryEntry = BaseMessage | tuple[str, str]
"""One entry of a chat history: a message, or a whole turn as (human, ai)."""

History = Sequence[HistoryEntry]
HistoryOrText = History | str
"""A history, or the text that stands for it in prompts."""

LABELS = {"human": "Human", "ai": "Assistant"}


def render_history(history: HistoryOrText) -> str:
    """The history for prompts, one line per message, oldest first; a text is returned unchanged.

    Each line begins with a line feed, and messages without text are omitted, as in the classic
    chain. If the result is empty, there is no history for condensing.
    """
    if isinstance(history, str):
        return history
    return "".join(f"\n{LABELS.get(role, role)}: {text}" for role, text in _lines(history))


def questions(history: HistoryOrText) -> list[str]:
    """The user's messages, oldest first; none in a text."""
    if isinstance(history, str):
        return []
    return [text for role, text in _lines(history) if role == "human"]


def last_citations(history: HistoryOrText) -> "list[Citation]":
    """The citations of the last answer that has any.

    They are LangChain annotations under `citations` in a message's `additional_kwargs`, with the
    document's `title`, the `cited_text`, and in `extras` the `document_id` and the passage's
    `heading_path`. Pairs have none, and neither do the messages of most callers.
    """
    for entry in reversed(history):
        if isinstance(entry, BaseMessage) and (
            citations := entry.additional_kwargs.get("citations")
        ):
            return list(citations)
    return []


def cited_headings(history: HistoryOrText) -> list[str]:
    """The title and the headings, outermost first, of the last answer's first citation."""
    for citation in last_citations(history)[:1]:
        path = citation.get("extras", {}).get("heading_path", ())
        return [text for text in (citation.get("title", ""), *path) if text]
    return []


def turns(history: History) -> list[list[HistoryEntry]]:
    """The entries grouped by turn: a pair, or a human message and all messages up to the next."""
    grouped: list[list[HistoryEntry]] = []
    for entry in history:
        if not grouped or isinstance(entry, tuple) or getattr(entry, "type", "") == "human":
            grouped.append([])
        grouped[-1].append(entry)
    return grouped


def _lines(history: History) -> Iterator[tuple[str, str]]:
    for entry in history:
        if isinstance(entry, tuple):
            yield from zip(("human", "ai"), entry, strict=True)
        elif not isinstance(entry, BaseMessage):
            raise TypeError(f"a chat history holds messages or pairs, not {type(entry).__name__}")
        elif text := str(entry.text):
            yield entry.type, text


def as_chunk(piece: BaseMessage | str) -> AIMessageChunk:
    """A streamed piece as a chunk, so that pieces can be added up.

    A model that can't stream returns one whole message; a plain function returns a string.
    """
    if isinstance(piece, AIMessageChunk):
        return piece
    if isinstance(piece, str):
        return AIMessageChunk(content=piece)
    return AIMessageChunk(**piece.model_dump(exclude={"type"}))


TokenCounter = Callable[[str], int]
"""Counts the tokens of a text for the model that will read it."""

LETTERS = re.compile(r"[A-Za-z\s]")
WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\U0003ffff]")  # Hangul, kana, Han, emoji


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text in a current model's vocabulary, without a tokenizer.

    A token is four Latin letters or spaces, two digits, punctuation marks, or characters of other
    alphabets, or one Korean, Japanese, or Chinese character. Compared with o200k_base, this is
    17% to 26% too high for English, Korean, and Japanese articles, so budgets err on the safe side.
    Older vocabularies need more tokens: cl100k_base a third more for Korean.
    """
    letters = len(LETTERS.findall(text))
    wide = len(WIDE.findall(text))
    return math.ceil(letters / 4 + (len(text) - letters - wide) / 2 + wide)


def fit_history(
    history: History, max_tokens: int | None, count: TokenCounter = estimate_tokens
) -> list[HistoryEntry]:
    """The newest whole turns that take at most `max_tokens` when rendered, oldest first.

    The oldest turns are dropped first. If the last turn alone is too long, nothing remains.
    """
    if max_tokens is None:
        return list(history)
    fitting: list[HistoryEntry] = []
    for turn in reversed(turns(history)):
        if count(render_history([*turn, *fitting])) > max_tokens:
            break
        fitting = [*turn, *fitting]
    return fitting


def fit_documents(
    documents: Sequence[Document], max_tokens: int | None, count: TokenCounter = estimate_tokens
) -> list[Document]:
    """The leading documents whose texts together take at most `max_tokens`.

    The last documents, which are the worst, are dropped first, and possibly all of them. Titles
    and the text of the prompt do not count.
    """
    if max_tokens is None:
        return list(documents)
    totals = accumulate(count(document.page_content) for document in documents)
    return [
        document for document, total in zip(documents, totals, strict=True) if total <= max_tokens
    ]
