"""Two of each server on one data folder, and imports by several processes at once."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from domain import LOCAL_USER, ImportState
from tests.fakes.openai import EMBEDDING_MODEL
from tests.imported_library import write_handbook
from tests.servers import served, wait_for_imports

KINDS = ("serve", "api", "mcp")
TIMEOUT_S = 120


@pytest.fixture
def line(line, model_server):
    """Commands whose passages are embedded by the scripted server."""
    line.environment |= {
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": model_server.url,
    }
    return line


def import_at_once(line, folders):
    """The exit codes and the messages of as many processes."""
    processes = [
        subprocess.Popen(
            line.command("import", folder),
            cwd=line.home,
            env=line.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for folder in folders
    ]
    outputs = [process.communicate(timeout=TIMEOUT_S)[0] for process in processes]
    return [(process.returncode, text) for process, text in zip(processes, outputs, strict=True)]


@pytest.mark.slow
def test_two_servers_of_each_kind_share_a_data_folder(
    line, build_services, documents_folder, model_server
):
    folders = [documents_folder / "one", documents_folder / "two"]
    for folder in folders:
        write_handbook(folder)
    with ExitStack() as stack, ThreadPoolExecutor() as threads:
        servers = list(threads.map(stack.enter_context, (served(one, line) for one in KINDS * 2)))
        wait_for_imports(line.data_dir)
        ends = import_at_once(line, folders)
        assert all(code == 0 or "is writing to" in text for code, text in ends), ends
        for (code, _text), folder in zip(ends, folders, strict=True):
            if code != 0:
                line.run("import", folder)
        answers = [
            server.ask(f"Host: localhost:{server.port}", path=server.health) for server in servers
        ]
        assert {answer.status for answer in answers} <= {200, 401}
        line.run("check")
    services = build_services(embed=True)
    assert {source.source.name for source in services.sources.list(LOCAL_USER)} == {
        "documents",
        "one",
        "two",
    }
    for source in services.sources.list(LOCAL_USER):
        runs = services.queue.history(LOCAL_USER, source.source.id)
        assert {run.state for run in runs if run.counts} == {ImportState.COMPLETED}
        new = sum(run.counts.get("new", 0) for run in runs)
        assert new == source.figures.documents, "no document is imported twice"
    assert services.maintenance.check(LOCAL_USER).agrees
