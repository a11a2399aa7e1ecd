"""`cli.py worker`: does the imports that are queued."""

import os
import signal
import threading
from types import FrameType
from typing import Annotated, NoReturn

import typer

from commands.keeper import LEFT, keep, told_to_end
from commands.running import DataDir, open_services


def worker(
    supervised: Annotated[bool, typer.Option(hidden=True)] = False,
    data_dir: DataDir = None,
) -> None:
    """Do the imports that are queued and those that are due, until it is ended.

    `serve` has one of its own; more of them, on the same machine, take turns.
    """
    if supervised:
        _work(data_dir)
        return
    told = told_to_end()
    with open_services(data_dir) as services:
        keep(told, services.imports.data_dir)


def _work(data_dir: DataDir) -> None:
    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        if stop.is_set():  # asked twice: at once
            signal.default_int_handler(number, frame)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with open_services(data_dir, tell=False) as services:
        services.worker.run(stop, _leave)


def _leave() -> NoReturn:
    os._exit(LEFT)
