"""Runs an MCP server of others, which ends with the process that started it.

    python -I agent/mcp_child.py COMMAND [ARGUMENTS]

Standard input is handed on to the command. When it closes, because the client closed it or is dead
in whatever way, so does the command's; what has not ended soon after is ended, with all that it
has started. It must be the first process of its group.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

_GRACE_S = 2.0
_BYTES = 65536


def main() -> int:
    """Run the command and return its exit code."""
    try:
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)  # noqa: S603  # as set
    except OSError as error:
        print(f"Footnote: {sys.argv[1]} can't be started: {error}", file=sys.stderr)  # noqa: T201
        return 127
    signal.signal(signal.SIGTERM, _stay)  # meant for the command, which is in the same group
    threading.Thread(target=_feed, args=(child,), daemon=True).start()
    return child.wait()


def _feed(child: "subprocess.Popen[bytes]") -> None:
    assert child.stdin is not None  # noqa: S101  # it is a pipe
    try:
        while data := os.read(0, _BYTES):
            child.stdin.write(data)
            child.stdin.flush()
        child.stdin.close()
    except BrokenPipeError:
        pass  # the command reads no more: it has ended or soon will
    time.sleep(_GRACE_S)
    _end(child)


def _end(child: "subprocess.Popen[bytes]") -> None:
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGTERM)
        time.sleep(_GRACE_S)
        os.killpg(0, signal.SIGKILL)
    child.kill()


def _stay(_number: int, _frame: FrameType | None) -> None:
    """An ignored signal would be ignored by the command too; a handled one is not."""


if __name__ == "__main__":
    sys.exit(main())
