"""Causes planned faults one after the other, while earlier ones may last."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.faults.faults import Fault, fault_of
from tests.faults.plan import Kind, PlannedFault
from tests.faults.topology import Topology

_STEP_S = 0.1
_IMPORT_S = 10.0
"""How long the fault of a worker waits for an import to interrupt."""
_HEALING_S = 240.0


@dataclass
class _Active:
    fault: Fault
    ends_at: float
    has_ended: bool = False

    def proceed(self) -> bool:
        """End the fault when it is time; whether everything works again.

        Raises:
            TimeoutError: The target does not work although the fault has long ended.
        """
        now = time.monotonic()
        if now < self.ends_at:
            return False
        if not self.has_ended:
            self.fault.end()
            self.has_ended = True
        if now > self.ends_at + _HEALING_S:
            raise TimeoutError(f"{self.fault.target} does not work {_HEALING_S} s after its fault")
        return self.fault.is_healed()


def cause(
    topology: Topology, faults: Sequence[PlannedFault], report: Callable[[str], None]
) -> None:
    """Cause the faults in this order, supervise all processes, and wait until all are healed.

    A fault waits while its target has another one. Each is reported in one line.
    """
    active: list[_Active] = []
    for number, planned in enumerate(faults, 1):
        fault = _prepare(topology, planned, active)
        began = time.monotonic()
        fault.begin()
        active.append(_Active(fault, began + planned.seconds))
        lasts = f" for {planned.seconds:.0f} s" if planned.seconds else ""
        report(f"{number}: {planned.kind}: {fault.target}{lasts}")
        while time.monotonic() < began + planned.pause_s:
            _step(topology, active)
    while active:
        _step(topology, active)


def _prepare(topology: Topology, planned: PlannedFault, active: list[_Active]) -> Fault:
    """The next fault, as soon as its target has no other, and if possible during an import."""
    deadline = time.monotonic() + _IMPORT_S
    while True:
        fault = fault_of(planned, topology)
        is_free = all(one.fault.target != fault.target for one in active)
        is_worker = planned.kind in (Kind.KILL_WORKER, Kind.PAUSE_WORKER)
        may_wait = is_worker and time.monotonic() < deadline
        if is_free and not (may_wait and topology.commits.importer() != fault.target):
            return fault
        _step(topology, active)


def _step(topology: Topology, active: list[_Active]) -> None:
    topology.supervise()
    active[:] = [one for one in active if not one.proceed()]
    time.sleep(_STEP_S)
