"""Sources, and one large source, imported by one, two, and four worker processes.

python -m benchmarks --only parallel_imports

First with sources on other servers: each read takes the time that a request to Confluence or Drive
does, which is simulated by a pause before a file is read, and embedding is a stub that takes no
time. Then with the built-in embedding and files on this machine, with one core per worker, and with
all cores for each. The time begins when the imports are queued, and workers are warm.
"""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

from benchmarks.afresh import call_afresh
from benchmarks.import_run import write_documents
from benchmarks.measure import Cell, Report, cores

SMALL = {"sources": 2, "remote": 3, "local": 1, "latency_s": 0.01, "numbers": [1, 2]}
LATENCY_S = 0.1
_STAGES = ("reading", "embedding", "waiting for the lock", "writing")
_MODULES = ("loaders.split", "storage.keywords.keyword_index", "storage.vectors.passage_store")
_WIDTH = 384
_POLL_S = 0.05


def measure(
    *,
    cache: str,
    sources: int = 4,
    remote: int = 100,
    local: int = 20,
    latency_s: float = LATENCY_S,
    numbers: Sequence[int] = (1, 2, 4),
) -> Report:
    call_afresh("benchmarks.memory:prepare_model", cache=cache)
    report = Report(
        "Imports at the same time",
        f"{sources} sources: of {remote} files, each read after {latency_s * 1000:.0f} ms, without"
        f" embedding (and one source of as many); and of {local} files of 10 passages with the"
        " built-in embedding;"
        f" {cores()} cores",
    )
    _add(report, "remote", numbers, cache, sources, remote, latency_s=latency_s)
    _add(report, "remote, one source", numbers, cache, 1, sources * remote, latency_s=latency_s)
    pinned = [number for number in numbers if number <= cores()]
    _add(report, "embedded, one core per worker", pinned, cache, sources, local, pins=True)
    _add(report, "embedded, all cores for each worker", numbers, cache, sources, local)
    return report


def _add(
    report: Report,
    name: str,
    numbers: Sequence[int],
    cache: str,
    sources: int,
    documents: int,
    *,
    latency_s: float = 0.0,
    pins: bool = False,
) -> None:
    """Measure each number of workers, and add the ratios to one worker and the shares of stages."""
    rows: list[list[Cell]] = []
    first = 0.0
    for number in numbers:
        seconds, stages = import_all(cache, number, sources, documents, latency_s, pins=pins)
        first = first or seconds
        if number > 1:
            report.ratio(f"{name}: 1 worker / {number} workers", first / seconds)
        busy = [100 * stages[stage] / (seconds * number) for stage in _STAGES]
        rows.append([number, seconds, sources * documents / seconds, *busy])
    columns = ["workers", "seconds", "documents per second", *(f"{one}, %" for one in _STAGES)]
    report.table(f"{name}: shares of the workers' time", columns, rows)


def import_all(
    cache: str, workers: int, sources: int, documents: int, latency_s: float, *, pins: bool
) -> tuple[float, Counter[str]]:
    """The seconds until all sources are imported, and the seconds of all workers by stage."""
    with tempfile.TemporaryDirectory(prefix="footnote-parallel-") as name:
        folder = Path(name)
        shutil.copytree(cache, folder / "data" / "cache")
        for n in range(sources):
            write_documents(folder / f"source{n}", documents)
        with ThreadPoolExecutor(workers) as threads:
            running = [
                threads.submit(
                    call_afresh,
                    "benchmarks.parallel_imports:work",
                    folder=name,
                    number=number,
                    latency_s=latency_s,
                    pins=pins,
                )
                for number in range(workers)
            ]
            try:
                seconds = _wait(folder, workers, sources)
            finally:
                (folder / "stop").touch()
            stages: Counter[str] = sum((Counter(one.result()) for one in running), Counter())
    return seconds, stages


