"""What happens while a question is answered, in this order; light, for the faces to import."""

from dataclasses import dataclass

from domain import Source, Turn


@dataclass(frozen=True, slots=True)
class Started:
    """The question is stored; the turn names its conversation."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Searching:
    """The standalone question that is searched for."""

    question: str


@dataclass(frozen=True, slots=True)
class Found:
    """The passages put before the answerer, numbered from 1."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of the answer as it is shown: markers are plain [n]."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event: the turn as it was stored, its citations checked."""

    turn: Turn


Event = Started | Searching | Found | Written | Answered
