"""Memory, file descriptors, and threads of processes and all their descendants, from /proc."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

PROC = Path("/proc")
ROLES = {
    "reader_main.py": "document reader",
    "pages_process": "pages",
    "--supervised": "worker",
    "cli.py api": "API",
    "cli.py serve": "supervisor",
}
"""A part of the command line, and what it runs; the first match counts."""


LOOPS = "event loops"
FILES_OF_LOOP = 3
"""An event loop of asyncio and its pair of sockets."""
_KINDS = {"anon_inode:[eventpoll]": LOOPS, "socket:": "sockets", "pipe:": "pipes"}
"""The beginning of what an open file refers to, and its kind."""


@dataclass(frozen=True)
class Usage:
    """What the processes of a role use: MiB of memory, and counts."""

    pss: float = 0.0
    """Proportional set size: shared pages are divided among the processes that share them."""
    rss: float = 0.0
    own: float = 0.0
    """Anonymous memory, including what is swapped out, which a leak increases."""
    files: Counter[str] = field(default_factory=Counter)
    """Open files by kind, see `kind_of`."""
    threads: int = 0

    @property
    def other_files(self) -> int:
        """The number of open files that do not belong to event loops."""
        return self.files.total() - FILES_OF_LOOP * self.files[LOOPS]

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.pss + other.pss,
            self.rss + other.rss,
            self.own + other.own,
            self.files + other.files,
            self.threads + other.threads,
        )


@dataclass(frozen=True)
class Sample:
    """Usage by role at a moment (`time.monotonic`)."""

    at: float
    usage: Mapping[str, Usage]


@dataclass
class Watch:
    """Samples the processes every `every_s` seconds until `end`."""

    pids: Sequence[int]
    every_s: float
    samples: list[Sample] = field(default_factory=list)
    _over: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Take a last sample and stop."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        is_over = False
        while True:
            self.samples.append(Sample(time.monotonic(), usage_by_role(self.pids)))
            if is_over:
                return
            is_over = self._over.wait(self.every_s)


def usage_by_role(pids: Sequence[int]) -> Mapping[str, Usage]:
    """What these processes and their descendants use now, summed up by role."""
    usage: dict[str, Usage] = defaultdict(Usage)
    for pid in (one for root in pids for one in family(root)):
        with suppress(OSError):  # it has just ended
            usage[_role(pid)] += _usage(pid)
    return usage


def own_memory() -> float:
    """The anonymous memory of this process in MiB."""
    return _usage(os.getpid()).own


def family(pid: int) -> Iterator[int]:
    """The process and its descendants, each before its own; without those that have ended."""
    yield pid
    with suppress(OSError):
        for thread in (PROC / str(pid) / "task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from family(int(child))


def _role(pid: int) -> str:
    command = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return next((role for part, role in ROLES.items() if part in command), "other")


def _usage(pid: int) -> Usage:
    rollup = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    kib = {line.split(":")[0]: int(line.split()[1]) for line in rollup[1:]}
    return Usage(
        kib["Pss"] / 1024,
        kib["Rss"] / 1024,
        (kib["Anonymous"] + kib["Swap"]) / 1024,
        _files(pid),
        len(list((PROC / str(pid) / "task").iterdir())),
    )


def _files(pid: int) -> Counter[str]:
    kinds = Counter[str]()
    for file in (PROC / str(pid) / "fd").iterdir():
        with suppress(OSError):  # it has just been closed
            kinds[kind_of(str(file.readlink()))] += 1
    return kinds


def kind_of(target: str) -> str:
    """The kind of an open file, by what `/proc` says that it refers to."""
    for beginning, kind in _KINDS.items():
        if target.startswith(beginning):
            return kind
    if "/indexes/" in target:
        return "index"
    return "ledger" if "/footnote.db" in target else "other files"
