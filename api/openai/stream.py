"""An answer in pieces, as OpenAI's clients read them: server-sent events without names."""

import json
import logging
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from api.openai.completions import (
    Evidence,
    FinishReason,
    Usage,
    annotations_of,
    finish_reason_of,
    sources_of,
    usage_of,
)
from api.openai.errors import UNEXPECTED, body_of
from domain import StepState, Turn
from services.events import Answered, Condensing, Event, Found, Searching, Stepped, Written

_log = logging.getLogger("footnote.api")


@dataclass
class ChunkStream:
    """Turns the events of an answer into chunks; `content` is what was sent of it until now."""

    id: str
    created: int
    model: str
    with_usage: bool
    content: str = field(default="", init=False)

    def lines(self, events: Generator[Event, None, None]) -> Generator[bytes, None, None]:
        """The lines that go over the wire, the role first and `[DONE]` last.

        What fails before the answer's first word is raised before the first line: it can still
        become an HTTP status. Later it is told in an event of its own, and nothing comes after it.
        """
        with closing(events):
            waited = _until_first_word(events)
            yield self._line({"role": "assistant", "content": ""})
            try:
                for event in chain(waited, events):
                    yield from self._told(event)
            except Exception as error:  # noqa: BLE001  # whatever it is, the client waits for an end
                told = body_of(error)
                if told.error.code == UNEXPECTED:
                    _log.error("An answer broke off", exc_info=error)
                yield _event(told.model_dump())
                return
            yield b"data: [DONE]\n\n"

    def _told(self, event: Event) -> Iterator[bytes]:
        if isinstance(event, Written):
            yield self._written(event.text)
        elif isinstance(event, Stepped) and event.step.state is StepState.RUNNING:
            # What an agent says before a step is no part of its answer, and can't be taken back.
            if self.content and not self.content.endswith("\n\n"):
                yield self._written("\n\n")
        elif isinstance(event, Answered):
            yield from self._end(event.turn)

    def _end(self, turn: Turn) -> Iterator[bytes]:
        annotations = annotations_of(turn, self.content)
        if sources := sources_of(turn):
            yield self._written(sources)
        last = {
            "annotations": [one.model_dump() for one in annotations],
            "footnote": Evidence.model_validate(turn).model_dump(mode="json"),
        }
        yield self._line(last, finish_reason_of(turn))
        if self.with_usage:
            yield _event(self._chunk([], usage_of(turn)))

    def _written(self, text: str) -> bytes:
        self.content += text
        return self._line({"content": text})

    def _line(self, delta: dict[str, Any], finish_reason: FinishReason | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event(self._chunk([choice]))

    def _chunk(self, choices: list[dict[str, Any]], usage: Usage | None = None) -> dict[str, Any]:
        chunk = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }
        told = {"usage": usage.model_dump() if usage else None} if self.with_usage else {}
        return chunk | told


STREAMED = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "properties": {
                "data": {
                    "type": "string",
                    "description": "A `chat.completion.chunk` of OpenAI's protocol. The one with "
                    "the finish_reason has, in its delta, `annotations` and `footnote` as the "
                    "message of a whole answer has them. The last event is `[DONE]`; an error in "
                    "mid-stream comes as an OpenAIError, and nothing after it.",
                }
            },
            "required": ["data"],
        }
    }
}
"""How the events of an answer with `stream` are described."""


def _until_first_word(events: Iterator[Event]) -> list[Event]:
    """The events up to the first that the client is told of."""
    waited: list[Event] = []
    for event in events:
        waited.append(event)
        if not isinstance(event, Condensing | Searching | Found):
            break
    return waited


def _event(value: Any) -> bytes:
    # Escaped, or some clients take a character such as U+2028 for the end of the line.
    return f"data: {json.dumps(value)}\n\n".encode("ascii")
