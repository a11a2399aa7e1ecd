"""Runs commands in forks of one process that has imported them: a fork starts in milliseconds.

A command has its own process, environment, working directory, and output, as in a shell. Requests
and exit codes pass as lines of JSON through the two file descriptors in the arguments.
"""

import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MODULES = (
    "cli",
    "bootstrap.services",
    "chains.conversational_retrieval",
    "langchain_text_splitters",
    "numpy",
    "services.chat.chat_service",
    "services.search.ranking",
    "services.search.scoped_documents",
    "services.search.search_service",
    "storage.ledger.migrations.run",
    "storage.vectors.passage_store",
)


def _prepare() -> None:
    """Import what most commands need, except Deep Lake and ONNX Runtime, which start threads."""
    sys.path[0] = str(ROOT)  # this file's folder has modules with the names of packages
    for module in _MODULES:
        import_module(module)
    gc.freeze()


def _require_one_thread() -> None:
    """A fork has only the thread that forks: locks of the others would never be released."""
    threads = Path("/proc/self/task")
    if threads.exists():
        names = [(thread / "comm").read_text().strip() for thread in threads.iterdir()]
        assert len(names) == 1, f"threads before a fork: {', '.join(names)}"


def _become(request) -> None:
    """Turn this fork into the command."""
    for stream, name in (1, "stdout"), (2, "stderr"):
        os.dup2(os.open(request[name], os.O_WRONLY), stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["arguments"]
    import cli

    cli.main()


def _serve(requests: int, answers: int) -> None:
    with os.fdopen(requests, encoding="utf-8") as lines:
        for line in lines:
            _require_one_thread()
            child = os.fork()
            if child == 0:
                os.close(answers)
                return _become(json.loads(line))
            _, status = os.waitpid(child, 0)
            os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return None


if __name__ == "__main__":
    _prepare()
    _serve(int(sys.argv[1]), int(sys.argv[2]))
