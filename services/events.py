"""The events of an answer, in order. The module imports quickly, for the interfaces.

An agent emits `StepUpdated` and `PassagesRetrieved` several times. If the prompt was too long for
the model, a second `PassagesRetrieved` has only the passages that it got. `CitationVerified`
follows the `TextDelta` that completes its marker, or for a citation without a quote, the last
`TextDelta`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain import Citation, RetrievedPassage, Step, Turn

if TYPE_CHECKING:
    from langchain_core.messages import ToolCallChunk


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The question is stored; the turn contains the id of its conversation."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Condensing:
    """The chat model wrote more of the standalone question; sent zero or more times."""


@dataclass(frozen=True, slots=True)
class Searching:
    """The search for this standalone question starts."""

    question: str


@dataclass(frozen=True, slots=True)
class StepUpdated:
    """A step of the agent started or ended.

    The text before the start of a step is not part of the answer; it moves to `step.said`, without
    its citations.
    """

    step: Step


@dataclass(frozen=True, slots=True)
class PassagesRetrieved:
    """All passages given to the answerer so far, numbered from 1."""

    sources: tuple[RetrievedPassage, ...]


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's reasoning, as plain text; it is not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's Markdown; markers are plain [n], brackets from documents are escaped."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationVerified:
    """A citation of the text so far was found in its document; the finished turn has it too.

    `marker` is the index of its [n] among those of the answer, counted from 0.
    """

    citation: Citation
    marker: int


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The last event: the stored turn with its verified citations."""

    turn: Turn
    tool_calls: "tuple[ToolCallChunk, ...]" = ()
    """Calls of the caller's tools, each with a unique id; `args` is what the model wrote."""
    is_json: bool = False
    """Whether the answer is JSON as the model wrote it, to which nothing may be added."""


Event = (
    TurnStarted
    | Condensing
    | Searching
    | StepUpdated
    | PassagesRetrieved
    | ReasoningDelta
    | TextDelta
    | CitationVerified
    | TurnFinished
)
