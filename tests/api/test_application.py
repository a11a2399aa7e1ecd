import json

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from api.problems import MEDIA_TYPE
from errors import StorageError
from tests.api.conftest import bearer
from tests.fakes.openai import Text

LIBRARY = "/api/v1/library"
ORIGIN = "https://wiki.example.com"
ASKED = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}


@pytest.fixture
def client_of(build_services):
    def build(**settings):
        services = build_services(**settings)
        return TestClient(make_app(services), headers=bearer(services))

    return build


def test_nobody_keeps_or_reinterprets_an_answer(client_of):
    for path in (LIBRARY, "/api/v1/health", "/nowhere"):
        headers = client_of().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "set-cookie" not in headers


def test_an_address_that_is_none_is_a_problem(client_of):
    for path in ("/", "/api/v1/nothing", "/api/v1/library/", "/docs", "/redoc"):
        answer = client_of().get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, MEDIA_TYPE)


def test_a_method_that_is_none_is_told_the_others(client_of):
    answer = client_of().delete(LIBRARY)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), (LIBRARY, 405)])
def test_paths_and_methods_are_checked_before_the_key(client_of, path, status):
    client = client_of()
    del client.headers["Authorization"]
    assert client.delete(path).status_code == status
    assert client.get(LIBRARY, params={"unknown": "1"}).status_code == 401


def query_parameters(client):
    """Of each operation, by method and path: the names of its query parameters."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    return {
        (method.upper(), path): [
            one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"
        ]
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def test_each_operation_knows_the_parameters_that_are_described_and_no_others(client_of):
    client = client_of()
    described = query_parameters(client)
    assert sum(map(len, described.values())) > 10
    for (method, path), names in described.items():
        if path.startswith("/api/v1/"):
            answer = client.request(method, path, params={"colour": "red"})
            assert answer.status_code == 422, path
            known = answer.json()["detail"].removeprefix("Unknown query parameters: colour.")
            assert known == f" Allowed: {', '.join(names) or 'none'}."


def test_clients_of_openai_may_send_parameters_that_others_know(client_of):
    answer = client_of().get("/v1/models", params={"api-version": "2024-10-21"})
    assert answer.status_code == 200


def test_a_name_of_the_host_that_is_not_allowed_leads_nowhere(client_of):
    answer = client_of().get("/api/v1/library/", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["content-type"]) == (403, MEDIA_TYPE)
    assert "FOOTNOTE_ALLOWED_HOSTS" in answer.json()["detail"]
    assert "location" not in answer.headers
    assert "evil" not in answer.text


def test_a_client_of_openai_is_refused_in_the_form_that_it_knows(client_of):
    answer = client_of().get("/v1/models", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert "FOOTNOTE_ALLOWED_HOSTS" in answer.json()["error"]["message"]


def test_a_name_that_is_allowed_is_answered(client_of):
    client = client_of(allowed_hosts="docs.example.com")
    assert client.get(LIBRARY, headers={"Host": "docs.example.com"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "evil.example"}).status_code == 403


def test_any_name_is_answered_where_all_are_allowed_with_a_warning(client_of, caplog):
    client = client_of(allowed_hosts="*")
    assert client.get(LIBRARY, headers={"Host": "whatever.example"}).status_code == 200
    assert "FOOTNOTE_ALLOWED_HOSTS=*" in caplog.text
    assert client.get(LIBRARY, headers={"Origin": "http://evil.example"}).status_code == 403


def test_the_address_that_it_listens_on_is_answered(build_services):
    services = build_services()
    client = TestClient(make_app(services, bound="192.168.1.20"), headers=bearer(services))
    assert client.get(LIBRARY, headers={"Host": "192.168.1.20:8600"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "192.168.1.21:8600"}).status_code == 403


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/ready"])
def test_an_orchestrator_may_ask_by_address_how_it_does(client_of, path):
    client = client_of()
    assert client.get(path, headers={"Host": "10.1.2.3:8600"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "10.1.2.3:8600"}).status_code == 403


def test_pages_of_other_sites_may_not_call_it_unless_that_is_set(client_of):
    client = client_of()
    for answer in (client.get(LIBRARY, headers=ASKED), client.options(LIBRARY, headers=ASKED)):
        assert "access-control-allow-origin" not in answer.headers
        assert answer.status_code == 403
        assert "FOOTNOTE_API_CORS_ORIGINS" in answer.json()["detail"]


def test_pages_of_the_origins_that_are_set_may_call_it(client_of):
    client = client_of(api_cors_origins=f"{ORIGIN}, https://other.example.com")
    asked = client.options(LIBRARY, headers=ASKED)
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == ORIGIN
    answer = client.get(LIBRARY, headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "RateLimit-Remaining" in answer.headers["access-control-expose-headers"]
    refused = client.get(LIBRARY, headers={"Origin": ORIGIN, "Authorization": ""})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == ORIGIN


@pytest.mark.parametrize(
    "origin", ["https://wiki.example.com.evil.org", "http://wiki.example.com", "null"]
)
def test_an_origin_that_only_looks_alike_may_not(client_of, origin):
    answer = client_of(api_cors_origins=ORIGIN).get(LIBRARY, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_pages_of_every_origin_may_call_it_where_that_is_set(client_of):
    client = client_of(api_cors_origins="*")
    assert client.options(LIBRARY, headers=ASKED).status_code == 200
    answer = client.get(LIBRARY, headers={"Origin": "https://any.example"})
    assert answer.headers["access-control-allow-origin"] == "*"


def test_a_library_that_cant_be_read_is_not_ready_and_says_so_in_the_log(
    build_services, monkeypatch, caplog
):
    services = build_services()

    def broken():
        raise StorageError("the folder /secret/place is gone")

    monkeypatch.setattr(services.library.__class__, "open_index", lambda self: broken())
    answer = TestClient(make_app(services)).get("/api/v1/ready")
    assert answer.status_code == 503
    assert answer.json()["retryable"] is True
    assert "/secret/place" not in answer.text
    assert "/secret/place" in caplog.text


def test_a_request_its_question_and_what_it_sends_share_an_id(client_of, model_server, capsys):
    model_server.will(Text("I don't know."))
    client = client_of(chat=True, embed=True, log_level="debug", log_format="json")
    answer = client.post(
        "/api/v1/ask", json={"question": "Is it?"}, headers={"X-Request-ID": "gateway-7"}
    )
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    events = {line["event"] for line in lines if line.get("request_id") == "gateway-7"}
    assert answer.headers["x-request-id"] == "gateway-7"
    assert events >= {"request", "question complete", "outgoing request"}
