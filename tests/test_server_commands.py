"""How the servers and the worker are set up."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import uvicorn

from bootstrap import server_metrics
from commands import server_commands
from settings import Settings


@pytest.fixture
def calls(monkeypatch):
    """The calls that bound the memory of this process; they have no effect."""
    made = []
    monkeypatch.setattr(server_commands, "bound_memory", lambda: made.append("bound"))
    return made


@pytest.fixture
def configs(monkeypatch):
    """The configurations of the servers that ran."""
    found = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: found.append(self.config))
    monkeypatch.setattr(server_commands, "end", lambda code: None)
    monkeypatch.setattr(server_metrics, "collect_metrics", lambda role: None)
    return found


def serve():
    parts = SimpleNamespace(settings=Settings(_env_file=None))
    services = SimpleNamespace(parts=parts, warm_up=lambda: None)
    server_commands.serve_app(services, None, None, "api")


def test_clients_and_proxies_close_idle_connections_before_the_server(calls, configs):
    serve()
    assert configs[0].timeout_keep_alive > 60, "nginx and load balancers of AWS wait for 60 s"


def test_a_server_bounds_its_memory(calls, configs):
    serve()
    assert calls == ["bound"]


@pytest.mark.parametrize("link", ["https://docs.example.com/?administrator=t", ""])
def test_the_link_for_an_administrator_is_printed_if_there_is_none(link, capsys):
    sign_in = SimpleNamespace(make_administrator_link=lambda now: link)
    server_commands._print_administrator_link(SimpleNamespace(sign_in=sign_in))
    printed = capsys.readouterr().out
    assert printed.endswith(f": {link}\n") if link else not printed


def test_nothing_is_printed_without_sign_in(capsys):
    server_commands._print_administrator_link(SimpleNamespace(sign_in=None))
    assert not capsys.readouterr().out


def test_a_worker_bounds_its_memory(calls, monkeypatch):
    def open_services(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(server_commands, "open_services", open_services)
    monkeypatch.setattr(server_commands.signal, "signal", lambda number, handler: None)
    with pytest.raises(KeyboardInterrupt):
        server_commands._work(None, 0)
    assert calls == ["bound"]


def test_worker_processes_serve_their_metrics_on_consecutive_ports(calls, monkeypatch):
    class Ended(Exception):
        pass

    def open_services(*_arguments, **_options):
        raise Ended

    ports, settings = [], SimpleNamespace(worker_metrics_port=9602)
    monkeypatch.setattr(server_commands, "open_services", open_services)
    monkeypatch.setattr(server_commands.signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(server_commands, "settings_from_options", lambda data_dir: settings)
    monkeypatch.setattr(
        "bootstrap.metrics_server.serve_metrics", lambda role, port, setting: ports.append(port)
    )
    for number in range(2):
        with pytest.raises(Ended):
            server_commands.worker(supervised=True, number=number)
    assert ports == [9602, 9603]


def test_workers_are_supervised_under_numbers(monkeypatch, tmp_path):
    supervised = []
    settings = SimpleNamespace(data_dir=tmp_path)
    services = SimpleNamespace(parts=SimpleNamespace(settings=settings))
    monkeypatch.setattr(server_commands, "open_services", lambda *_, **__: nullcontext(services))
    monkeypatch.setattr(server_commands, "termination_request", lambda: None)
    monkeypatch.setattr(
        server_commands,
        "supervise",
        lambda termination, data_dir, workers: supervised.extend(workers),
    )
    server_commands.worker(processes=2)
    start = ("cli", "worker", "--supervised", "--number")
    assert supervised == [(*start, "0"), (*start, "1")]
