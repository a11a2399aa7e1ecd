"""What was said before: messages or (human, ai) pairs, as the classic chain takes them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

if TYPE_CHECKING:  # slow, and not needed to read them
    from langchain_core.messages.content import Citation

Said = BaseMessage | tuple[str, str]
"""One entry of a chat history: a message, or a whole turn as (human, ai)."""

History = Sequence[Said]

LABELS = {"human": "Human", "ai": "Assistant"}


def render_history(history: History) -> str:
    """The history as prompts show it: a line per utterance, oldest first.

    Each line begins with a line feed, and messages without text are left out: both as the
    classic chain has it. An empty result means that there is nothing to condense with.
    """
    return "".join(f"\n{LABELS.get(role, role)}: {text}" for role, text in _lines(history))


def questions(history: History) -> list[str]:
    """What the person said, oldest first."""
    return [text for role, text in _lines(history) if role == "human"]


def last_citations(history: History) -> "list[Citation]":
    """What the last answer that cites anything cites.

    They are the LangChain annotations under `citations` in a message's `additional_kwargs`: the
    document's `title`, the `cited_text`, and in `extras` its `document_id` and the passage's
    `heading_path`. Pairs, and the messages of most callers, carry none.
    """
    for said in reversed(history):
        if isinstance(said, BaseMessage) and (cited := said.additional_kwargs.get("citations")):
            return list(cited)
    return []


def cited_headings(history: History) -> list[str]:
    """The title and the headings of the first of those citations, the outer ones first."""
    for citation in last_citations(history)[:1]:
        path = citation.get("extras", {}).get("heading_path", ())
        return [text for text in (citation.get("title", ""), *path) if text]
    return []


def turns(history: History) -> list[list[Said]]:
    """The entries grouped by turn: a pair is one, and so is a question with what follows it."""
    grouped: list[list[Said]] = []
    for said in history:
        if not grouped or isinstance(said, tuple) or said.type == "human":
            grouped.append([])
        grouped[-1].append(said)
    return grouped


def _lines(history: History) -> Iterator[tuple[str, str]]:
    for said in history:
        if isinstance(said, tuple):
            yield from zip(("human", "ai"), said, strict=True)
        elif not isinstance(said, BaseMessage):
            raise TypeError(f"a chat history holds messages or pairs, not {type(said).__name__}")
        elif text := str(said.text):
            yield said.type, text
