"""What processes hold, seen from within; apart, so that they load nothing for the measuring."""

import threading
from pathlib import Path

from benchmarks.measure import peak_mib, resident_mib

QUESTIONS = 20


def command_line() -> float:
    import cli  # noqa: F401  # loading it is what is measured

    return resident_mib()


def services(data_dir: str) -> dict[str, float]:
    from bootstrap import build_services
    from domain import LOCAL_USER
    from settings import Settings

    opened = build_services(Settings(data_dir=Path(data_dir), _env_file=None))
    idle = resident_mib()
    for number in range(QUESTIONS):
        found = opened.search.search(LOCAL_USER, f"Which of word{number} and word2 is meant?")
        if not found:
            raise SystemExit("the library answers nothing: the memory of that says nothing")
        finish_background_work()
    return {"idle": idle, "asked": resident_mib(), "peak": peak_mib()}


def finish_background_work() -> None:
    """Wait for what the first search of a large library begins."""
    from storage.approximate_index import THREAD

    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()
