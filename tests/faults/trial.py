"""A whole run: work and questions during faults, and a report of what they have caused."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.checks import settle, violations
from tests.faults.folders import Folder
from tests.faults.plan import PlannedFault
from tests.faults.questions import CLIENTS, RETRY_S, Clients
from tests.faults.schedule import cause
from tests.faults.topology import NODES, Topology
from tests.faults.work import Work

_GATES = {
    "handbook": ("amber", "birch", "cedar", "dune"),
    "archive": ("ember", "fjord", "grove", "harbor"),
}
_SHOWN = 12


@dataclass(frozen=True)
class Report:
    """The result; `seconds` is the time from the first fault until all were healed."""

    faults: Counter[str]
    seconds: float
    changes: Counter[str]
    runs: dict[str, int]
    commits: int
    takeovers: int
    quarantined: int
    clients: Clients
    logged: Counter[str]
    violations: list[str]

    def lines(self) -> Iterator[str]:
        """The report as text."""
        total = len(self.clients.questions)
        nodes = f"1 PostgreSQL, {NODES} OpenSearch nodes"
        yield f"2 pages, 2 APIs, 2 workers, {nodes}, {CLIENTS} clients"
        yield f"{self.faults.total()} faults in {self.seconds / 60:.1f} minutes"
        yield from (f"  {count:4} {kind}" for kind, count in sorted(self.faults.items()))
        yield f"changed files: {_counted(self.changes)}; committed versions: {self.commits}"
        yield f"imports: {_counted(self.runs)}; continued by another worker: {self.takeovers}"
        yield f"documents in quarantine, until they were edited: {self.quarantined}"
        yield f"questions: {total}, of which failed"
        for name, attempts in (("at the first attempt", 1), ("also at the other API", 2)):
            yield _share(len(self.clients.failed(attempts)), total, name)
        yield _share(len(self.clients.failed()), total, f"until {RETRY_S:.0f} s had passed")
        slowest = max((one.seconds for one in self.clients.questions if one.turn), default=0.0)
        yield f"longest wait for an answer: {slowest:.1f} s"
        yield "reasons of failed attempts:"
        yield from _most(self.clients.messages())
        yield "warnings and errors in the logs:"
        yield from _most(self.logged)
        yield f"violations: {len(self.violations)}"
        yield from (f"  {one}" for one in self.violations)


def run(
    topology: Topology, faults: list[PlannedFault], seed: int, report: Callable[[str], None]
) -> Report:
    """Cause the faults during work and questions, and check what they have caused.

    Raises:
        TimeoutError: A process, the cluster, or the queue did not recover.
    """
    folders = [Folder(topology.documents / name, gates, seed) for name, gates in _GATES.items()]
    work = Work(topology, folders)
    settle(topology, work)
    codes = {gate: code for folder in folders for gate, code in folder.codes.items()}
    clients = Clients([one.url for one in topology.of("api")], topology.key, codes)
    began = time.monotonic()
    with clients.asking(), work.changing():
        cause(topology, faults, report)
    seconds = time.monotonic() - began
    topology.wait()
    quarantined = settle(topology, work)
    return Report(
        faults=Counter(one.kind.value for one in faults),
        seconds=seconds,
        changes=sum((Counter(one.changes) for one in folders), Counter()),
        runs=topology.commits.runs(),
        commits=len(topology.commits.versions()),
        takeovers=topology.commits.takeovers(),
        quarantined=quarantined,
        clients=clients,
        logged=_logged(topology.containers.logs),
        violations=violations(topology, work, clients),
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _share(count: int, total: int, name: str) -> str:
    return f"  {count:5} ({100 * count / max(total, 1):.2f} %) {name}"


def _most(counts: Counter[str]) -> Iterator[str]:
    yield from (f"  {count:5} {text[:240]}" for text, count in counts.most_common(_SHOWN))


def _logged(folder: Path | None) -> Counter[str]:
    """The events of warnings and errors, with their reasons, by the program that logged them."""
    found: Counter[str] = Counter()
    assert folder is not None
    for file in sorted(folder.iterdir()):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if text := _event(line):
                found[f"{file.name.partition('-')[0]}: {text}"] += 1
    return found


def _event(line: str) -> str:
    """What a line reports; "" if it is no warning or error."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line if line[:1].strip() else ""
    if not isinstance(entry, dict) or entry.get("level") not in ("warning", "error", "critical"):
        return ""
    return f"{entry.get('event')} {entry.get('reason', '')}".strip()
