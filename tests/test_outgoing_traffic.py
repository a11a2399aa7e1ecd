"""The program makes no outgoing calls: it runs in a network that records them."""

import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from domain import ApiScope
from tests.fakes.command_line import ROOT, CommandLine
from tests.fakes.cross_encoder import write_cross_encoder
from tests.fakes.mcp_clients import WAIT_S, connected, over_stdio
from tests.fakes.openai import MODEL, serving
from tests.fakes.openai_wire import Text
from tests.fakes.outside import recorded
from tests.fakes.page_session import open_from_another_site, open_start_page, wait_for_pages
from tests.servers import free_port, wait_for_imports

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux network namespaces")

QUESTION = "How many days of annual leave do new employees get?"
ANSWER = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
OPEN_TO_TELEMETRY = {
    "ORT_DISABLE_TELEMETRY": "0",
    "HF_HUB_DISABLE_TELEMETRY": "0",
    "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true",
    "LANGSMITH_TRACING": "true",
    "LANGCHAIN_TRACING_V2": "true",
}
"""Variables that a machine may have set for other programs."""


@pytest.fixture
def outside():
    with recorded() as calls:
        yield calls


@pytest.fixture
def line(tmp_path):
    """Commands in that network, with a reranker whose files are present."""
    home = tmp_path / "home"
    home.mkdir()
    reranker = write_cross_encoder(tmp_path / "reranker", ["annual", "leave", "days"])
    reranking = {"FOOTNOTE_RERANK_PROVIDER": "fastembed", "FOOTNOTE_RERANK_PATH": reranker}
    return CommandLine(tmp_path / "data", home, OPEN_TO_TELEMETRY | reranking)


@contextmanager
def running(line, *command):
    """A process that is stopped with a signal after the block."""
    with subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=line.home,
        env=line.environ(PYTHONUNBUFFERED="1", PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(WAIT_S)


def free_address():
    return f"localhost:{free_port()}"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_program_makes_no_outgoing_calls(outside, line, handbook):
    address = free_address()
    with running(line, ROOT / "cli.py", "serve", "--port", address.partition(":")[2]):
        wait_for_pages(address)
        open_start_page(address)
        open_from_another_site(address)
        wait_for_imports(line.data_dir)
        line.run("import", handbook)
        line.run("search", QUESTION)
        ask_with_a_chat_model(line)
        use_api(line, handbook.parent / "more")
        use_mcp(line)
    assert outside.calls() == []
    assert list(line.home.rglob("*")) == [], "no telemetry is queued there"


@pytest.mark.slow
def test_pages_on_every_interface_make_no_outgoing_calls(outside, line):
    """Streamlit would print the external address, which it looks up on the internet."""
    address = free_address()
    options = ("--server.address=0.0.0.0", f"--server.port={address.partition(':')[2]}")
    with running(line, "-m", "commands.pages_process", *options):
        wait_for_pages(address)
        open_start_page(address)
    assert outside.calls() == []


def ask_with_a_chat_model(line):
    with serving() as model:
        model.answer = lambda _body: Text(ANSWER)
        model_settings = {"OPENAI_BASE_URL": model.url, "FOOTNOTE_CHAT_MODEL": MODEL}
        result = line.run("ask", QUESTION, **model_settings)
        assert "found in the document: Leave policy" in result.stdout


def use_api(line, folder):
    """Let the worker of `serve` import a folder, and ask about it."""
    folder.mkdir()
    (folder / "parking.md").write_text("# Parking\n\nAsk for a parking permit at the desk.\n")
    scopes = [part for scope in ApiScope for part in ("--scope", scope)]
    key = line.run("api-key", "create", "test", *scopes).stdout.strip()
    with running(line, ROOT / "cli.py", "api", "--port", "0") as process:
        url = process.stdout.readline().split()[4]
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=url, headers=headers, timeout=WAIT_S) as api:
            request = {"kind": "directory", "fields": {"path": str(folder)}}
            source = api.post("/sources", json=request).json()["source"]["id"]
            job = api.post(f"/sources/{source}/import").json()["id"]
            api.get(f"/imports/{job}/events")  # exits after the import
            answer = api.post("/ask", json={"question": "Where do I get a parking permit?"})
            assert "permit at the desk" in answer.text


def use_mcp(line):
    with connected(over_stdio(line)) as client:
        assert "25 days" in str(client.call("ask_documents", question=QUESTION))
