"""Conversations, their turns, and what was proven in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from domain.search import Explanation, SearchChoice

EXTRACTIVE = "built-in extractive answerer"
"""What answers are signed with where no chat model is set."""

LENGTH_LIMIT = "length"
"""`finish_reason` of a model's message that ended at the greatest length it may have."""
TIME_LIMIT = "time_limit"
"""`finish_reason` of a model's message whose time was over before it was complete."""
REPETITION = "repetition"
"""`finish_reason` of a model's message that was ended because it repeated itself without end."""
CUT_SHORT_REASONS = frozenset((LENGTH_LIMIT, TIME_LIMIT, REPETITION))


class Answerer(NamedTuple):
    """What answers questions now.

    `label` is what its answers are signed with; `notice` is what a person should know about how it
    was chosen, "" where there is nothing to say.
    """

    label: str
    notice: str = ""


class CitationState(StrEnum):
    """What checking a citation against the stored document found.

    `verified`: the quoted words stand in the document; whether they answer the question was not
    judged. `not found`: the document does not hold them, or no sentence of it supports the
    number. `no such source`: no source has that number.
    """

    VERIFIED = "verified"
    NOT_FOUND = "not found"
    NO_SUCH_SOURCE = "no such source"


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered pointer from an answer to a passage, and what became of checking it.

    It holds its own evidence, so that it still shows when the document changes or goes.
    `start` and `end` are the quote's span in the document's text as it was then, -1 where
    the quote was not found. `quoted_by_answer` is False where the answer gave only the
    number and the program looked for the supporting sentence itself.
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
    """A passage that was found, by its id and its span in the document's text."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage that was put before the answerer; numbers count from 1.

    `start` is where it begins in the document's text, as the spans of citations count; `why` it
    was found is None for turns of old and for retrievers that don't tell. `hits` are the passages
    that were found in a source widened by their neighbours, the best first; a source that was not
    widened is itself the one passage.
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

    @property
    def name(self) -> str:
        """What people call its document."""
        return self.title or self.location

    @property
    def found(self) -> tuple[FoundPassage, ...]:
        """The passages found in it, the best first."""
        end = self.start + len(self.text)
        return self.hits or (FoundPassage(self.passage_id, self.start, end),)


class StepState(StrEnum):
    """How a step of the agent stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """A tool that the agent called on its way to an answer, and what came back.

    `n` counts the steps of a turn from 1. `arguments` are what it asked the tool, `result` is what
    it read ("" while the tool is at work), shortened where it is long, `sources` are the numbers
    of the sources in it. `said` is what the agent wrote before it called: no part of the answer.
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
    """How a turn ended. `running` is also what a killed process leaves behind."""

    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what became of it, with everything needed to show and ask it again.

    `parent_id` is the turn it follows, None at the beginning. Turns with the same parent are
    versions of each other: asked again, reworded, or searched with another question. With
    `standalone_given` a person worded the standalone question. `search` is how it was searched,
    the settings' part filled in. `steps` are the agent's, none where it was not asked.
    """

    id: str
    conversation_id: str
    question: str
    state: TurnState
    created_at: datetime
    standalone_question: str = ""
    standalone_given: bool = False
    answer: str = ""
    """Markdown: an unescaped `[n]` outside of code cites, brackets of documents are escaped."""
    error: str = ""
    model: str = ""
    sources: tuple[Source, ...] = ()
    citations: tuple[Citation, ...] = ()
    unsupported_sentences: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    parent_id: str | None = None
    search: SearchChoice = field(default_factory=SearchChoice)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A tree of turns, owned by one user.

    `shown_turn_id` is the last turn of the branch that is shown, "" before the first. `search`
    is how its next question is searched; `deleted_at` is set while it can still be restored.
    """

    id: str
    user_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    shown_turn_id: str = ""
    search: SearchChoice = field(default_factory=SearchChoice)
    deleted_at: datetime | None = None
