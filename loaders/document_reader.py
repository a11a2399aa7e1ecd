"""Reads documents of unknown origin in a child process with limits on time, memory, and output.

Everything that parses the bytes of a document in the product goes through this module. The child
runs `loaders/reader_main.py`. It is started with the first document, reads all further ones, and
ends when it has been idle, after a document that exceeded a limit, or when this process ends in any
way.
"""

import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, cast

from domain.child_processes import exit_reason, python_environment
from domain.errors import NothingToReadError, TemporarilyUnreadableError, UnreadableError
from domain.messages import _
from loaders.formats import ocr
from loaders.reader_frames import (
    InvalidFrameError,
    checked_metadata,
    message_of,
    read_frame,
    write_frame,
)

if TYPE_CHECKING:
    from langchain_core.documents import Document

_MIB = 2**20
_MAIN = Path(__file__).with_name("reader_main.py")
_START_S = 60.0
_IDLE_S = 30.0
_MAX_BYTES_PER_CHAR = 4
_PROCESSOR_TIME_EXCEEDED = -signal.SIGXCPU if hasattr(signal, "SIGXCPU") else None  # no Windows
_INVALID = _("invalid reply")
_BROKEN = (EOFError, OSError, InvalidFrameError, ValueError, TypeError, KeyError, RecursionError)
_ERRORS: Mapping[str, type[UnreadableError]] = {
    error.__name__: error
    for error in (UnreadableError, NothingToReadError, TemporarilyUnreadableError)
}

