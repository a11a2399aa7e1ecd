"""How the servers are set up."""

import gc
from types import SimpleNamespace

import pytest
import uvicorn

from bootstrap import server_metrics
from commands import server_commands
from settings import Settings

OFTEN = (700, 10, 10)
"""Python's own thresholds."""


@pytest.fixture
def configs(monkeypatch):
    """The configurations of the servers that ran."""
    found = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: found.append(self.config))
    monkeypatch.setattr(server_commands, "end", lambda code: None)
    monkeypatch.setattr(server_metrics, "collect_metrics", lambda: None)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    return found


@pytest.fixture
def rare_collections():
    before = gc.get_threshold()
    gc.set_threshold(50_000)
    yield
    gc.set_threshold(*before)


def serve():
    parts = SimpleNamespace(settings=Settings(_env_file=None))
    services = SimpleNamespace(parts=parts, warm_up=lambda: None)
    server_commands.serve_app(services, None, None)


def test_clients_and_proxies_close_idle_connections_before_the_server(configs):
    serve()
    assert configs[0].timeout_keep_alive > 60, "nginx and load balancers of AWS wait for 60 s"


def test_a_server_collects_garbage_often(configs, rare_collections):
    serve()
    assert gc.get_threshold() == OFTEN


def test_a_worker_collects_garbage_often(configs, rare_collections, monkeypatch):
    def open_services(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(server_commands, "open_services", open_services)
    monkeypatch.setattr(server_commands, "lower_priority", lambda: None)
    monkeypatch.setattr(server_commands.signal, "signal", lambda number, handler: None)
    with pytest.raises(KeyboardInterrupt):
        server_commands._work(None)
    assert gc.get_threshold() == OFTEN
