"""Footnote's commands in processes that can be killed.

They are forks of one process that has imported the program, because loading it takes longer than
the work that is interrupted. Each runs `cli.py` with an environment and a folder of its own.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_LOADED = (
    "cli",
    "api.application",
    "bootstrap.services",
    "services.chat.chat_service",
    "services.import_worker",
    "services.search.search_service",
)


def start(
    arguments: Sequence[object], folder: Path, environment: Mapping[str, str]
) -> ForkServerProcess:
    """Start `cli.py` with these arguments; its standard output is dropped."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *_LOADED])
    process = context.Process(
        target=_run, args=([str(one) for one in arguments], folder, dict(environment))
    )
    process.start()
    return process


def _run(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    import cli  # only this process needs it

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["cli.py", *arguments]
    cli.main()