Answers = Callable[[str, list[Any]], str]
"""Answers a question of the child: the name of a method and its arguments."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may cost.

    `processor_s` does not count programs such as Tesseract, which have their own limits. It is
    twice what PDFs of thousands of pages need. `elapsed_s` leaves time for these programs (half an
    hour for text recognition) and on a busy machine; on Windows, it is the only limit. The memory
    includes the interpreter and its libraries.
    """

    processor_s: int = 120
    elapsed_s: float = 300.0 if sys.platform == "win32" else 3600.0
    memory_mib: int = 1024
    text_mib: int = 32

    def memory_bytes(self, file_bytes: int) -> int:
        """The memory for a file of this size: of plain text, there are several copies."""
        return max(self.memory_mib * _MIB, 12 * file_bytes)

    def text_chars(self, file_bytes: int) -> int:
        """The longest text of a file of this size: formats may compress text, or repeat it."""
        return max(self.text_mib * _MIB, 2 * file_bytes)

    def message(self, limit: str, file_bytes: int) -> str:
        """Why a document that exceeded this limit was not read, and what to do about it."""
        match limit:
            case "processor":
                return _(
                    "reading it took more than {seconds} s of processor time: split it, or save it"
                    " in another format"
                ).format(seconds=self.processor_s)
            case "elapsed":
                return _("reading it took longer than {minutes} minutes: split it").format(
                    minutes=f"{self.elapsed_s / 60:g}"
                )
            case "memory":
                return _(
                    "reading it took more than {memory} MiB of memory: split it, or save it in"
                    " another format"
                ).format(memory=self.memory_bytes(file_bytes) // _MIB)
        return _(
            "its text has more than {million} million characters, far more than the file: split"
            " it, or save it in another format"
        ).format(million=self.text_chars(file_bytes) // 1_000_000)


def size_problem(size: int, max_bytes: int) -> str | None:
    """The reason for skipping a file of this size, in bytes; None if it is not too large."""
    if size <= max_bytes:
        return None
    return _("{size} MiB exceeds the limit of {most} MiB: split the file").format(
        size=f"{size / 2**20:.1f}", most=f"{max_bytes / 2**20:.1f}"
    )


def over_limit(max_bytes: int) -> str:
    """The reason for ending the download of a file of unknown size."""
    return _("the file is larger than the limit of {limit} MiB: split it").format(
        limit=f"{max_bytes / 2**20:.1f}"
    )


@dataclass(eq=False, slots=True)
class ReaderProcess:
    """Runs the operations of `loaders/reader_main.py`, one at a time, for any number of threads."""

    _limits: Limits = field(default_factory=Limits)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _child: "_Child | None" = field(default=None, init=False)

    def call(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        body: bytes = b"",
        answers: Answers | None = None,
    ) -> tuple[Any, bytes]:
        """Run an operation in the child, and return its result, unchecked JSON and bytes.

        Raises:
            UnreadableError: The document can't be read; it exceeded a limit; or it made the child
                crash. The message gives the reason.
            TemporarilyUnreadableError: The child can't be started, or see the operation.
        """
        request = {"operation": operation, "arguments": arguments, **self._options(len(body))}
        with self._lock:
            child = self._running_child()
            try:
                header, reply = child.exchange(request, body, answers)
                error = self._error_of(header, len(body))
            except _BROKEN as broken:
                self._end()
                raise self._failure(child, broken, len(body)) from None
            except BaseException:  # the child would still read a document for which nobody waits
                self._end()
                raise
            if header.get("is_last"):
                self._end()
            if error:
                raise error
            return header.get("result"), reply

    def end(self) -> None:
        """End the child; the next call starts another one."""
        with self._lock:
            self._end()

    def invalid_reply(self) -> UnreadableError:
        """End the child, whose result was not valid, and return the error of the document."""
        self.end()
        return _crash(_INVALID)

    def _end(self) -> None:
        if self._child:
            self._child.end()
        self._child = None

    def _options(self, file_bytes: int) -> dict[str, Any]:
        return {
            "processor_s": self._limits.processor_s,
            "memory_bytes": self._limits.memory_bytes(file_bytes),
            "max_chars": self._limits.text_chars(file_bytes),
            "languages": ocr.configured(),
        }

    def _running_child(self) -> "_Child":
        if self._child and self._child.begin(self._limits.elapsed_s):
            return self._child
        self._end()
        try:
            self._child = _Child()
        except (*_BROKEN, subprocess.SubprocessError) as error:
            raise TemporarilyUnreadableError(
                _(
                    "the process that reads documents could not be started ({reason}): check the"
                    " free memory and disk space, and import again"
                ).format(reason=str(error) or type(error).__name__)
            ) from error
        self._child.begin(self._limits.elapsed_s)
        return self._child

    def _failure(self, child: "_Child", broken: Exception, file_bytes: int) -> UnreadableError:
        """Why the child did not return a valid reply; it has ended by now."""
        if child.is_overdue:
            return UnreadableError(self._limits.message("elapsed", file_bytes))
        if child.exit_code == _PROCESSOR_TIME_EXCEEDED:
            return UnreadableError(self._limits.message("processor", file_bytes))
        if child.exit_code == -signal.SIGTERM:  # a service is stopped, with all of its processes
            return TemporarilyUnreadableError(
                _("the process that reads it was stopped: the next import reads the document again")
            )
        has_ended = isinstance(broken, EOFError | OSError)
        return _crash(exit_reason(child.exit_code or 0) if has_ended else _INVALID)

    def _error_of(self, header: Mapping[str, Any], file_bytes: int) -> UnreadableError | None:
        """The error in a reply; its cause is an OSError if the original's was."""
        if limit := header.get("exceeded"):
            return UnreadableError(self._limits.message(limit, file_bytes))
        if "error" not in header:
            return None
        error = _ERRORS[header["error"]](message_of(header["message"]))
        if header.get("is_os_error"):
            error.__cause__ = OSError()
        return error


def _crash(reason: str) -> UnreadableError:
    return UnreadableError(
        _(
            "the process that reads it failed ({reason}): open it in the program that created it,"
            " save it again, and import the new file"
        ).format(reason=reason)
    )


class _Child:
    """A child process in its own folder, which is deleted when the child ends."""

    def __init__(self) -> None:
        """Start the process, and wait until it is ready, at most `_START_S`.

        Raises:
            OSError, EOFError, InvalidFrameError: It can't be started.
        """
        self.is_overdue = False
        self._state = threading.Lock()
        self._ended = threading.Event()
        self._deadline = time.monotonic() + _START_S
        self._folder = TemporaryDirectory(prefix="footnote-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and program
            [sys.executable, "-P", "-W", "ignore", str(_MAIN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=python_environment(folder),
            start_new_session=True,  # Ctrl-C goes to this process only
        )
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._replies = cast("IO[bytes]", self._process.stdout)
        threading.Thread(target=self._watch, name="reader-watch", daemon=True).start()
        try:
            read_frame(self._replies, 0)
        except BaseException:
            self.end()
            raise

    def begin(self, seconds: float) -> bool:
        """Set the time limit of what follows; False if the process has ended."""
        with self._state:
            if self._ended.is_set() or self._process.poll() is not None:
                return False
            self._deadline = time.monotonic() + seconds
            return True

    def exchange(
        self, request: Mapping[str, Any], body: bytes, answers: Answers | None
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request, answer the child's questions, and return its reply.

        Raises:
            OSError, EOFError, InvalidFrameError, ValueError, TypeError: The child ended, or sent
                something invalid.
        """
        write_frame(self._requests, request, body)
        while True:
            reply, data = read_frame(self._replies, _MAX_BYTES_PER_CHAR * request["max_chars"])
            if "question" not in reply:
                self.begin(_IDLE_S)
                return reply, data
            if answers is None:
                raise InvalidFrameError("a question of an operation that has none")
            method, arguments = reply["question"]
            with self._state:
                remaining_s, self._deadline = self._deadline - time.monotonic(), math.inf
            answer = answers(method, arguments)  # may wait for another server
            self.begin(remaining_s)
            write_frame(self._requests, {"answer": answer})

    @property
    def exit_code(self) -> int | None:
        """The exit code after `end`; negative if a signal ended the process."""
        return self._process.returncode

    def end(self) -> None:
        """Kill the process, which has nothing to lose, and delete its folder."""
        with self._state:
            self._kill()
        for pipe in (self._requests, self._replies):
            with suppress(OSError):
                pipe.close()

    def _kill(self) -> None:
        self._ended.set()
        self._process.kill()  # without effect on the exit code of a process that has ended
        self._process.wait()
        self._folder.cleanup()

    def _watch(self) -> None:
        """End the process at its deadline, whether it is idle or still reading."""
        while not self._ended.wait(self._next_look_s()):
            with self._state:
                if time.monotonic() >= self._deadline and not self._ended.is_set():
                    self.is_overdue = True
                    self._kill()

    def _next_look_s(self) -> float:
        return max(0.0, min(self._deadline - time.monotonic(), _IDLE_S))


DOCUMENTS = ReaderProcess()
PICTURES = ReaderProcess(Limits(processor_s=20, elapsed_s=60.0))
"""Separate, because a person waits for a picture, and not until a document has been read."""


def read_document(name: str, data: bytes) -> "Document":
    """Read a file like `loaders.formats.read_document`, in a process with limits.

    Raises:
        UnreadableError: The file can't be read, or exceeds a limit; the message gives the reason.
            TemporarilyUnreadableError if a retry may succeed.
    """
    from langchain_core.documents import Document  # slow

    metadata, data = DOCUMENTS.call("read_file", {"name": name}, data)
    try:
        text = data.decode("utf-8", "surrogatepass")
        return Document(page_content=text, metadata=checked_metadata(metadata, len(text)))
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError) as error:
        raise DOCUMENTS.invalid_reply() from error


def draw_page(data: bytes, page: int, quotes: Sequence[str] = ()) -> bytes:
    """Draw a page of a PDF like `loaders.formats.pdf.page_png`, in a process with limits.

    Raises:
        UnreadableError: The PDF has no such page, can't be rendered, or exceeds a limit.
    """
    return PICTURES.call("draw_page", {"page": page, "quotes": list(quotes)}, data)[1]
