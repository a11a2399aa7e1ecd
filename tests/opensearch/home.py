"""The home folders of a cluster's nodes: configuration, plugins, and ports."""

import json
import random
import shutil
import socket
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.opensearch.artifacts import SEARCH_PLUGINS, SECURITY_PLUGIN
from tests.opensearch.node import Node
from tests.opensearch.programs import OpenSearchError
from tests.opensearch.security import Security, place_security, security_settings

HEAP_MB = 512
"""Enough for tests; 100,000 vectors of 384 dimensions need 2 GB."""
HOST = "127.0.0.1"
PORTS = range(15_000, 32_000)
"""Below those of outgoing connections: on a busy machine, a node binds its port a minute later."""


def prepare_nodes(
    count: int,
    folder: Path,
    layout: Path,
    security: Security | None,
    port: int | None,
    heap_mb: int,
) -> tuple[Node, ...]:
    """Write the homes; the data of an earlier start stay."""
    ports = [None] * count if port is None else [port + offset for offset in range(count)]
    free = free_ports([*ports, *[None] * count])
    http_ports, transport_ports = free[:count], free[count:]
    shared = _discovery(transport_ports) | (security_settings() if security else {})
    scheme = "https" if security else "http"
    nodes = []
    for name, *own_ports in zip(_names(count), http_ports, transport_ports, strict=True):
        own = {"node.name": name, "http.port": own_ports[0], "transport.port": own_ports[1]}
        _write_home(folder / name, layout, shared | own, security)
        url = f"{scheme}://{HOST}:{own_ports[0]}"
        nodes.append(Node(name, folder / name, layout, url, heap_mb))
    return tuple(nodes)


def _names(count: int) -> list[str]:
    return [f"node-{number}" for number in range(1, count + 1)]


def _discovery(transport_ports: list[int]) -> dict[str, object]:
    """Settings of the whole cluster.

    The disk watermarks are off, so that a disk that is almost full does not fail a test; a test of
    them sets `cluster.routing.allocation.disk.threshold_enabled` to true.
    """
    settings: dict[str, object] = {
        "cluster.name": "footnote",
        "network.host": HOST,
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }
    if len(transport_ports) == 1:
        return settings | {"discovery.type": "single-node"}
    return settings | {
        "discovery.seed_hosts": [f"{HOST}:{port}" for port in transport_ports],
        "cluster.initial_cluster_manager_nodes": _names(len(transport_ports)),
    }


def _write_home(
    home: Path, layout: Path, settings: Mapping[str, object], security: Security | None
) -> None:
    """Configuration and links are new with every start; only `data` and the log remain."""
    for name in ("config", "plugins", "tmp"):
        shutil.rmtree(home / name, ignore_errors=True)
        (home / name).mkdir(parents=True)
    (home / "modules").unlink(missing_ok=True)
    (home / "modules").symlink_to(layout / "modules")
    plugins = (*SEARCH_PLUGINS, SECURITY_PLUGIN) if security else SEARCH_PLUGINS
    for name in plugins:
        (home / "plugins" / name).symlink_to(layout / "plugins" / name)
    # JSON is valid YAML.
    text = json.dumps(dict(settings) | {"path.data": str(home / "data")}, indent=1)
    (home / "config" / "opensearch.yml").write_text(text, encoding="utf-8")
    if security:
        place_security(security, home / "config", layout)


def free_ports(ports: list[int | None]) -> list[int]:
    """Different ports, free at this moment: each number as requested, any port for None."""
    with ExitStack() as stack:
        return [_hold_port(port, stack) for port in ports]


def _hold_port(port: int | None, stack: ExitStack) -> int:
    """Hold a port until the stack closes, so that it is not chosen twice."""
    if port is not None:
        stack.enter_context(_bound(port))
        return port
    for candidate in random.sample(PORTS, 100):
        with suppress(OpenSearchError):
            stack.enter_context(_bound(candidate))
            return candidate
    raise OpenSearchError(f"no free port between {PORTS[0]} and {PORTS[-1]}")


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise OpenSearchError(f"port {port} is in use; choose another one") from error
    return bound
