"""Which faults occur, drawn from a seed."""

import random
from enum import StrEnum
from typing import NamedTuple

TAKEOVER_S = 30.0
"""After this time, another worker takes over: the lease of 20 s, and 10 s in which its owner could
renew it (storage/ledger/import_leases.py)."""


class Kind(StrEnum):
    """A kind of fault. Processes that were killed are started again by their supervisor."""

    KILL_WORKER = "SIGKILL to a worker"
    KILL_API = "SIGKILL to an API"
    KILL_PAGES = "SIGKILL to the pages"
    PAUSE_WORKER = "SIGSTOP of a worker past its lease"
    PAUSE_API = "SIGSTOP of an API"
    PAUSE_PAGES = "SIGSTOP of the pages"
    STOP_DATABASE = "immediate stop of the database"
    KILL_NODE = "SIGKILL to a search node"
    STOP_NODE = "orderly stop of a search node"


_LASTS_S = {
    Kind.PAUSE_WORKER: (TAKEOVER_S + 2, TAKEOVER_S + 10),
    Kind.PAUSE_API: (10.0, TAKEOVER_S),
    Kind.PAUSE_PAGES: (10.0, TAKEOVER_S),
    Kind.STOP_DATABASE: (2.0, 30.0),
    Kind.KILL_NODE: (2.0, 20.0),
    Kind.STOP_NODE: (2.0, 20.0),
}
"""How long a fault lasts at least and at most; a process that was killed is started at once."""
_PAUSE_S = 1.0, 5.0


class PlannedFault(NamedTuple):
    """A fault of one of several targets, counted from 0, and what comes before the next one."""

    kind: Kind
    target: int
    seconds: float
    pause_s: float


def planned_faults(count: int, seed: int) -> list[PlannedFault]:
    """So many faults; each kind occurs equally often, as far as the number allows."""
    drawn = random.Random(seed)
    kinds: list[Kind] = []
    while len(kinds) < count:
        kinds += drawn.sample([*Kind], len(Kind))
    return [
        PlannedFault(
            kind,
            drawn.randrange(6),
            drawn.uniform(*_LASTS_S.get(kind, (0.0, 0.0))),
            drawn.uniform(*_PAUSE_S),
        )
        for kind in kinds[:count]
    ]
