"""The API while the PostgreSQL server of its ledger is not running."""

import pytest
from fastapi.testclient import TestClient
from mcp import MCPError

import bootstrap
from api.application import make_app
from api.mcp.mcp_prompts import ASK
from api.mcp.mcp_resources import address_of
from api.mcp.mcp_server import make_mcp_app, make_mcp_server
from api.problems import Problem
from domain import LOCAL_USER
from domain.web.host_policy import HostPolicy, parse_hosts
from tests.api.conftest import bearer
from tests.fakes.mcp_clients import connected
from tests.postgresql.server import PASSWORD, USER, server

pytestmark = pytest.mark.postgresql

PUBLIC = "The database of this library can't be used at the moment: try again later."
QUESTION = {"role": "user", "content": "How many days?"}
CALLS = [
    ("GET", "/api/v1/documents", None),
    ("POST", "/api/v1/search", {"query": "leave"}),
    ("POST", "/api/v1/ask", {"question": "How many days?"}),
    ("POST", "/api/v1/ask", {"question": "How many days?", "stream": True}),
    ("GET", "/v1/models", None),
    ("POST", "/v1/chat/completions", {"model": "footnote", "messages": [QUESTION]}),
    ("POST", "/v1/responses", {"model": "footnote", "input": "How many days?"}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
]
TOOLS = [
    ("search_documents", {"query": "leave"}),
    ("ask_documents", {"question": "How many days?"}),
    ("list_sources", {}),
]


@pytest.fixture
def lost(postgresql_server, make_settings):
    """Services, clients of them by the beginning of the path, and the port of their database.

    The database has been stopped.
    """
    with server() as own:
        services = bootstrap.build_services(make_settings(database_url=own.url("postgres")))
        headers = bearer(services)
        api = TestClient(make_app(services), headers=headers)
        policy = HostPolicy(parse_hosts(["testserver"], "hosts"))
        mcp = TestClient(make_mcp_app(services, policy), headers=headers)
        assert api.get("/api/v1/documents").status_code == 200  # loads what does not change
        own.stop()
        yield services, {"/api": api, "/v1/": api, "/mcp": mcp}, own.port
        services.parts.database.close()


def test_no_reply_to_an_agent_tells_where_the_database_is(lost, capsys):
    services, _clients, port = lost
    with connected(make_mcp_server(services, LOCAL_USER)) as client:
        capsys.readouterr()
        replies = [str(client.call(tool, **arguments)) for tool, arguments in TOOLS]
        for method, *arguments in (
            ("list_resources",),
            ("read_resource", address_of("x")),
            ("get_prompt", ASK, {"question": "How many days?"}),
        ):
            with pytest.raises(MCPError) as caught:
                client.ask(method, *arguments)
            replies.append(str(caught.value))
    for reply in replies:
        assert PUBLIC in reply
        assert "127.0.0.1" not in reply
        assert str(port) not in reply
    assert f"127.0.0.1:{port}/postgres can't be used" in capsys.readouterr().err


def test_no_response_tells_where_the_database_is_but_the_log_does(lost, capsys):
    _services, clients, port = lost
    for method, path, body in CALLS:
        capsys.readouterr()
        answer = clients[path[:4]].request(method, path, json=body)
        assert answer.status_code == 503, path
        assert PUBLIC in answer.text
        for secret in (USER + ":*", "127.0.0.1", str(port), "FOOTNOTE_DATABASE_URL"):
            assert secret not in answer.text, path
        log = capsys.readouterr().err
        assert log.count("storage failed") == 1, path
        assert f"127.0.0.1:{port}/postgres can't be used" in log
        assert PASSWORD not in log


def test_requests_fail_while_the_server_is_stopped_and_then_succeed_again(
    postgresql_server, make_settings, capsys
):
    with server() as own:
        services = bootstrap.build_services(make_settings(database_url=own.url("postgres")))
        client = TestClient(make_app(services), headers=bearer(services))
        assert client.get("/api/v1/documents").json()["total"] == 0
        own.stop()
        answer = client.get("/api/v1/documents")
        problem = Problem.model_validate(answer.json())
        assert answer.status_code == problem.status == 503
        assert problem.retryable
        assert PUBLIC in problem.detail
        assert "check that the PostgreSQL server is running" in capsys.readouterr().err
        assert client.get("/readyz").status_code == 503
        own.start()
        assert client.get("/api/v1/documents").status_code == 200
        services.parts.database.close()