def _wait(folder: Path, workers: int, sources: int) -> float:
    """Queue the imports when all workers are ready, and return the seconds until they have ended.

    Raises:
        SystemExit: An import did not complete.
    """
    from bootstrap import Services
    from domain import LOCAL_USER, ImportState
    from settings import Settings

    services = Services(Settings(data_dir=folder / "data", _env_file=None))
    kind = services.source_kinds.get("directory")
    added = [
        kind.add(LOCAL_USER, {"path": str(folder / f"source{n}")}).source for n in range(sources)
    ]
    while len(list(folder.glob("ready*"))) < workers:
        time.sleep(_POLL_S)
    began = time.monotonic()
    waiting = [services.queue.enqueue(LOCAL_USER, one.id).id for one in added]
    while waiting:
        time.sleep(_POLL_S)
        run = services.queue.get(LOCAL_USER, waiting[0])
        if run.ended and run.state is not ImportState.COMPLETED:
            raise SystemExit(f"an import ended in the state {run.state}: {run.message}")
        if run.ended:
            waiting.pop(0)
    seconds = time.monotonic() - began
    if not services.maintenance.check(LOCAL_USER).agrees:
        raise SystemExit("ledger and index disagree")
    return seconds


def work(folder: str, number: int, latency_s: float, pins: bool) -> dict[str, float]:
    """Perform imports until the file `stop` exists; the seconds by stage. For a new process."""
    if pins:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[number]})
    from bootstrap import Services
    from settings import Settings

    services = Services(Settings(data_dir=Path(folder) / "data", _env_file=None))
    seconds = Counter[str]()
    _replace_parts(seconds, latency_s)
    _warm_up(services)
    stop = Event()
    worker = Thread(target=services.worker.run, args=(stop,))
    worker.start()
    (Path(folder) / f"ready{number}").touch()
    while not (Path(folder) / "stop").exists():
        time.sleep(_POLL_S)
    stop.set()
    worker.join()
    return dict(seconds)


def _warm_up(services: Any) -> None:
    """Load what the first import would otherwise load."""
    for module in _MODULES:
        import_module(module)
    embeddings = services.parts.embeddings_for(services.parts.configured.embedding)
    embeddings.embed_documents(["The door stays shut."])


def _replace_parts(seconds: Counter[str], latency_s: float) -> None:
    """Time the stages of imports in this process; with a latency, simulate another server."""
    import storage.library_lock
    from loaders.directory_loader import DirectoryLoader
    from models.builtin import BuiltinEmbeddings
    from services.imports.index_writer import IndexWriter

    read = DirectoryLoader.read

    def read_remotely(loader: DirectoryLoader, ref: Any) -> Any:
        time.sleep(latency_s)
        return read(loader, ref)

    embed = _no_vectors if latency_s else BuiltinEmbeddings.embed_documents
    _replace(DirectoryLoader, "read", _timed(seconds, "reading", read_remotely))
    _replace(BuiltinEmbeddings, "embed_documents", _timed(seconds, "embedding", embed))
    _replace(IndexWriter, "write", _timed(seconds, "writing", IndexWriter.write))
    lock = storage.library_lock.writer_lock

    @contextmanager
    def timed_lock(*arguments: Any) -> Iterator[None]:
        began = time.monotonic()
        with lock(*arguments):
            seconds["waiting for the lock"] += time.monotonic() - began
            yield

    _replace(storage.library_lock, "writer_lock", timed_lock)


def _no_vectors(_embeddings: object, texts: Sequence[str]) -> list[list[float]]:
    """A vector per text, which depends on its length."""
    return [[1.0, float(len(text))] + [0.0] * (_WIDTH - 2) for text in texts]


def _replace(owner: Any, name: str, replacement: Any) -> None:
    setattr(owner, name, replacement)


def _timed(seconds: Counter[str], stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.monotonic()
        try:
            return function(*arguments, **options)
        finally:
            seconds[stage] += time.monotonic() - began

    return timed
