"""The limits of a reader process, and how the process sets them on itself."""

from dataclasses import dataclass
from pathlib import Path

from domain.messages import _

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_MIB = 2**20
_STATUS = Path("/proc/self/status")  # `getrusage` would include the peak of the parent


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one document may cost.

    `processor_s` does not count programs such as Tesseract, which have their own limits. It is
    twice what PDFs of thousands of pages need. `elapsed_s` leaves time for these programs (half an
    hour for text recognition) and on a busy machine; on Windows, it is the only limit. The memory
    includes the interpreter and its libraries.
    """

    processor_s: int = 120
    elapsed_s: float = 3600.0 if resource else 300.0
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


def limit_memory(byte_count: int | None) -> None:
    """Let allocations beyond this fail, here and in programs that are started from now on.

    None lifts the limit. Files mapped into memory, such as libraries, don't count.
    """
    if resource:
        _set_soft(resource.RLIMIT_DATA, byte_count)


def limit_processor_time(seconds: int) -> None:
    """Let the system end this process with SIGXCPU after so many more seconds of work."""
    if resource:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        end = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
        _set_soft(resource.RLIMIT_CPU, end)


def extend_processor_time(seconds: int) -> None:
    """Move the end that `limit_processor_time` set, if it did."""
    if resource:
        soft, _hard = resource.getrlimit(resource.RLIMIT_CPU)
        if soft != resource.RLIM_INFINITY:
            _set_soft(resource.RLIMIT_CPU, soft + seconds)


def _set_soft(kind: int, limit: int | None) -> None:
    """Set the soft limit, which may not exceed the hard one."""
    _soft, hard = resource.getrlimit(kind)
    if limit is None or (hard != resource.RLIM_INFINITY and limit > hard):
        limit = hard
    resource.setrlimit(kind, (limit, hard))


def forbid_core_files() -> None:
    """Let a crash of this process leave no file with the document's text."""
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def peak_memory() -> int:
    """The most memory that this process has taken, in bytes; 0 if the system does not say."""
    try:
        status = _STATUS.read_text(encoding="utf-8")
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
