"""Processes by name, over machines: who holds what, and whether it still lives."""

import os
import secrets
import socket


def process_name() -> str:
    """A name for one who works in this process; another at each call."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_known_dead(name: str) -> bool:
    """Whether the process of that name is certainly gone; of other machines nobody can tell."""
    host, _, rest = name.partition("/")
    pid = rest.partition("/")[0]
    # On Windows os.kill ends what it asks about.
    if host != socket.gethostname() or os.name == "nt" or not pid.isdigit():
        return False
    return not _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
