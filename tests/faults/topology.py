"""Two pages, two APIs, and two workers in containers, over PostgreSQL and OpenSearch nodes.

They are isolated like containers on different machines: each has a host name and process numbers
of its own, so none can see whether the process of another container lives.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import httpx

from tests.deploy.containers import (
    END_S,
    VOLUME,
    Containers,
    copy_program,
    send_to_all,
    service_variables,
    stop,
)
from tests.fakes.openai import EMBEDDING_MODEL, serving
from tests.faults.commits import Commits
from tests.opensearch.cluster import Cluster, cluster
from tests.opensearch.home import free_ports
from tests.postgresql.server import Server, server

PROGRAMS = ("pages", "api", "worker")
NODES = 3
READY_S = 180
_HEALTH = {"pages": "/_stcore/health", "api": "/healthz", "worker": "/metrics"}
_DATABASE = "faults"
_RESTART_S = 1.0
_DOCUMENTS = "documents"


class Service:
    """A service of the compose file; a supervisor calls `supervise` to start it whenever it ends.

    Start it in a thread that lives as long as the service, which the kernel kills with its parent.
    """

    def __init__(self, containers: Containers, program: str, number: int, port: int) -> None:
        self.name, self.program = f"{program}-{number}", program
        self.url = f"http://127.0.0.1:{port}"
        self.starts = 0
        self._containers = containers
        self._number, self._port = number, port
        self._running = ExitStack()
        self._process: Popen[bytes] | None = None
        self._started_at = float("-inf")

    def supervise(self) -> None:
        """Start it if it does not run, at most once per second."""
        has_ended = self._process is None or self._process.poll() is not None
        if has_ended and time.monotonic() - self._started_at >= _RESTART_S:
            self._running.close()
            # The writers of commits are known by this name.
            database = self._containers.variables["FOOTNOTE_DATABASE_URL"]
            url = f"{database}?application_name={self.name}"
            started = self._containers.serve(
                self.program, self._number, self._port, FOOTNOTE_DATABASE_URL=url
            )
            self._process = self._running.enter_context(started)
            self._started_at = time.monotonic()
            self.starts += 1

    def kill(self) -> None:
        self._send(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(END_S)

    def replace(self, containers: Containers) -> None:
        """End it with SIGTERM, and start the program of these containers in its place."""
        assert self._process is not None
        stop(self._process)
        self._containers, self._started_at = containers, float("-inf")
        self.supervise()

    def pause(self) -> None:
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        self._send(signal.SIGCONT)

    def is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(self.url + _HEALTH[self.program], timeout=2).status_code == 200
        return False

    def close(self) -> None:
        """End it."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self._running.close()

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None:
            send_to_all(self._process, number)


@dataclass(frozen=True)
class Topology:
    """The running processes and servers; `key` is an API key with all scopes.

    Without `search`, the index is in the volume.
    """

    containers: Containers
    postgresql: Server
    search: Cluster | None
    services: tuple[Service, ...]
    key: str
    commits: Commits

    @property
    def documents(self) -> Path:
        """A folder that all processes see at `inside`."""
        return self.containers.volume / _DOCUMENTS

    def inside(self, path: Path) -> str:
        """The path of something in the volume, as the processes see it."""
        return f"{VOLUME}/{path.relative_to(self.containers.volume)}"

    def of(self, program: str) -> list[Service]:
        """The two services of this program."""
        return [one for one in self.services if one.program == program]

    def supervise(self) -> None:
        for service in self.services:
            service.supervise()

    def wait(self) -> None:
        """Until all processes are ready and the cluster is green.

        Raises:
            TimeoutError: They are not ready in time.
        """
        deadline = time.monotonic() + READY_S
        while waiting := [one.name for one in self.services if not one.is_ready()]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{waiting} are not ready after {READY_S} s")
            self.supervise()
            time.sleep(0.2)
        if self.search is not None:
            self.search.wait(status="green")


@contextmanager
def topology(folder: Path, nodes: int = NODES) -> Iterator[Topology]:
    """Start everything over an empty library in this empty folder, and wait until it is ready."""
    program, volume, logs = (folder / name for name in ("program", "volume", "logs"))
    copy_program(program)
    for one in (volume / _DOCUMENTS, logs):
        one.mkdir(parents=True)
    with ExitStack() as stack:
        model = stack.enter_context(serving())
        postgresql = stack.enter_context(server())
        search = stack.enter_context(cluster(nodes, folder=folder / "nodes")) if nodes else None
        postgresql.execute(f"CREATE DATABASE {_DATABASE}")
        variables = _stores(postgresql, search) | _embedding(model.url)
        containers = Containers(program, volume, variables, logs)
        key = containers.create_key()
        commits = Commits(postgresql, _DATABASE)
        services = tuple(_services(containers))
        for service in services:
            stack.callback(service.close)
        running = Topology(containers, postgresql, search, services, key, commits)
        running.wait()
        yield running


def _services(containers: Containers) -> Iterator[Service]:
    names = [(program, number) for program in PROGRAMS for number in (1, 2)]
    ports = free_ports([None] * len(names))
    for (program, number), port in zip(names, ports, strict=True):
        yield Service(containers, program, number, port)


def _stores(postgresql: Server, search: Cluster | None) -> dict[str, str]:
    urls = [] if search is None else search.urls
    variables = service_variables(postgresql, _DATABASE, ",".join(urls))
    return variables | {"FOOTNOTE_SEARCH_REPLICAS": str(max(len(urls) - 1, 0))}


def _embedding(model_url: str) -> dict[str, str]:
    """The vectors of the model have no meaning, so keywords decide what is found."""
    return {
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": model_url,
        "FOOTNOTE_EMBEDDING_API_KEY": "unused",
        "FOOTNOTE_DENSE_WEIGHT": "0.1",
    }
