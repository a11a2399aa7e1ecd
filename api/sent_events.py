"""Server-Sent Events: how they are described, and how they go over the wire."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from api.problems import problem_of_error
from api.streaming import Stream

_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""What some clients take for the end of a line, and JSON leaves as it is."""

_log = logging.getLogger("footnote.api")
T = TypeVar("T")


def streamed(schema: str, example: str) -> dict[int | str, dict[str, Any]]:
    """The responses of an operation that streams the events of that schema."""
    return {
        200: {
            "description": "Events, in the order of the schema, which describes each. Lines that "
            "begin with a colon keep the connection alive.",
            "content": {
                "text/event-stream": {
                    # FastAPI takes any answer that is not JSON for a string.
                    "schema": {"type": "object", "$ref": f"#/components/schemas/{schema}"},
                    "example": example,
                }
            },
        }
    }


async def sent(first: T, stream: Stream[T], wire: Callable[[T], bytes]) -> AsyncIterator[bytes]:
    """The events of a stream, whose first one was read, as `wire` writes them.

    What goes wrong is told in the last one: the answer has begun, and its status is sent.
    """
    yield wire(first)
    try:
        async for together in stream.together():
            yield b"".join(map(wire, together))
    except Exception as error:  # noqa: BLE001  # whatever it is, the caller waits for an end
        yield failed(error)


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Made once: `json.dumps` makes one for each call that asks for another form than its own."""


def event(name: str, data: Any) -> bytes:
    """An event on the wire, its data as JSON on one line."""
    return named(name, _JSON.encode(data))


def named(name: str, data: str) -> bytes:
    """An event on the wire; the data is JSON on one line already."""
    return f"event: {name}\r\ndata: {data.translate(_LINE_ENDS)}\r\n\r\n".encode()


def failed(error: Exception) -> bytes:
    """The event that tells what went wrong, once it is too late for another status."""
    problem = problem_of_error(error)
    if problem.status == 500:
        _log.error("What was streamed failed", exc_info=error)
    return event("error", problem.model_dump())
