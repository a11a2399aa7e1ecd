"""A generator at work in a thread of its own, which whoever reads it may leave at any moment."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

from langchain_core.callbacks import BaseCallbackHandler

T = TypeVar("T")

THREAD = "agent"
LEAVING_S = 1.0
"""How long leaving waits for the work to end, seconds; it ends by itself where it takes longer."""


class ReaderLeft(BaseException):  # like GeneratorExit, it is no error
    """Nobody reads any more. No `except Exception` on its way may hold it up."""


class Leaving(BaseCallbackHandler):
    """Ends the run that it watches, at the next piece of a model, once the reader has left."""

    raise_error = True
    run_inline = True

    def __init__(self) -> None:
        self._left = threading.Event()

    def leave(self) -> None:
        """Let the run end."""
        self._left.set()

    def require_reader(self) -> None:
        """Raises ReaderLeft where nobody reads any more."""
        if self._left.is_set():
            raise ReaderLeft

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Ask no model any more."""
        self.require_reader()

    def on_llm_new_token(self, *_: Any, **__: Any) -> None:
        """Close the stream of a model that writes."""
        self.require_reader()


def read_from_background(make: Callable[[Leaving], Iterator[T]]) -> Generator[T, None, None]:
    """What `make` gives, made in a thread of its own; closing this ends it.

    A graph that streams waits for its models when it is closed. Here their streams are closed
    instead: `make` hands the `Leaving` to them as a callback.
    """
    leaving = Leaving()
    made: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    thread = threading.Thread(
        target=copy_context().run, args=(_work, make, leaving, made), name=THREAD, daemon=True
    )
    thread.start()
    try:
        while (kind_and_item := made.get())[0] == "item":
            yield kind_and_item[1]
    finally:
        leaving.leave()
        thread.join(LEAVING_S)
    if kind_and_item[0] == "error":
        raise kind_and_item[1]


def _work(
    make: Callable[[Leaving], Iterator[T]], leaving: Leaving, made: "SimpleQueue[tuple[str, Any]]"
) -> None:
    try:
        for item in make(leaving):
            made.put(("item", item))
            leaving.require_reader()
    except BaseException as error:  # noqa: BLE001  # it is raised where the items are read
        made.put(("error", error))
    else:
        made.put(("end", None))
