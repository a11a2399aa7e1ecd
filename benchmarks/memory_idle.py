"""Memory of processes, measured from within; a separate module to load nothing extra."""

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

    library_services = build_services(Settings(data_dir=Path(data_dir), _env_file=None))
    idle = resident_mib()
    for number in range(QUESTIONS):
        passages = library_services.search.search(
            LOCAL_USER, f"Which of word{number} and word2 is meant?"
        )
        if not passages:
            raise SystemExit("the library answers nothing: the memory of that says nothing")
        finish_background_work()
    return {"idle": idle, "after_questions": resident_mib(), "peak": peak_mib()}


def finish_background_work() -> None:
    """Wait for work that the first search of a large library starts."""
    from storage.vectors.vector_index import THREAD

    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()
