"""Runs commands in forks of one process that has imported them: a fork starts in milliseconds.

A command has its own process, environment, working directory, and output, as in a shell. Requests
and exit codes pass as lines of JSON through the two file descriptors in the arguments.
"""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _prepare() -> None:
    sys.path[0] = str(ROOT)  # this file's folder has modules with the names of packages
    import bootstrap.services
    import cli
    import services.chat.chat_service
    import services.search.search_service

    del bootstrap, cli, services


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
