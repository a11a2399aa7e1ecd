"""A cluster of one or more nodes on loopback, for the length of a `with` block."""

import ssl
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.opensearch.home import HEAP_MB, prepare_nodes
from tests.opensearch.layout import fetched
from tests.opensearch.locks import lock
from tests.opensearch.node import Node
from tests.opensearch.programs import OpenSearchError, require_programs
from tests.opensearch.security import ADMIN, Security, prepare_security

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

START_S = 240
"""On a busy machine; on an idle one with two cores, one node takes 8 s and three take 28 s."""
ANSWER_S = 10


@dataclass(frozen=True, eq=False)
class Cluster:
    """Nodes that know each other; `security` is None without the security plugin."""

    nodes: tuple[Node, ...]
    security: Security | None

    @property
    def url(self) -> str:
        return self.nodes[0].url

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.nodes]

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes if node.running]

    def client(self, *, user: str = ADMIN, **options: Any) -> "OpenSearch":
        """A client of all nodes; `options` go to opensearch-py."""
        from opensearchpy import OpenSearch

        if self.security is not None:
            login = (user, self.security.passwords[user])
            options = {"http_auth": login, "ca_certs": str(self.security.ca_file), **options}
        return OpenSearch(self.urls, **options)

    def get(self, path: str, *, node: Node | None = None) -> httpx.Response:
        """The answer of a node, by default of the first that runs."""
        url = (node or self.running[0]).url + path
        if self.security is None:
            return httpx.get(url, timeout=ANSWER_S, trust_env=False)
        login = (ADMIN, self.security.passwords[ADMIN])
        trust = ssl.create_default_context(cafile=self.security.ca_file)
        return httpx.get(url, timeout=ANSWER_S, trust_env=False, auth=login, verify=trust)

    def elected(self) -> Node:
        """The cluster manager."""
        answer = self.get("/_cat/cluster_manager?format=json").raise_for_status().json()
        return next(node for node in self.nodes if node.name == answer[0]["node"])

    def wait(self, *, status: str = "yellow") -> None:
        """Until all running nodes are in the cluster and it has at least this status."""
        deadline = time.monotonic() + START_S
        expected = self.running
        while problem := self._problem(expected, status):
            if time.monotonic() > deadline:
                raise OpenSearchError(f"not ready after {START_S} s: {problem}\n{self._logs()}")
            time.sleep(0.25)

    def _problem(self, expected: list[Node], status: str) -> str:
        """Why the cluster is not ready, or an empty text."""
        for node in expected:
            if not node.running:
                raise OpenSearchError(f"{node.name} ended; its last lines:\n{node.log_tail()}")
        path = (
            f"/_cluster/health?wait_for_nodes={len(expected)}&wait_for_status={status}&timeout=1s"
        )
        try:
            answer = self.get(path, node=expected[0])
        except httpx.TransportError as error:
            return f"{expected[0].url}: {error}"
        return "" if answer.status_code == httpx.codes.OK else answer.text

    def start(self) -> None:
        """Start the nodes that do not run, and wait."""
        for node in self.nodes:
            if not node.running:
                node.start()
        self.wait()

    def stop(self) -> None:
        """The first node last: with one of three left there is no majority to close orderly."""
        with ExitStack() as stops:  # an error does not keep the other nodes running
            for node in self.nodes:
                stops.callback(node.stop)

    def _logs(self) -> str:
        return "\n".join(f"{node.name}: {node.log}\n{node.log_tail()}" for node in self.nodes)


@contextmanager
def cluster(
    nodes: int = 1,
    *,
    security: bool = False,
    folder: Path | None = None,
    port: int | None = None,
    heap_mb: int = HEAP_MB,
) -> Iterator[Cluster]:
    """Fetch OpenSearch if necessary, start nodes, and stop them at the end of the block.

    Data, configuration, and logs are in `folder`, or in a temporary folder that is removed. The
    nodes listen on `port` and the ports after it, or on free ports. Raises OpenSearchError.
    """
    require_programs()
    layout = fetched()
    with ExitStack() as stack:
        if folder is None:
            temporary = tempfile.TemporaryDirectory(
                prefix="opensearch-", ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(temporary))
        folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(lock(folder / "lock"))
        secured = prepare_security(folder / "security", layout) if security else None
        running = Cluster(prepare_nodes(nodes, folder, layout, secured, port, heap_mb), secured)
        stack.callback(running.stop)
        running.start()
        yield running
