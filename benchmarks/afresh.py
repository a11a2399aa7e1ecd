"""Calls a function in a process of its own, so that memory and caches of one don't show in another.

It imports next to nothing itself: what a process holds is what the function made it hold.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EVAL_DATA = "FOOTNOTE_EVAL_DATA"
"""Names the folder of the labelled sets; no setting of the program."""

_OURS = ("FOOTNOTE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def call_afresh(function: str, *, one_thread: bool = False, **arguments: Any) -> Any:
    """The result of `module:function` called with these arguments in a new process.

    Both travel as JSON. The process has none of the person's settings.

    Args:
        function: Where it lies, as in "benchmarks.memory:idle".
        one_thread: Keep the numeric libraries to one thread.
        arguments: Its keyword arguments.

    Raises:
        CalledProcessError: It failed; its traceback was printed.
    """
    environment = own_environment()
    if one_thread:
        environment |= dict.fromkeys(_THREADS, "1")
    command = [sys.executable, "-m", "benchmarks.afresh", function, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def own_environment() -> dict[str, str]:
    """The environment without the person's settings of the program."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name == EVAL_DATA or not name.startswith(_OURS)
    }
    return environment | {"TOKENIZERS_PARALLELISM": "false"}


def main() -> None:
    module, name = sys.argv[1].split(":")
    result = getattr(import_module(module), name)(**json.loads(sys.argv[2]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
