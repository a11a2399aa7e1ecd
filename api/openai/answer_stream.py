"""Converts the events of an answer to the lines of a stream in one of OpenAI's protocols."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from api.openai.openai_answers import Annotation, annotations_of, sources_of
from api.openai.openai_error_responses import UNEXPECTED, ErrorBody, body_of
from domain import StepState
from domain.logs import get_logger
from services.events import (
    Condensing,
    Event,
    PassagesRetrieved,
    ReasoningDelta,
    Searching,
    StepUpdated,
    TextDelta,
    TurnFinished,
)

_log = get_logger("api")


@dataclass
class AnswerStream(ABC):
    """The lines of one answer; subclasses encode them. `content` is the text sent so far."""

    id: str
    created: int
    model: str
    content: str = field(default="", init=False)

    @abstractmethod
    def begin(self) -> Iterator[bytes]:
        """The lines before the text."""

    @abstractmethod
    def text(self, piece: str) -> bytes:
        """The lines with a piece of the text."""

    @abstractmethod
    def end(self, end: TurnFinished, annotations: list[Annotation]) -> Iterator[bytes]:
        """The lines after the text."""

    @abstractmethod
    def failure(self, error: ErrorBody) -> bytes:
        """The last lines of an answer that fails after it has begun."""

    def lines(
        self, begin: Callable[[], Generator[Event, None, None]]
    ) -> Generator[bytes, None, None]:
        """The lines to send for the events of the generator that `begin` makes.

        An error before the first text or reasoning of the model is raised before the first line, so
        that it can still become an HTTP status. A later error becomes the last event.
        """
        with closing(begin()) as events:
            waited = _until_first_word(events)
            yield from self.begin()
            try:
                for event in chain(waited, events):
                    yield from self._event_lines(event)
            except Exception as error:  # noqa: BLE001  # the client waits for an end in any case
                body = body_of(error).error
                if body.code == UNEXPECTED:
                    _log.error("An answer broke off", exc_info=error)
                yield self.failure(body)

    def _event_lines(self, event: Event) -> Iterator[bytes]:
        if isinstance(event, TextDelta):
            yield self._add(event.text)
        elif isinstance(event, ReasoningDelta):
            # A comment keeps the connection alive, and fails if the client has disconnected.
            yield b": reasoning\n\n"
        elif isinstance(event, StepUpdated) and event.step.state is StepState.RUNNING:
            # Text of an agent before a step is not part of its answer, but has been sent already.
            if self.content and not self.content.endswith("\n\n"):
                yield self._add("\n\n")
        elif isinstance(event, TurnFinished):
            annotations = annotations_of(event, self.content)
            if sources := sources_of(event):
                yield self._add(sources)
            yield from self.end(event, annotations)

    def _add(self, piece: str) -> bytes:
        self.content += piece
        return self.text(piece)


def _until_first_word(events: Iterator[Event]) -> list[Event]:
    """The events up to the first one that the client receives."""
    waited: list[Event] = []
    for event in events:
        waited.append(event)
        if not isinstance(event, Condensing | Searching | PassagesRetrieved):
            break
    return waited


def encoded(data: Any, name: str = "") -> bytes:
    """The lines of an event; it has no name by default."""
    field_of_name = f"event: {name}\n" if name else ""
    # Escaped, because some clients treat characters such as U+2028 as line ends.
    return f"{field_of_name}data: {json.dumps(data)}\n\n".encode("ascii")
