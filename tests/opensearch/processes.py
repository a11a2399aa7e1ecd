"""Whether processes that are not children of this one still run."""

import time
from pathlib import Path

END_S = 30


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for_end(pid):
    deadline = time.monotonic() + END_S
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not is_alive(pid)
