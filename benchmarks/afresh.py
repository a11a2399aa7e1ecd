"""Calls a function in a new process, so that memory and caches do not affect other measurements.

Imports next to nothing itself: the process holds only what the function loads.
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
"""Names the folder of the labeled sets; no setting of the program."""

_OURS = ("FOOTNOTE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def call_afresh(function: str, *, one_thread: bool = False, **arguments: Any) -> Any:
    """The result of `module:function` called with these arguments in a new process.

    Both are sent as JSON. The process does not read the user's settings.

    Args:
        function: Module and name, such as "benchmarks.memory_idle:services".
        one_thread: Limit numeric libraries to one thread.
        arguments: Keyword arguments.

    Raises:
        CalledProcessError: The function failed; its traceback was printed.
    """
    environment = own_environment()
    if one_thread:
        environment |= dict.fromkeys(_THREADS, "1")
    command = [sys.executable, "-m", "benchmarks.afresh", function, json.dumps(arguments)]
    process = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(process.stdout.splitlines()[-1])


def own_environment() -> dict[str, str]:
    """The environment without the user's Footnote settings."""
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
