"""The faults: how each begins and ends, and when everything works again."""

from dataclasses import dataclass
from typing import Protocol

import httpx

from tests.faults.plan import Kind, PlannedFault
from tests.faults.topology import Service, Topology
from tests.opensearch.cluster import Cluster
from tests.opensearch.node import Node
from tests.postgresql.server import Server

SEARCH, DATABASE = "the search cluster", "the database"


class Fault(Protocol):
    """A fault; `target` is what can't have another fault until it is healed."""

    @property
    def target(self) -> str: ...

    def begin(self) -> None: ...

    def end(self) -> None:
        """Stop causing it."""

    def is_healed(self) -> bool:
        """Whether the target works again after the end."""


@dataclass(frozen=True)
class Kill:
    """A process is killed; its supervisor starts it again."""

    service: Service

    @property
    def target(self) -> str:
        return self.service.name

    def begin(self) -> None:
        self.service.kill()

    def end(self) -> None:
        pass

    def is_healed(self) -> bool:
        return self.service.is_ready()


@dataclass(frozen=True)
class Pause:
    """A process does not run for a while, and does not notice it."""

    service: Service

    @property
    def target(self) -> str:
        return self.service.name

    def begin(self) -> None:
        self.service.pause()

    def end(self) -> None:
        self.service.resume()

    def is_healed(self) -> bool:
        return self.service.is_ready()


@dataclass(frozen=True)
class DatabaseStop:
    """The database ends as in a crash, and recovers when it is started."""

    server: Server
    target = DATABASE

    def begin(self) -> None:
        self.server.stop("immediate")

    def end(self) -> None:
        self.server.start()

    def is_healed(self) -> bool:
        return True


@dataclass(frozen=True)
class NodeEnd:
    """A node of the cluster ends; only one at a time, because two of three are a majority."""

    cluster: Cluster
    node: Node
    is_killed: bool
    target = SEARCH

    def begin(self) -> None:
        if self.is_killed:
            self.node.kill()
        else:
            self.node.stop()

    def end(self) -> None:
        self.node.start()

    def is_healed(self) -> bool:
        """Whether all shards have all their copies."""
        path = f"/_cluster/health?wait_for_nodes={len(self.cluster.nodes)}&timeout=1s"
        try:
            health = self.cluster.get(path).json()
        except httpx.TransportError:
            return False
        return health.get("status") == "green"


_PROGRAM = {
    Kind.KILL_WORKER: "worker",
    Kind.KILL_API: "api",
    Kind.KILL_PAGES: "pages",
    Kind.PAUSE_WORKER: "worker",
    Kind.PAUSE_API: "api",
    Kind.PAUSE_PAGES: "pages",
}


def fault_of(planned: PlannedFault, topology: Topology) -> Fault:
    """The fault; that of a worker hits the one that performs an import, if there is one."""
    kind = planned.kind
    if kind is Kind.STOP_DATABASE:
        return DatabaseStop(topology.postgresql)
    if kind in (Kind.KILL_NODE, Kind.STOP_NODE):
        assert topology.search is not None
        nodes = topology.search.nodes
        node = nodes[planned.target % len(nodes)]
        return NodeEnd(topology.search, node, kind is Kind.KILL_NODE)
    services = topology.of(_PROGRAM[kind])
    service = services[planned.target % len(services)]
    if service.program == "worker":
        importer = topology.commits.importer()
        service = next((one for one in services if one.name == importer), service)
    is_pause = kind in (Kind.PAUSE_WORKER, Kind.PAUSE_API, Kind.PAUSE_PAGES)
    return Pause(service) if is_pause else Kill(service)
