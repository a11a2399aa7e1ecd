"""The program of a reader process: reads the documents that its parent sends.

    python -P loaders/reader_main.py

Requests come on standard input, and replies go to standard output (`loaders/reader_frames.py`).
When standard input closes, because the parent closed it or died, the process ends at once.
"""

import logging
import os
import queue
import shutil
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Any, cast

from domain.child_processes import (
    forbid_core_files,
    limit_memory,
    limit_processor_time,
    peak_memory,
)
from domain.errors import UnreadableError
from domain.messages import _, to_json
from loaders.formats import ocr, read_file
from loaders.reader_frames import read_frame, write_frame

_WORN_OUT_BYTES = 256 * 2**20
"""A process that once took this much memory may not return it to the system, and is replaced."""
_NEAR_LIMIT = 0.7  # of the memory

Arguments = Mapping[str, Any]
Header = dict[str, Any]
Result = tuple[Any, bytes]


class TextTooLongError(Exception):
    """The text of a document exceeds the limit."""


class ParentPipes:
    """The pipes to the parent. A thread of its own notices when the parent has gone."""

    def __init__(self, requests: IO[bytes], replies: IO[bytes]) -> None:
        self._requests = requests
        self._replies = replies
        self._frames: queue.Queue[tuple[Header, bytes]] = queue.Queue()
        threading.Thread(target=self._receive, daemon=True).start()

    def next_frame(self) -> tuple[Header, bytes]:
        """Wait for the next frame from the parent."""
        return self._frames.get()

    def send(self, header: Header, body: bytes = b"") -> None:
        """Send a frame to the parent."""
        write_frame(self._replies, header, body)

    def ask(self, method: str, *arguments: Any) -> str:
        """Ask the parent, and return its answer."""
        self.send({"question": [method, arguments]})
        return str(self.next_frame()[0]["answer"])

    def _receive(self) -> None:
        try:
            while True:
                self._frames.put(read_frame(self._requests))
        except EOFError:
            shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
        finally:
            os._exit(0)


class ParentLinks:
    """`loaders.confluence.storage_format.Links` that the parent resolves."""

    def __init__(self, pipes: ParentPipes) -> None:
        self._pipes = pipes

    def __getattr__(self, method: str) -> Callable[..., str]:
        return partial(self._pipes.ask, method)


def _read_file(arguments: Arguments, body: bytes, max_chars: int, _pipes: ParentPipes) -> Result:
    text, metadata = read_file(arguments["name"], body)
    return to_json(metadata), _encoded(text, max_chars)


def _read_storage(_unused: Arguments, body: bytes, max_chars: int, pipes: ParentPipes) -> Result:
    from loaders.confluence.storage_format import Links, to_markdown

    text = to_markdown(body.decode("utf-8", "surrogatepass"), cast("Links", ParentLinks(pipes)))
    return None, _encoded(text, max_chars)


def _draw_page(arguments: Arguments, body: bytes, _chars: int, _pipes: ParentPipes) -> Result:
    from loaders.formats.pdf import page_png

    return None, page_png(body, arguments["page"], arguments["quotes"])


OPERATIONS = {"read_file": _read_file, "read_storage": _read_storage, "draw_page": _draw_page}


def _encoded(text: str, max_chars: int) -> bytes:
    if len(text) > max_chars:
        raise TextTooLongError
    return text.encode("utf-8", "surrogatepass")


def _reply(header: Header, body: bytes, pipes: ParentPipes) -> tuple[Header, bytes]:
    ocr.configure(header["languages"])
    operation = OPERATIONS[header["operation"]]
    limit_processor_time(header["processor_s"])
    limit_memory(header["memory_bytes"])
    try:
        result, data = operation(header["arguments"], body, header["max_chars"], pipes)
    except UnreadableError as error:
        if peak_memory() > _NEAR_LIMIT * header["memory_bytes"]:  # libraries fail in various ways
            return _excess("memory"), b""
        return _error_header(error), b""
    except MemoryError:
        return _excess("memory"), b""
    except TextTooLongError:
        return _excess("text"), b""
    # Boundary: third-party parsers raise any kind of exception.
    except Exception as error:  # noqa: BLE001
        reason = _(
            "it is damaged, or has an unusual form ({name}): save it again, and import it"
        ).format(name=type(error).__name__)
        return _error_header(UnreadableError(reason)), b""
    finally:
        limit_memory(None)
    return {"result": result, "is_last": _is_worn_out()}, data


def _is_worn_out() -> bool:
    return peak_memory() > _WORN_OUT_BYTES


def _excess(limit: str) -> Header:
    return {"exceeded": limit, "is_last": True}


def _error_header(error: UnreadableError) -> Header:
    return {
        "error": type(error).__name__,
        "message": to_json(str(error)),
        "is_os_error": isinstance(error.__cause__, OSError),
        "is_last": _is_worn_out(),
    }


def main() -> None:
    """Answer requests until the parent ends this process."""
    replies = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what libraries print is no reply
    logging.disable()
    forbid_core_files()
    pipes = ParentPipes(requests, replies)
    pipes.send({})  # ready
    while True:
        pipes.send(*_reply(*pipes.next_frame(), pipes))


if __name__ == "__main__":
    main()
