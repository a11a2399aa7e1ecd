import json

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from api.problems import MEDIA_TYPE
from domain.errors import StorageError
from tests.api.conftest import bearer
from tests.fakes.openai import Text

LIBRARY = "/api/v1/library"
ORIGIN = "https://wiki.example.com"
PREFLIGHT = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}


@pytest.fixture
def client_of(build_services):
    def build(**settings):
        services = build_services(**settings)
        return TestClient(make_app(services), headers=bearer(services))

    return build


def test_responses_are_neither_cached_nor_sniffed(client_of):
    for path in (LIBRARY, "/api/v1/health", "/nowhere"):
        headers = client_of().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "set-cookie" not in headers


def test_an_unknown_path_returns_a_problem(client_of):
    for path in ("/", "/api/v1/nothing", "/api/v1/library/", "/docs", "/redoc"):
        answer = client_of().get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, MEDIA_TYPE)


def test_an_unsupported_method_returns_the_allowed_methods(client_of):
    answer = client_of().delete(LIBRARY)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), (LIBRARY, 405)])
def test_paths_and_methods_are_checked_before_the_key(client_of, path, status):
    client = client_of()
    del client.headers["Authorization"]
    assert client.delete(path).status_code == status
    assert client.get(LIBRARY, params={"unknown": "1"}).status_code == 401


def query_parameters(client):
    """The names of each operation's query parameters, by method and path."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    return {
        (method.upper(), path): [
            one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"
        ]
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def test_each_operation_accepts_only_its_documented_query_parameters(client_of):
    client = client_of()
    documented = query_parameters(client)
    assert sum(map(len, documented.values())) > 10
    for (method, path), names in documented.items():
        if path.startswith("/api/v1/"):
            answer = client.request(method, path, params={"colour": "red"})
            assert answer.status_code == 422, path
            known = answer.json()["detail"].removeprefix("Unknown query parameters: colour.")
            assert known == f" Allowed: {', '.join(names) or 'none'}."


def test_openai_paths_accept_unknown_query_parameters(client_of):
    answer = client_of().get("/v1/models", params={"api-version": "2024-10-21"})
    assert answer.status_code == 200


def test_a_host_that_is_not_allowed_is_rejected_without_a_redirect(client_of):
    answer = client_of().get("/api/v1/library/", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["content-type"]) == (403, MEDIA_TYPE)
    assert "FOOTNOTE_ALLOWED_HOSTS" in answer.json()["detail"]
    assert "location" not in answer.headers
    assert "evil" not in answer.text


def test_openai_paths_reject_hosts_with_errors_in_the_format_of_openai(client_of):
    answer = client_of().get("/v1/models", headers={"Host": "evil.example"})
    assert answer.status_code == 403
    assert "FOOTNOTE_ALLOWED_HOSTS" in answer.json()["error"]["message"]


def test_an_allowed_host_is_accepted(client_of):
    client = client_of(allowed_hosts="docs.example.com")
    assert client.get(LIBRARY, headers={"Host": "docs.example.com"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "evil.example"}).status_code == 403


def test_every_host_is_accepted_with_a_warning_if_all_are_allowed(client_of, caplog):
    client = client_of(allowed_hosts="*")
    assert client.get(LIBRARY, headers={"Host": "whatever.example"}).status_code == 200
    assert "FOOTNOTE_ALLOWED_HOSTS=*" in caplog.text
    assert client.get(LIBRARY, headers={"Origin": "http://evil.example"}).status_code == 403


def test_the_address_of_the_server_is_accepted_as_a_host(build_services):
    services = build_services()
    client = TestClient(make_app(services, bound="192.168.1.20"), headers=bearer(services))
    assert client.get(LIBRARY, headers={"Host": "192.168.1.20:8600"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "192.168.1.21:8600"}).status_code == 403


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/ready"])
def test_health_checks_accept_any_host(client_of, path):
    client = client_of()
    assert client.get(path, headers={"Host": "10.1.2.3:8600"}).status_code == 200
    assert client.get(LIBRARY, headers={"Host": "10.1.2.3:8600"}).status_code == 403


def test_cross_origin_requests_are_rejected_by_default(client_of):
    client = client_of()
    for answer in (
        client.get(LIBRARY, headers=PREFLIGHT),
        client.options(LIBRARY, headers=PREFLIGHT),
    ):
        assert "access-control-allow-origin" not in answer.headers
        assert answer.status_code == 403
        assert "FOOTNOTE_API_CORS_ORIGINS" in answer.json()["detail"]


def test_cross_origin_requests_from_configured_origins_are_accepted(client_of):
    client = client_of(api_cors_origins=f"{ORIGIN}, https://other.example.com")
    preflight = client.options(LIBRARY, headers=PREFLIGHT)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    answer = client.get(LIBRARY, headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "RateLimit-Remaining" in answer.headers["access-control-expose-headers"]
    unauthorized = client.get(LIBRARY, headers={"Origin": ORIGIN, "Authorization": ""})
    assert unauthorized.status_code == 401
    assert unauthorized.headers["access-control-allow-origin"] == ORIGIN


# What OpenAI's JavaScript client sends, and what docs/api.md describes.
BROWSER_HEADERS = (
    "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-os,"
    "x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,"
    "x-stainless-runtime-version,x-stainless-timeout,x-request-id"
)


def test_pages_of_configured_origins_may_send_the_headers_of_any_client(client_of):
    client = client_of(api_cors_origins=ORIGIN)
    preflight = {**PREFLIGHT, "Access-Control-Request-Headers": BROWSER_HEADERS}
    answer = client.options("/v1/chat/completions", headers=preflight)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-headers"] == BROWSER_HEADERS
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "access-control-allow-credentials" not in answer.headers
    other = client.options(LIBRARY, headers={**preflight, "Origin": "https://other.example.com"})
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    "origin", ["https://wiki.example.com.evil.org", "http://wiki.example.com", "null"]
)
def test_origins_that_only_resemble_a_configured_one_are_rejected(client_of, origin):
    answer = client_of(api_cors_origins=ORIGIN).get(LIBRARY, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_cross_origin_requests_from_all_origins_are_accepted_if_configured(client_of):
    client = client_of(api_cors_origins="*")
    assert client.options(LIBRARY, headers=PREFLIGHT).status_code == 200
    answer = client.get(LIBRARY, headers={"Origin": "https://any.example"})
    assert answer.headers["access-control-allow-origin"] == "*"


def test_an_unreadable_library_is_not_ready_and_the_reason_is_logged(
    build_services, monkeypatch, caplog
):
    services = build_services()

    def fail():
        raise StorageError("the folder /secret/place is gone")

    monkeypatch.setattr(services.library.__class__, "open_index", lambda self: fail())
    answer = TestClient(make_app(services)).get("/api/v1/ready")
    assert answer.status_code == 503
    assert answer.json()["retryable"] is True
    assert "/secret/place" not in answer.text
    assert caplog.records[-1].fields["reason"] == "the folder /secret/place is gone"


def test_a_request_its_question_and_its_outgoing_requests_share_an_id(
    client_of, model_server, capsys
):
    model_server.will(Text("I don't know."))
    client = client_of(chat=True, embed=True, log_level="debug", log_format="json")
    answer = client.post(
        "/api/v1/ask", json={"question": "Is it?"}, headers={"X-Request-ID": "gateway-7"}
    )
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    events = {line["event"] for line in lines if line.get("request_id") == "gateway-7"}
    assert answer.headers["x-request-id"] == "gateway-7"
    assert events >= {"request", "question complete", "outgoing request"}
