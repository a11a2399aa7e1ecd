"""The command line: see the package."""

import argparse
import random
from collections.abc import Iterator

from benchmarks.scaling import figures
from benchmarks.scaling.figures import CHAT_MODEL, EXTRACTIVE, ServiceTime
from benchmarks.scaling.queues import Machine, arrivals, import_rate, percentiles, response_times

QUESTIONS = 20_000
SEED = 1
LIMIT_S = 1.0
"""The p95 that the tables permit; for a chat model, the time of the model comes on top."""
CORES = (2, 4, 8, 16)
WORKERS = (1, 2, 4, 8, 16)
PASSAGES = (10**6, 10**7, 10**8)
GIB = 2**30
_TIMES = EXTRACTIVE, CHAT_MODEL


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--vcpu-hour", type=float, default=0.04, help="price of a vCPU-hour")
    parser.add_argument("--memory-month", type=float, default=3.0, help="of a GiB of memory")
    parser.add_argument("--disk-month", type=float, default=0.1, help="of a GiB of disk")
    options = parser.parse_args()
    for table in (
        validation(),
        questions(),
        imports(),
        cost(options.vcpu_hour, options.memory_month, options.disk_month),
    ):
        print("\n".join([*table, ""]))


def p50_and_p95(per_second: float, time: ServiceTime, machine: Machine) -> tuple[float, float]:
    """Of questions that arrive at this rate."""
    drawn = random.Random(SEED)
    requests = [*arrivals(QUESTIONS, per_second, time, drawn)]
    return percentiles(response_times(requests, machine, drawn))


def highest_rate(time: ServiceTime, machine: Machine) -> float:
    """Questions per second with a p95 of at most LIMIT_S, to a hundredth of what the cores can."""
    most = machine.cores / time.mean_s
    for percent in range(99, 0, -1):
        if p50_and_p95(most * percent / 100, time, machine)[1] <= LIMIT_S:
            return most * percent / 100
    return 0.0


def validation() -> Iterator[str]:
    """Two questions per second to one API process on two cores, alone and beside an import."""
    yield from _head("2 questions per second, one API process", "p50, ms", "p95, ms")
    for name, cores in (("two cores", 2.0), ("beside an import that takes 1.5 of them", 0.5)):
        times = p50_and_p95(2.0, EXTRACTIVE, Machine(1, cores))
        yield _row(name, *(f"{1000 * one:.0f}" for one in times))


def questions() -> Iterator[str]:
    """The highest rates of questions, and how many people ask them."""
    yield from _head(
        f"p95 at most {LIMIT_S:.0f} s, two API processes per core",
        *(
            f"{time.name}: {what}"
            for time in (EXTRACTIVE, CHAT_MODEL)
            for what in ("per s", "people")
        ),
    )
    for cores in CORES:
        cells = []
        for time in _TIMES:
            rate = highest_rate(time, Machine(2 * cores, cores))
            cells += [f"{rate:.1f}", f"{rate * figures.PEOPLE_PAUSE_S:,.0f}"]
        yield _row(f"{cores} cores", *cells)


def imports() -> Iterator[str]:
    """Passages per second of several workers, each with two cores for the built-in embedding."""
    yield from _head(
        "workers of two cores", "passages per s", "of the sum of all", "10 million passages"
    )
    work_s = figures.BATCH_PASSAGES / (2 * figures.EMBEDDED_PER_CORE_S)
    write_s = figures.BATCH_PASSAGES / figures.WRITTEN_S
    alone = import_rate(1, work_s, write_s)
    for workers in WORKERS:
        rate = import_rate(workers, work_s, write_s)
        passages = rate * figures.BATCH_PASSAGES
        days = 10**7 / passages / 86_400
        share = 100 * rate / (workers * alone)
        yield _row(f"{workers}", f"{passages:.0f}", f"{share:.0f} %", f"{days:.1f} days")


def cost(vcpu_hour: float, memory_month: float, disk_month: float) -> Iterator[str]:
    """Embedding once, and the index with one replica per month."""
    yield from _head(
        f"at {vcpu_hour} per vCPU-hour, {memory_month} and {disk_month} per GiB-month of memory"
        " and disk",
        "embedding, vCPU-hours",
        "its price, once",
        "page cache, GiB",
        "disk, GiB",
        "price of both per month",
    )
    for passages in PASSAGES:
        hours = passages / figures.EMBEDDED_PER_CORE_S / 3600
        cache = 2 * passages * figures.SEARCH_CACHE_BYTES / GIB
        disk = 2 * passages * figures.SEARCH_DISK_BYTES * figures.SEARCH_DISK_FACTOR / GIB
        month = cache * memory_month + disk * disk_month
        cells = (hours, hours * vcpu_hour, cache, disk, month)
        yield _row(f"{passages:,} passages", *(f"{one:,.1f}" for one in cells))


def _head(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield "|".join(["", "---", *["---:"] * (len(names) - 1), ""])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
