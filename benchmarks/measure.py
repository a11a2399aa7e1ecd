"""Shared by the benchmarks: figures, percentiles, memory, and the machine."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

Query = TypeVar("Query")
MIB = 1024 * 1024


@dataclass(frozen=True)
class Figure:
    """One number; `unit` is "x" for a ratio and "%" for a share."""

    name: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{shown(self.value)} {self.unit}".rstrip()


Cell = str | float | None


@dataclass(frozen=True)
class Table:
    """Figures of several contenders, named in the first column; None is an empty cell."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]


def shown(value: Cell) -> str:
    """A number with its significant digits; counts in full."""
    if value is None:
        return "-"
    if isinstance(value, str | int):
        return str(value)
    steps = ((1, 3), (10, 2), (1000, 1))
    digits = next((digits for limit, digits in steps if abs(value) < limit), 0)
    return f"{value:,.{digits}f}"


@dataclass
class Report:
    """Results of a part; `about` describes the input, `notes` lists caveats and what is missing."""

    title: str
    about: str
    ratios: list[Figure] = field(default_factory=list)
    absolute: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    def note(self, notes: Iterable[str]) -> None:
        """Add notes without duplicates."""
        self.notes += [note for note in notes if note not in self.notes]

    def table(self, title: str, columns: list[str], rows: list[list[Cell]]) -> None:
        """Add a table; each row has as many cells as there are columns."""
        self.tables.append(Table(title, columns, rows))

    def ratio(self, name: str, value: float, unit: str = "x") -> None:
        """Add a ratio; a share if the unit is "%", a plain number if it is empty."""
        self.ratios.append(Figure(name, value, unit))

    def add(self, name: str, value: float, unit: str) -> None:
        """Add an absolute figure."""
        self.absolute.append(Figure(name, value, unit))


@dataclass(frozen=True)
class Times:
    """Milliseconds of repeated calls."""

    milliseconds: Sequence[float]

    @property
    def p50(self) -> float:
        """The median."""
        return self._at(0.50)

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        return self._at(0.95)

    def _at(self, share: float) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


class Clocks(NamedTuple):
    """The elapsed and the processor time of the same calls; other load affects the latter less."""

    elapsed: Times
    processor: Times


def compare(
    contenders: Mapping[str, Callable[[Query], object]], queries: Sequence[Query], rounds: int = 2
) -> dict[str, Times]:
    """The elapsed times of `compare_clocks`."""
    both = compare_clocks(contenders, queries, rounds)
    return {name: each.elapsed for name, each in both.items()}


def compare_clocks(
    contenders: Mapping[str, Callable[[Query], object]], queries: Sequence[Query], rounds: int = 2
) -> dict[str, Clocks]:
    """Each contender's times for all queries, in turns so that other load affects all.

    A contender runs all its queries in a row, as it would alone: if they were interleaved, each
    contender would evict the others' vectors from the processor's cache. The first query of a row
    is a warm-up.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, answer in contenders.items():
            answer(queries[0])
            times[name] += [_clocks_of(answer, query) for query in queries]
    return {name: Clocks(*map(Times, zip(*each, strict=True))) for name, each in times.items()}


def _clocks_of(answer: Callable[[Query], object], query: Query) -> tuple[float, float]:
    """The elapsed and the processor time in milliseconds."""
    started = time.process_time()
    elapsed = milliseconds_of(answer, query)
    return elapsed, (time.process_time() - started) * 1000


def milliseconds_of(answer: Callable[[Query], object], query: Query) -> float:
    started = time.perf_counter()
    answer(query)
    return (time.perf_counter() - started) * 1000


def resident_mib() -> float:
    """Resident memory of this process now, in MiB; 0 if the system does not report it."""
    return _status_mib("VmRSS")


def peak_mib() -> float:
    """The peak resident memory, in MiB."""
    return _status_mib("VmHWM")


def _status_mib(name: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


class OtherWork:
    """Load from other processes since construction, which slows the measurement."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._busy = _busy_s()
        self._own = _own_s()

    def percent(self) -> float | None:
        """Their share of all cores; None if the system does not report it."""
        busy = _busy_s()
        if busy is None or self._busy is None:
            return None
        other = busy - self._busy - (_own_s() - self._own)
        available = (time.monotonic() - self._started) * (os.cpu_count() or 1)
        return max(0.0, 100 * other / available)


def _busy_s() -> float | None:
    """Busy seconds of all cores since the machine started."""
    try:
        first = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return None
    user, nice, system, _idle, _waiting, *interrupts = (int(n) for n in first.split()[1:8])
    ticks: float = user + nice + system + sum(interrupts)
    return ticks / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    """Busy seconds of this process and its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def machine() -> str:
    """Processor, cores, memory, system, and date."""
    python = f"Python {platform.python_version()} on {platform.system()}"
    parts = [processor(), f"{cores()} cores", memory(), python, f"{datetime.now(UTC):%Y-%m-%d}"]
    return ", ".join(part for part in parts if part)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    name = next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")
    vnni = any("vnni" in line for line in lines if line.startswith("flags"))
    return f"{name} {'with' if vnni else 'without'} VNNI"


def memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # Windows has no sysconf
        return ""
    return f"{size / 1024 / MIB:.0f} GiB RAM"


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
