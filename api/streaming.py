"""Streams answers as events, whose schemas are here too.

Each answer runs in a thread and passes every event to the event loop immediately. The work is
synchronous. Each event wakes the loop once, without a thread switch per token.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Depends, Request, Response
from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from sse_starlette import EventSourceResponse
from starlette.types import Receive, Scope, Send

from api.authentication import AskCall, Call
from api.field_types import Schema
from api.problems import ClientDisconnectedError, Problem, ProblemError, problem_of_error
from domain.logs import get_logger

PING_S = 15
"""Seconds between pings of an idle stream; proxies close idle connections after about a minute."""

END_S = 3.0
"""Maximum seconds that an ending process waits for its streams to store their partial answers. A
stream that is waiting for a model can't be interrupted."""

_TOO_MANY = "This server has reached its limit of simultaneous answers: try again in a moment."
_log = get_logger("api")
T = TypeVar("T")
Read = TypeVar("Read")


class Stream(Generic[T]):
    """The items of a generator that runs in a thread, for one reader on the event loop.

    Errors of the generator are raised in its reader. After `close`, the generator is closed when it
    next yields.
    """

    def __init__(self) -> None:
        """Create a stream; call it on the event loop."""
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[T | None, BaseException | None]] = asyncio.Queue()
        self._closed = threading.Event()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        return _item_of(await self._items.get())

    async def batches(self) -> AsyncIterator[list[T]]:
        """Yield batches of all items that have arrived since the previous batch.

        A reader that falls behind can catch up, because the cost is per batch, not per item.
        """
        async for first in self:
            items = [first]
            try:
                while not self._items.empty():
                    items.append(_item_of(self._items.get_nowait()))
            except BaseException as error:  # noqa: BLE001  # raised in the next iteration
                self._items.put_nowait((None, error))
            yield items

    def close(self) -> None:
        """Stop reading; returns immediately and may be called more than once."""
        self._closed.set()

    def feed(self, begin: Callable[[], Generator[T, None, None]]) -> None:
        """Run the generator until it ends or the stream is closed; called in its thread."""
        try:
            with closing(begin()) as items:
                for item in items:
                    if not self._put(item):
                        return
            self._put(None, StopAsyncIteration())
        except BaseException as error:  # noqa: BLE001  # raised in the reader
            # Checked before `_put`: the reader may get the error and close before it returns.
            if self._closed.is_set():
                _log.warning("an answer whose client had disconnected failed: %s", error)
            self._put(None, error)

    def _put(self, item: T | None, error: BaseException | None = None) -> bool:
        """Pass an item or an error to the reader; returns False if the stream is closed."""
        if self._closed.is_set():
            return False
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, (item, error))
        except RuntimeError:  # the loop has ended, and the process will end soon
            self.close()
        return not self._closed.is_set()


class Streams:
    """Runs up to `limit` streams at once; each occupies a thread until its generator ends."""

    def __init__(self, limit: int) -> None:
        self._free = threading.BoundedSemaphore(limit)
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="answer")
        self._running: set[Future[None]] = set()

    def start(self, begin: Callable[[], Generator[T, None, None]]) -> Stream[T]:
        """Run the generator in a thread; call this on the event loop.

        Args:
            begin: Makes the generator; called in that thread.

        Raises:
            ProblemError: 503: all threads are busy, and nothing was started.
        """
        if not self._free.acquire(blocking=False):
            raise ProblemError(503, _TOO_MANY)
        stream: Stream[T] = Stream()
        try:
            future = self._threads.submit(copy_context().run, stream.feed, begin)
        except BaseException:
            self._free.release()
            raise
        self._running.add(future)
        future.add_done_callback(self._release)
        return stream

    def wait_until_ended(self) -> None:
        """Wait until all generators have ended, but at most `END_S` seconds."""
        wait(set(self._running), END_S)

    def _release(self, ended: Future[None]) -> None:
        self._running.discard(ended)
        self._free.release()


