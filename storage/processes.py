"""Processes by name, over machines: who holds what, and whether it still lives."""

import os
import secrets
import socket


def process_name() -> str:
    """A name for one who works in this process; another at each call."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_known_dead(name: str) -> bool:
    """Whether the process of that name is certainly gone; of other machines nobody can tell."""
    pid = number_here(name)
    return pid is not None and not _runs(pid)


def number_here(name: str) -> int | None:
    """The number of a process of this machine; None where nobody can ask about it."""
    host, _, rest = name.partition("/")
    pid = rest.partition("/")[0]
    # On Windows os.kill ends what it asks about.
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
