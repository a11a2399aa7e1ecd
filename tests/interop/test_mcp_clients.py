"""MCP clients of other origins, each at a pinned version in its own environment.

Each runs its program in `clients/` once; it calls everything over both transports and prints what
it received.
"""

import json

import pytest

from api.mcp.mcp_resources import TEMPLATE
from api.mcp.mcp_server import INSTRUCTIONS
from tests.api.mcp.documents import key
from tests.api.openai.conversations import ANSWER, QUESTION, QUOTE
from tests.fakes.mcp_clients import serving_mcp
from tests.interop.conftest import PAGES
from tests.interop.programs import INTEROP, node_packages, python_of, run

pytestmark = pytest.mark.slow

PYTHON_CLIENTS = ["mcp-langchain", "mcp-fastmcp"]
NODE_CLIENTS = ["mcp_typescript", "mcp_ai_sdk"]


@pytest.fixture(scope="module", params=[*PYTHON_CLIENTS, *NODE_CLIENTS])
def client(request, served_library):
    """What the client received from each call over each transport."""
    services, line = served_library
    folder = INTEROP / "clients" / request.param.replace("-", "_")
    if request.param in PYTHON_CLIENTS:
        program = [python_of(request.param), "client.py"]
    else:
        program = ["node", "client.mjs"]
        node_packages(f"clients/{request.param}")
    values = {"command": line.command("mcp"), "environment": line.environ(), "question": QUESTION}
    with serving_mcp(services) as url:
        values |= {"url": url, "key": key(services)}
        return json.loads(run([*program, json.dumps(values)], folder))


@pytest.fixture(params=["http", "stdio"])
def received(request, client):
    return client[request.param]


def test_the_server_introduces_itself(received):
    assert (received["server"], received["instructions"]) == ("footnote", INSTRUCTIONS)


def test_tools_prompts_and_documents_are_listed(received):
    tools = ["search_documents", "ask_documents", "open_document", "list_sources"]
    assert received["tools"] == tools
    assert received["prompts"] == ["ask_library", "summarize_document"]
    assert received["resources"] == ["Leave policy", "VPN"]
    assert received["templates"] == [TEMPLATE.uri_template]


def test_a_document_is_read(received):
    assert received["document"] == PAGES["leave.md"]


def test_a_prompt_contains_the_passages_for_the_question(received):
    assert f"Question: {QUESTION}" in received["prompt"]
    assert QUOTE in received["prompt"]


def test_a_search_finds_passages(received):
    passages = received["search"]["passages"]
    assert passages[0]["title"] == "Leave policy"
    assert [passage["n"] for passage in passages] == [1, 2]


def test_an_answer_comes_with_its_citations(received):
    answer = received["ask"]
    assert answer["answer"] == ANSWER
    [citation] = answer["citations"]
    assert (citation["state"], citation["quote"]) == ("verified", QUOTE)
    document = PAGES["leave.md"]
    assert document[citation["start"] : citation["end"]] == QUOTE


def test_names_of_collections_are_completed(received):
    assert received["collections"] == ["handbook"]


def test_a_wrong_argument_is_named(received):
    assert received["wrong argument"].startswith("Failed: ")
    assert "k: " in received["wrong argument"]


def test_a_wrong_key_is_rejected(client):
    # FastMCP reports no status.
    reasons = ("401", "Unauthorized", "invalid_token", "Server returned an error response")
    assert any(reason in client["wrong key"] for reason in reasons)