class EventStream(EventSourceResponse):
    """A response of server-sent events that always closes its stream."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], stream: Stream[Any]) -> None:
        super().__init__(events, ping=PING_S)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client disconnects."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


async def _while_connected(awaited: Awaitable[Read], stream: Stream[Any], request: Request) -> Read:
    """What is awaited; closes the stream if that fails or the client disconnects first."""
    reading = asyncio.ensure_future(awaited)
    disconnection = asyncio.ensure_future(_until_disconnected(request))
    try:
        await asyncio.wait((reading, disconnection), return_when=asyncio.FIRST_COMPLETED)
        return _result_of(reading)
    except BaseException:
        stream.close()
        raise
    finally:
        reading.cancel()
        disconnection.cancel()


def _result_of(reading: asyncio.Future[Read]) -> Read:
    if not reading.done():
        raise ClientDisconnectedError
    return reading.result()


def _item_of(result: tuple[T | None, BaseException | None]) -> T:
    item, error = result
    if error is not None:
        raise error
    return item  # type: ignore[return-value]  # None only if T allows it


async def _all_of(stream: Stream[T]) -> list[T]:
    return [item async for item in stream]


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Characters that some clients treat as line ends, and that JSON does not escape."""


async def _event_bytes(
    first: T, stream: Stream[T], encode: Callable[[T], bytes]
) -> AsyncIterator[bytes]:
    """The encoded events of a stream, beginning with `first`, which was already read.

    An error becomes the last event, because the status has already been sent.
    """
    yield encode(first)
    try:
        async for batch in stream.batches():
            yield b"".join(map(encode, batch))
    except Exception as error:  # noqa: BLE001  # the client waits for a last event
        yield error_event(error)


@dataclass(frozen=True, slots=True)
class AnswerCall(Call):
    """A call of an operation that answers in a thread while the client is connected."""

    _streams: Streams
    _request: Request

    async def read(self, begin: Callable[[], Generator[T, None, None]]) -> list[T]:
        """All items of the generator, which is closed if the client disconnects.

        Args:
            begin: Makes the generator; called in its thread.

        Raises:
            ClientDisconnectedError: The client disconnected first.
            ProblemError: 503: too many streams are running.
        """
        stream = self._streams.start(begin)
        return await _while_connected(_all_of(stream), stream, self._request)

    async def stream(
        self, begin: Callable[[], Generator[T, None, None]], encode: Callable[[T], bytes]
    ) -> Response:
        """The items of the generator as server-sent events.

        Errors before the first one are raised, as in `read`; a later one becomes the last event.
        """
        stream = self._streams.start(begin)
        first = await _while_connected(anext(stream), stream, self._request)
        return EventStream(_event_bytes(first, stream, encode), stream)


async def _answer_call(call: AskCall, request: Request) -> AnswerCall:
    return AnswerCall(call.services, call.principal, request.app.state.streams, request)


Answering = Annotated[AnswerCall, Depends(_answer_call)]
"""The call of an operation that requires the scope `ask`, as its argument."""


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Created once, because `json.dumps` with options creates an encoder for every call."""


def json_event(name: str, data: Any) -> bytes:
    """An encoded event, with its data as JSON on one line."""
    return encoded_event(name, _JSON.encode(data))


def encoded_event(name: str, data: str) -> bytes:
    """An encoded event, whose data is already JSON on one line."""
    return f"event: {name}\r\ndata: {data.translate(_LINE_ENDS)}\r\n\r\n".encode()


def error_event(error: Exception) -> bytes:
    """The event for an error that occurs after the status has been sent."""
    problem = problem_of_error(error)
    if problem.status == 500:
        _log.error("a streamed response failed", exc_info=error)
    return json_event("error", problem.model_dump())


@dataclass(frozen=True)
class JsonOf:
    """Describes a string as JSON of that type, for the data of an event."""

    type: Any

    def __get_pydantic_json_schema__(
        self, _schema: object, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the string."""
        content = handler(TypeAdapter(self.type).core_schema)
        kind = {"type": "string", "contentMediaType": "application/json"}
        return {**kind, "contentSchema": content}


Name = TypeVar("Name")
EventName = Annotated[Name, Field(description="Name of the event")]
"""The field `event` of an event of a stream."""


class ErrorEvent(Schema):
    """The last event after a failure."""

    event: EventName[Literal["error"]]
    data: Annotated[str, JsonOf(Problem)]
    """What went wrong"""


def stream_responses(schema: str, example: str) -> dict[int | str, dict[str, Any]]:
    """The responses of an operation that streams the events of that schema."""
    return {
        200: {
            "description": "Events in the order of the schema. Lines that begin with a colon keep "
            "the connection alive.",
            "content": {
                "text/event-stream": {
                    "schema": {"$ref": f"#/components/schemas/{schema}"},
                    "example": example,
                }
            },
        }
    }
