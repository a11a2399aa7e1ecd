"""Two of each process, isolated as containers are, over PostgreSQL, OpenSearch, and one volume."""

from contextlib import ExitStack

import pytest

from tests.deploy.clients import client, quotes, upload, wait_for
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

INTERRUPTED = 130


@pytest.fixture
def containers(tmp_path, postgresql_server, database, opensearch, index_name):
    """Containers with the variables of the compose file, whose values are those of this test."""
    if problem := missing_programs():
        pytest.skip(problem)
    variables = service_variables(postgresql_server, database, opensearch.url)
    program, volume = tmp_path / "program", tmp_path / "volume"
    copy_program(program)
    volume.mkdir()
    return Containers(program, volume, {**variables, "FOOTNOTE_SEARCH_INDEX": index_name})


@pytest.mark.timeout(900)
def test_isolated_processes_share_a_library(containers):
    key = containers.create_key()
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
