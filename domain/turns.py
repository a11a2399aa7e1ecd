"""Conversations, their turns, and the evidence of their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from domain.search_values import Explanation, SearchChoice

EXTRACTIVE = "built-in extractive answerer"
"""The answerer's label if there is no chat model."""

LENGTH_LIMIT = "length"
"""`finish_reason` of a message that reached the maximum length."""
TIME_LIMIT = "time_limit"
"""`finish_reason` of a message that ran out of time."""
REPETITION = "repetition"
"""`finish_reason` of a message that was stopped because it kept repeating itself."""
CONTENT_FILTER = "content_filter"
"""`finish_reason` of a message that the server's content filter ended."""
CUT_SHORT_REASONS = frozenset((LENGTH_LIMIT, TIME_LIMIT, REPETITION, CONTENT_FILTER))
NO_TEXT = "no_text"
"""`finish_reason` of an answer without text."""
ONLY_TOOL_CALLS = "only_tool_calls"
"""`finish_reason` of an answer without text that calls tools, although it was offered none."""


class Answerer(NamedTuple):
    """The current answerer of questions.

    `label` is shown with its answers; `notice`, if not empty, explains why it was selected.
    """

    label: str
    notice: str = ""


class CitationState(StrEnum):
    """The result of checking a citation against the stored document.

    `verified`: the document contains the quoted words, whether or not they answer the question.
    `not found`: it does not contain them, or no sentence supports a citation without a quote.
    `no such source`: no retrieved passage has that number.
    `not verified here`: it was imported as verified, but this library does not contain the words.
    """

    VERIFIED = "verified"
    NOT_FOUND = "not found"
    NO_SUCH_SOURCE = "no such source"
    NOT_VERIFIED = "not verified here"


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered pointer from an answer to a passage, with its verification status.

    It contains its evidence, so it remains valid when the document changes. `start` and `end` are
    the quote's span in the document's text at that time, -1 if the quote was not found.
    `quoted_by_answer` is False if the answer contained only the number and the program found the
    supporting sentence.
    """

    n: int
    state: CitationState
    quote: str
    title: str = ""
    location: str = ""
    document_id: str = ""
    passage_id: str = ""
    version: str = ""
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    passage_text: str = ""
    quoted_by_answer: bool = True


class FoundPassage(NamedTuple):
    """The id of a passage that was found, and its span in the document's text."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage that was given to the answerer, numbered from 1.

    `start` is its position in the document's text. `why` explains how it was found; it is None in
    old turns and for retrievers without explanations. If the passage was merged with its neighbors,
    `hits` are the passages within it that were found, best first; otherwise it is its own hit.
    `format` is that of its document, such as pdf; "" in old turns.
    """

    n: int
    passage_id: str
    document_id: str
    title: str
    location: str
    text: str
    version: str = ""
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    score: float | None = None
    start: int = 0
    why: Explanation | None = None
    hits: tuple[FoundPassage, ...] = ()
    format: str = ""

    @property
    def name(self) -> str:
        """The display name of its document."""
        return self.title or self.location

    @property
    def found(self) -> tuple[FoundPassage, ...]:
        """The passages found in it, best first."""
        end = self.start + len(self.text)
        return self.hits or (FoundPassage(self.passage_id, self.start, end),)


class StepState(StrEnum):
    """The state of an agent step."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call of the agent and its result.

    `n` counts the steps of a turn from 1. `result` is the text that the agent read, shortened if it
    is long, and "" while the tool runs; `sources` are the numbers of the passages in it. `said` is
    the agent's text before the call, which is not part of the answer.
    """

    n: int
    tool: str
    arguments: Mapping[str, Any]
    state: StepState = StepState.RUNNING
    result: str = ""
    sources: tuple[int, ...] = ()
    said: str = ""
    milliseconds: float = 0.0


class TurnState(StrEnum):
    """The state of a turn; a killed process leaves it `running`."""

    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question with its answer and evidence, and everything needed to repeat it.

    `parent_id` is the previous turn, None for the first. Turns with the same parent are versions of
    each other: repeated, reworded, or with another standalone question. With `standalone_given`, a
    person wrote the standalone question. `search` contains the search options with defaults filled
    in. `steps` are the agent's steps, if an agent answered.
    """

    id: str
    conversation_id: str
    question: str
    state: TurnState
    created_at: datetime
    standalone_question: str = ""
    standalone_given: bool = False
    answer: str = ""
    """Markdown: an unescaped `[n]` outside code is a marker; document brackets are escaped."""
    error: str = ""
    model: str = ""
    sources: tuple[RetrievedPassage, ...] = ()
    citations: tuple[Citation, ...] = ()
    unsupported_sentences: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    parent_id: str | None = None
    search: SearchChoice = field(default_factory=SearchChoice)
    steps: tuple[Step, ...] = ()
    reasoning: str = ""
    """What a model wrote before its answer to reach it; not part of the answer, and not checked."""
    basis: tuple[str, ...] = ()
    """Ids of the documents and sources of which it may tell: those of its evidence (as soon as it
    has ended), of its history, of sources that a tool listed, and of example questions."""

    @property
    def used(self) -> frozenset[str]:
        """The ids of all documents and sources of which the turn may tell."""
        cited = (one.document_id for one in self.citations)
        found = (one.document_id for one in self.sources)
        return frozenset((*self.basis, *cited, *found)) - {""}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A tree of turns, owned by one user.

    `shown_turn_id` is the last turn of the visible branch, "" before the first turn. `search` has
    the options for the next question. `deleted_at` is set if the conversation was deleted but can
    still be restored.
    """

    id: str
    user_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    shown_turn_id: str = ""
    search: SearchChoice = field(default_factory=SearchChoice)
    deleted_at: datetime | None = None
