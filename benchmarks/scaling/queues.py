"""Questions as a queue: processes on shared cores; imports as a closed network of workers."""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import NamedTuple

from benchmarks.scaling.figures import ServiceTime


class Arrival(NamedTuple):
    """A question: when it arrives, and the processor time that it needs, in seconds."""

    at: float
    work: float


@dataclass(frozen=True)
class Machine:
    """Processes that each work on one question at a time, in the order of arrival.

    With more busy processes than cores, each gets an equal share of them. Questions go to a random
    process, as the operating system distributes connections; with `shared_queue`, each waits for
    the first free process instead.
    """

    processes: int
    cores: float
    shared_queue: bool = False


def arrivals(
    count: int, per_second: float, time: ServiceTime, drawn: random.Random
) -> Iterator[Arrival]:
    """A Poisson process of so many questions."""
    at = 0.0
    for _ in range(count):
        at += drawn.expovariate(per_second)
        yield Arrival(at, drawn.lognormvariate(time.mu, time.sigma))


def response_times(
    questions: Sequence[Arrival], machine: Machine, drawn: random.Random
) -> list[float]:
    """The seconds from the arrival of each question to its answer, in the order of the answers."""
    waiting = [deque[Arrival]() for _ in range(1 if machine.shared_queue else machine.processes)]
    current: list[Arrival | None] = [None] * machine.processes
    left = [0.0] * machine.processes
    found, now, coming = [], 0.0, 0
    while len(found) < len(questions):
        busy = [n for n, one in enumerate(current) if one is not None]
        speed = min(1.0, machine.cores / len(busy)) if busy else 1.0
        ends_at = now + min((left[n] for n in busy), default=float("inf")) / speed
        arrives_at = questions[coming].at if coming < len(questions) else float("inf")
        until = min(ends_at, arrives_at)
        for n in busy:
            left[n] -= (until - now) * speed
        now = until
        if arrives_at <= ends_at:
            waiting[drawn.randrange(len(waiting))].append(questions[coming])
            coming += 1
        else:
            ended = min(busy, key=left.__getitem__)
            found.append(now - current[ended].at)  # type: ignore[union-attr]  # it is busy
            current[ended] = None
        for n, one in enumerate(current):
            queue = waiting[n % len(waiting)]
            if one is None and queue:
                current[n] = queue.popleft()
                left[n] = current[n].work  # type: ignore[union-attr]  # it was just set
    return found


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """The p50 and the p95."""
    cuts = quantiles(seconds, n=100)
    return cuts[49], cuts[94]


def import_rate(workers: int, work_s: float, write_s: float) -> float:
    """Batches per second of workers that each work, and then write one at a time.

    The exact mean value analysis of a closed network with one station at which customers queue,
    and one at which they do not, with exponential times (Reiser and Lavenberg, "Mean-Value Analysis
    of Closed Multichain Queuing Networks", Journal of the ACM 27(2), 1980).
    """
    queued = rate = 0.0
    for number in range(1, workers + 1):
        at_writing = write_s * (1 + queued)
        rate = number / (work_s + at_writing)
        queued = rate * at_writing
    return rate
