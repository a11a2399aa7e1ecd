"""Two of each process, isolated as containers are, over PostgreSQL, OpenSearch, and one volume."""

import time
from contextlib import ExitStack, suppress

import httpx
import pytest

from tests.deploy.containers import (
    Containers,
    copy_program,
    missing_programs,
    service_variables,
    stop,
)
from tests.fakes.page_session import open_start_page, wait_for_pages
from tests.servers import free_port

pytestmark = [pytest.mark.slow, pytest.mark.opensearch, pytest.mark.postgresql]

WAIT_S = 60
INTERRUPTED = 130
TEXTS = {
    "parking.md": "# Parking\n\nVisitors park on level 2. Ask the front desk for a ticket.\n",
    "lockers.md": "# Lockers\n\nLockers on level 3 cost five euros per month.\n",
}


@pytest.fixture
def containers(tmp_path, postgresql_server, opensearch, index_name):
    """Containers with the variables of the compose file, whose values are those of this test."""
    if problem := missing_programs():
        pytest.skip(problem)
    database = index_name.replace("-", "_")
    postgresql_server.execute(f"CREATE DATABASE {database}")
    variables = service_variables(postgresql_server, database, opensearch.url)
    program, volume = tmp_path / "program", tmp_path / "volume"
    copy_program(program)
    volume.mkdir()
    yield Containers(program, volume, {**variables, "FOOTNOTE_SEARCH_INDEX": index_name})
    postgresql_server.execute(f"DROP DATABASE {database} WITH (FORCE)")


def wait_for(address):
    answer, deadline = None, time.monotonic() + WAIT_S
    while answer is None or answer.status_code != 200:
        assert time.monotonic() < deadline, answer and answer.text
        time.sleep(0.2)
        with suppress(httpx.TransportError):
            answer = httpx.get(address, timeout=10)


def upload(api, name):
    """Upload one of the texts, and wait until a worker has imported it."""
    files = {"files": (name, TEXTS[name].encode())}
    answer = api.post("/uploads", params={"box": name}, files=files)
    answer.raise_for_status()
    run, deadline = answer.json()["queued"]["id"], time.monotonic() + WAIT_S
    while not (state := api.get(f"/imports/{run}").json())["ended"]:
        assert time.monotonic() < deadline, state
        time.sleep(0.5)
    assert state["state"] == "completed", state


def quotes(api, question):
    answer = api.post("/ask", json={"question": question})
    answer.raise_for_status()
    citations = answer.json()["citations"]
    assert {one["state"] for one in citations} == {"verified"}
    return " ".join(one["quote"] for one in citations)


def client(port, key):
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=headers, timeout=WAIT_S)


@pytest.mark.timeout(900)
def test_isolated_processes_share_a_library(containers):
    command = ("python", "cli.py", "api-key", "create", "test")
    key = containers.run(*command, "--scope", "read", "--scope", "ask", "--scope", "manage").strip()
    with ExitStack() as stack:
        ports = {
            (program, number): free_port()
            for program in ("pages", "api", "worker")
            for number in (1, 2)
        }
        running = {
            one: stack.enter_context(containers.serve(*one, port)) for one, port in ports.items()
        }
        apis = [stack.enter_context(client(ports["api", number], key)) for number in (1, 2)]
        for number in (1, 2):
            wait_for(f"http://127.0.0.1:{ports['api', number]}/readyz")
            wait_for(f"http://127.0.0.1:{ports['worker', number]}/metrics")

        upload(apis[0], "parking.md")
        assert "level 2" in quotes(apis[1], "Where do visitors park?")
        for number in (1, 2):
            wait_for_pages(f"127.0.0.1:{ports['pages', number]}")
            open_start_page(f"127.0.0.1:{ports['pages', number]}")

        running.pop(("worker", 1)).kill()
        upload(apis[1], "lockers.md")
        assert "five euros" in quotes(apis[0], "How much do lockers cost?")

        ends = {one: stop(process) for one, process in running.items()}
    assert {*ends.values()} <= {0, INTERRUPTED}, ends
    assert {path.name for path in containers.volume.iterdir()} == {"data"}
    assert not (containers.volume / "data" / "footnote.db").exists()
    assert not (containers.volume / "data" / "encryption.key").exists()
    assert not (containers.volume / "data" / "indexes").exists()
