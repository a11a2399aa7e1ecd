"""What child processes that read files of unknown origin may use.

They limit their own memory and processor time, and get an environment without keys.
"""

import os
import signal
import sys
from pathlib import Path

from domain.messages import _

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_STATUS = Path("/proc/self/status")  # `getrusage` would include the peak of the parent


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


def end_with_time(seconds: int) -> None:
    """Let the system end this process after so many seconds; without effect on Windows."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


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


_INHERITED = ("PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH", "SYSTEMROOT")
_ROOT = Path(__file__).parents[1]


def clean_environment(folder: Path) -> dict[str, str]:
    """The environment of a program that reads such files: without our keys, at home in `folder`."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    own = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
    return {**inherited, **own, "OMP_THREAD_LIMIT": "1"}  # Tesseract's threads are slower than one


def python_environment(folder: Path) -> dict[str, str]:
    """`clean_environment` of a Python program that finds the same modules as this one."""
    places = [str(_ROOT), *(str(Path(one).absolute()) for one in sys.path if one)]
    return clean_environment(folder) | {"PYTHONPATH": os.pathsep.join(places)}


def exit_reason(code: int) -> str:
    """How a child process ended: the name of the signal, or the exit code, for messages."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return _("exit code {code}").format(code=code)
