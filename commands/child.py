"""Runs a module in a process that ends together with its parent.

    python commands/child.py MODULE [ARGUMENTS]

The module is found in Footnote's folder, even if the current one has a module of that name.
Standard input is a pipe that the parent keeps open. When the pipe closes, because the parent closed
it or died, the process is asked to end and is killed soon afterwards.
"""

import os
import runpy
import signal
import sys
import threading
import time
from pathlib import Path

_HERE = Path(__file__).parent
_GRACE_S = 5.0


def main() -> None:
    """Run the module named by the first argument, as `python -m` would."""
    sys.path[:] = [str(_HERE.parent), *(one for one in sys.path if one != str(_HERE))]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(1)


if __name__ == "__main__":
    main()
