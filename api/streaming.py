"""Answers as they are written: a thread for each, its events on the event loop, each at once.

The work is synchronous, and its every event wakes the loop once: no thread is borrowed for a token.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Request, Response
from sse_starlette import EventSourceResponse
from starlette.types import Receive, Scope, Send

from api.problems import ProblemError

PING_S = 15
"""So often a silent stream is kept alive: proxies cut connections after a minute or so."""

END_S = 3.0
"""So long a process that ends waits for what its streams still have to keep; none can be made to
end while it waits for a model."""

GONE = Response(status_code=499)
"""To a client that did not wait, as servers log it; nobody reads it."""

_TOO_MANY = "All the answers that this server writes at once are taken: try again in a moment."
_log = logging.getLogger("footnote.api")
T = TypeVar("T")
Read = TypeVar("Read")


class Stream(Generic[T]):
    """The items of a generator that runs in a thread, for one reader on the event loop.

    What the generator raises, its reader gets. Once closed, the generator is closed as soon as it
    yields the next time.
    """

    def __init__(self) -> None:
        """To be called on the event loop."""
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[T | None, BaseException | None]] = asyncio.Queue()
        self._closed = threading.Event()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        return _read(await self._items.get())

    async def together(self) -> AsyncIterator[list[T]]:
        """Its items, with each first one those that have come already.

        A loop that is behind so catches up: what costs it is to send, not how much it sends.
        """
        async for first in self:
            items = [first]
            try:
                while not self._items.empty():
                    items.append(_read(self._items.get_nowait()))
            except BaseException as error:  # noqa: BLE001  # of the next time
                self._items.put_nowait((None, error))
            yield items

    def close(self) -> None:
        """Read no more of it. Does not wait, and may be called again."""
        self._closed.set()

    def feed(self, begin: Callable[[], Generator[T, None, None]]) -> None:
        """Run the generator to its end, or until nobody reads it any more; for its thread."""
        try:
            with closing(begin()) as items:
                for item in items:
                    if not self._put(item):
                        return
            self._put(None, StopAsyncIteration())
        except BaseException as error:  # noqa: BLE001  # its reader gets it
            # Not told by `_put`: its reader may have got the error, and left, before that returns.
            if self._closed.is_set():
                _log.warning("An answer that nobody waited for any more failed: %s", error)
            self._put(None, error)

    def _put(self, item: T | None, error: BaseException | None = None) -> bool:
        """Hand it to the reader; whether there is one."""
        if self._closed.is_set():
            return False
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, (item, error))
        except RuntimeError:  # the loop has ended, and the process is about to
            self.close()
        return not self._closed.is_set()


class Streams:
    """As many streams at once as are told; each has a thread until its generator has ended."""

    def __init__(self, limit: int) -> None:
        self._free = threading.BoundedSemaphore(limit)
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="answer")
        self._going: set[Future[None]] = set()

    def start(self, begin: Callable[[], Generator[T, None, None]]) -> Stream[T]:
        """Run the generator in a thread; to be called on the event loop.

        Args:
            begin: Makes the generator; called in that thread.

        Raises:
            ProblemError: 503: all threads are taken; nothing was begun.
        """
        if not self._free.acquire(blocking=False):
            raise ProblemError(503, _TOO_MANY)
        stream: Stream[T] = Stream()
        try:
            done = self._threads.submit(stream.feed, begin)
        except BaseException:
            self._free.release()
            raise
        self._going.add(done)
        done.add_done_callback(self._end_of)
        return stream

    def wait_for_ends(self) -> None:
        """Wait until all generators have ended, for `END_S` seconds at most."""
        wait(set(self._going), END_S)

    def _end_of(self, ended: Future[None]) -> None:
        self._going.discard(ended)
        self._free.release()


async def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


OpenStreams = Annotated[Streams, Depends(_streams)]
"""The streams of the app, in an operation's arguments."""


class EventStream(EventSourceResponse):
    """Server-Sent Events; however it ends, the stream behind it is closed."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], stream: Stream[Any]) -> None:
        super().__init__(events, ping=PING_S)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until their end, or until the client has gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


async def read_unless_gone(stream: Stream[T], request: Request) -> list[T] | None:
    """All items of the stream; None where the client went away meanwhile, which closes it."""
    return await _unless_gone(_all_of(stream), stream, request)


async def next_unless_gone(stream: Stream[T], request: Request) -> T | None:
    """The next item of the stream; None where the client went away meanwhile, which closes it."""
    return await _unless_gone(anext(stream), stream, request)


async def _unless_gone(
    awaited: Awaitable[Read], stream: Stream[Any], request: Request
) -> Read | None:
    reading = asyncio.ensure_future(awaited)
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait((reading, gone), return_when=asyncio.FIRST_COMPLETED)
        read = reading.result() if reading.done() else None
    except BaseException:
        stream.close()
        raise
    else:
        if read is None:
            stream.close()
        return read
    finally:
        reading.cancel()
        gone.cancel()


def _read(came: tuple[T | None, BaseException | None]) -> T:
    item, error = came
    if error is not None:
        raise error
    return item  # type: ignore[return-value]  # None only where T allows it


async def _all_of(stream: Stream[T]) -> list[T]:
    return [item async for item in stream]


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
