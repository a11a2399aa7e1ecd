"""Names processes across machines, and tells whether they are still running."""

import os
import secrets
import socket


def process_name() -> str:
    """A unique name for a worker in this process; differs at each call."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_known_dead(name: str) -> bool:
    """Whether the process has certainly ended; False for processes on other machines."""
    pid = number_here(name)
    return pid is not None and not _runs(pid)


def number_here(name: str) -> int | None:
    """The id of a process on this machine; None for other machines and on Windows."""
    host, _, rest = name.partition("/")
    pid = rest.partition("/")[0]
    # On Windows, os.kill would terminate the process.
    if host != socket.gethostname() or os.name == "nt" or not pid.isdigit():
        return None
    return int(pid)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
