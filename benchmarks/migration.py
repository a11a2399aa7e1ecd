"""How many rows and passages per second `cli.py migrate` moves, and how long writers wait.

python -m benchmarks.migration                          # 100,000 passages, to PostgreSQL and back
python -m benchmarks.migration --opensearch             # also the index to OpenSearch and back

The servers are those of the tests, on this machine.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.measure import Report, machine
from benchmarks.memory import MadeUpDocuments, import_made_up
from benchmarks.show import as_text
from bootstrap import Services
from domain import LOCAL_USER, Progress
from settings import Settings
from storage.ledger.ledger_move import LedgerMove
from tests.opensearch.cluster import cluster
from tests.postgresql.server import server

_LIBRARY = "0" * 32


def main() -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--opensearch", action="store_true", help="move the index as well")
    options = parser.parse_args()
    report = Report(
        "Moving a library",
        f"{options.passages:,} passages of {options.passages // 10:,} documents; the servers are on"
        " the same machine, and PostgreSQL does not sync its disk",
    )
    with tempfile.TemporaryDirectory(prefix="footnote-migration-") as folder:
        import_made_up(folder, MadeUpDocuments(options.passages))
        measure_ledger(Path(folder), report)
        if options.opensearch:
            measure_index(Path(folder), options.passages, report)
    print(as_text(machine(), [report]))
    return 0


def measure_ledger(data_dir: Path, report: Report) -> None:
    """Move the ledger to PostgreSQL and back."""
    with server() as running:
        running.execute("CREATE DATABASE moved")
        url = running.url("moved")
        move_ledger(data_dir, None, url, report, "to PostgreSQL")
        move_ledger(data_dir, url, f"sqlite:///{data_dir / 'moved.db'}", report, "to SQLite")
        (data_dir / "moved.db").replace(data_dir / "footnote.db")


def move_ledger(data_dir: Path, old: str | None, new: str, report: Report, direction: str) -> None:
    """Time each step of a move; writers wait during the last one."""
    with closing(LedgerMove(data_dir, _LIBRARY, old, new)) as move:
        move.prepare()
        with timed() as copy:
            move.copy(_ignore)
        with timed() as comparison:
            move.copy(_ignore)
        with timed() as end:
            rows = sum(move.finish(_ignore).values())
    report.add(f"{direction}: rows", rows, "")
    report.add(f"{direction}: rows copied per second", rows / copy[0], "1/s")
    report.add(f"{direction}: copy", copy[0], "s")
    report.add(f"{direction}: copy again, without changes", comparison[0], "s")
    report.add(f"{direction}: last step, while writers wait", end[0], "s")


def measure_index(data_dir: Path, passages: int, report: Report) -> None:
    """Move the index to OpenSearch and back."""
    with cluster() as running:
        settings = Settings(
            data_dir=data_dir, search_url=running.url, search_replicas=0, _env_file=None
        )
        for engine in ("opensearch", "embedded"):
            services = Services(settings)
            with timed() as seconds:
                services.index_migration.run(LOCAL_USER, engine)
            name = f"index to {engine}: passages per second, with the comparison"
            report.add(name, passages / seconds[0], "1/s")
            report.add(f"index to {engine}", seconds[0], "s")


@contextmanager
def timed() -> Iterator[list[float]]:
    """The seconds of the block, in a list after its end."""
    seconds, began = list[float](), time.perf_counter()
    yield seconds
    seconds.append(time.perf_counter() - began)


def _ignore(_progress: Progress) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
