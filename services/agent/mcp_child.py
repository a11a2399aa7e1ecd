"""Runs an external MCP server that ends together with the process that started it.

    python -I services/agent/mcp_child.py COMMAND [ARGUMENTS]

Standard input is passed to the command. When it closes, because the client closed it or died, the
command's input closes too; if the command does not end soon after, it is terminated with all its
child processes. It must be the leader of its process group.
"""

import os
import signal
import subprocess
import sys
import threading
import time

_GRACE_S = 2.0
_BYTES = 65536


def main() -> int:
    """Run the command and return its exit code."""
    try:
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)  # noqa: S603  # as configured
    except OSError as error:
        print(f"Footnote: {sys.argv[1]} can't be started: {error}", file=sys.stderr)  # noqa: T201
        return 127
    # The signal also reaches the command, in the same process group. This process has to outlive it
    # to kill the rest of the group; the command has started already, so it does not inherit this.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
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
        pass  # the command has closed its input, so it has ended or soon will
    time.sleep(_GRACE_S)
    _end(child)


def _end(child: "subprocess.Popen[bytes]") -> None:
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGTERM)
        time.sleep(_GRACE_S)
        os.killpg(0, signal.SIGKILL)
    child.kill()


if __name__ == "__main__":
    sys.exit(main())
