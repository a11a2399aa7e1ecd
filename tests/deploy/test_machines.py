"""Processes on several machines that share PostgreSQL, OpenSearch, and a bucket, but no folder."""

import time
from contextlib import ExitStack

import pytest

from tests.deploy.clients import (
    TEXTS,
    WAIT_S,
    client,
    quotes,
    start_upload,
    upload,
    wait_for,
    wait_for_import,
)
from tests.deploy.containers import Containers, copy_program, missing_programs, service_variables
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, Text
from tests.fakes.page_session import ask, wait_for_pages
from tests.faults.commits import Commits
from tests.servers import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.opensearch,
    pytest.mark.postgresql,
    pytest.mark.s3,
]

NAMES = ("a", "b", "c", "d")
_MODEL_KEY = "sk-of-the-model"
_CHANGE = """
import bootstrap, sys
from domain import LOCAL_USER
url, model, key = sys.argv[1:]
changes = {"openai_base_url": url, "chat_model": model, "openai_api_key": key}
bootstrap.build_services().settings.change(LOCAL_USER, changes)
"""


@pytest.fixture
def machines(
    tmp_path,
    postgresql_server,
    database,
    opensearch,
    index_name,
    s3_server,
    bucket_url,
    model_server,
):
    """Containers by machine: each machine has a volume of its own, and nothing is shared."""
    if problem := missing_programs():
        pytest.skip(problem)
    program = tmp_path / "program"
    copy_program(program)
    variables = {
        **service_variables(postgresql_server, database, opensearch.url),
        "FOOTNOTE_SEARCH_INDEX": index_name,
        "FOOTNOTE_UPLOADS_URL": bucket_url,
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": model_server.url,
        "FOOTNOTE_EMBEDDING_API_KEY": _MODEL_KEY,
        **{f"FOOTNOTE_{name.upper()}": one for name, one in s3_server.settings.items()},
    }
    logs = tmp_path / "logs"
    for folder in (logs, *(tmp_path / name for name in NAMES)):
        folder.mkdir()
    return {name: Containers(program, tmp_path / name, variables, logs) for name in NAMES}


def _texts():
    rooms = {
        f"room{number:02}.md": f"# Room {number}\n\nIt has {number} seats." for number in range(8)
    }
    return {**rooms, "lockers.md": TEXTS["lockers.md"]}


def _answer(_body):
    return Text("“Lockers on level 3 cost five euros per month.” [1]")


@pytest.mark.timeout(600)
def test_machines_share_a_library_but_no_folder(
    machines, model_server, postgresql_server, database
):
    key = machines["a"].create_key()
    commits = Commits(postgresql_server, database)
    with ExitStack() as stack:

        def start(program, name):
            port = free_port()
            machine = machines[name]
            url = f"{machine.variables['FOOTNOTE_DATABASE_URL']}?application_name={program}-{name}"
            started = machine.serve(program, name, port, FOOTNOTE_DATABASE_URL=url)
            process = stack.enter_context(started)
            return port, process

        ports = {name: start("api", name)[0] for name in ("a", "c")}
        pages = start("pages", "d")[0]
        worker_port, worker = start("worker", "b")
        apis = {name: stack.enter_context(client(port, key)) for name, port in ports.items()}
        for port in ports.values():
            wait_for(f"http://127.0.0.1:{port}/readyz")
        wait_for(f"http://127.0.0.1:{worker_port}/metrics")

        upload(apis["a"], "parking.md")
        assert "level 2" in quotes(apis["c"], "Where do visitors park?")
        [document] = apis["c"].get("/documents").json()["items"]
        original = apis["c"].get(f"/documents/{document['id']}/original")
        assert original.text.startswith("# Parking\n\nVisitors park on level 2.")
        wait_for_pages(f"127.0.0.1:{pages}")
        ask(f"127.0.0.1:{pages}", "Where do visitors park?", "found in the document")

        model_server.block("Lockers")
        run = start_upload(apis["c"], "rooms", _texts())
        assert model_server.is_blocking.wait(WAIT_S)
        _port, _other = start("worker", "d")
        worker.kill()
        worker.wait()
        model_server.release()
        wait_for_import(apis["a"], run)
        assert commits.takeovers() == 1
        assert commits.zombies() == commits.repeated_items() == []

        model_server.answer = _answer
        machines["a"].run("python", "-c", _CHANGE, model_server.url, MODEL, _MODEL_KEY)
        time.sleep(1)  # a process reads the settings at most once per second
        answer = apis["c"].post("/ask", json={"question": "How much do lockers cost?"}).json()
        assert answer["model"] == MODEL
        assert [one["state"] for one in answer["citations"]] == ["verified"]
    for name in NAMES:
        names = {path.name for path in (machines[name].volume / "data").iterdir()}
        assert not names & {"settings.json", "encryption.key", "footnote.db", "indexes", "uploads"}
    for name in ("b", "c"):
        assert "all agree" in machines[name].run("python", "cli.py", "check")
