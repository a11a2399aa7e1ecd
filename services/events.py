"""What happens while a question is answered, in this order; light, for the faces to import.

An agent goes through `Stepped` and `Found` several times.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from domain import Source, Step, Turn


@dataclass(frozen=True, slots=True)
class Started:
    """The question is stored; the turn names its conversation."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Condensing:
    """The chat model has written more of the standalone question; comes any number of times."""


@dataclass(frozen=True, slots=True)
class Searching:
    """The standalone question that is searched for."""

    question: str


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step of the agent begins, and comes again once it is done.

    What was written before a step that begins was no part of the answer: `step.said` has it.
    """

    step: Step


@dataclass(frozen=True, slots=True)
class Found:
    """All passages put before the answerer so far, numbered from 1."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of the answer's Markdown: markers are plain [n], documents' brackets escaped."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event: the turn as it was stored, its citations checked."""

    turn: Turn


Event = Started | Condensing | Searching | Stepped | Found | Written | Answered


def turn_of(events: Iterable[Event]) -> Turn:
    """The turn that an answer ended with.

    Args:
        events: All of it; what goes wrong on the way is raised as it comes.
    """
    *_, last = events
    if not isinstance(last, Answered):
        raise TypeError(f"what does not raise ends with Answered, not {last}")
    return last.turn
