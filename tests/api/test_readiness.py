"""A process is ready if a search succeeds in time."""

import asyncio
import threading

import pytest
from fastapi.testclient import TestClient

from api import readiness
from api.application import make_app
from api.readiness import SearchProbe
from domain.errors import StorageError
from services.search.search_service import SearchService

PATHS = ("/readyz", "/api/v1/ready")


@pytest.fixture
def hanging_search(monkeypatch):
    """Makes every search hang until the test ends; contains the number of searches."""
    released, started = threading.Event(), []

    def hang(*_arguments, **_options):
        started.append(1)
        released.wait(60)
        return []

    monkeypatch.setattr(SearchService, "search", hang)
    yield started
    released.set()


@pytest.mark.parametrize("path", ["/healthz", *PATHS])
def test_probes_need_no_key(imported, path):
    assert TestClient(make_app(imported())).get(path).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_monitors_may_send_head_instead_of_get(imported, path):
    client = TestClient(make_app(imported()))
    assert client.head(path).status_code == 200
    assert client.post(path).headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_library_is_ready(build_services, path):
    assert TestClient(make_app(build_services())).get(path).status_code == 200


def test_a_hanging_search_is_not_ready_and_occupies_one_thread(imported, hanging_search):
    app = make_app(imported())
    app.state.probe = SearchProbe(app.state.latest_services.get, limit_s=0.1)
    client = TestClient(app)
    for path in (*PATHS, *PATHS):
        response = client.get(path)
        assert response.status_code == 503
        assert response.json()["retryable"] is True
    assert len(hanging_search) == 1
    assert client.get("/healthz").status_code == 200


def test_a_search_that_recovers_is_ready_again(imported, monkeypatch, caplog):
    client = TestClient(make_app(imported()))
    with monkeypatch.context() as patch:
        patch.setattr(SearchService, "search", _fail)
        assert client.get("/readyz").status_code == 503
        assert client.get("/readyz").status_code == 503
    reasons = [one.fields["reason"] for one in caplog.records if one.message == "not ready"]
    assert reasons == ["the disk is gone"]
    monkeypatch.setattr(readiness, "_REUSED_S", 0)
    assert client.get("/readyz").status_code == 200


def _fail(*_arguments, **_options):
    raise StorageError("the disk is gone")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_search_that_ends_its_thread_is_not_ready(imported, monkeypatch):
    def fail(*_arguments, **_options):
        raise SystemExit

    monkeypatch.setattr(SearchService, "search", fail)
    assert TestClient(make_app(imported())).get("/readyz").status_code == 503


def test_checks_within_two_seconds_share_a_search(imported, monkeypatch):
    searches = []
    monkeypatch.setattr(SearchService, "search", lambda *_, **__: searches.append(1) or [])
    monkeypatch.setattr(readiness, "_REUSED_S", 60)
    client = TestClient(make_app(imported()))
    assert {client.get(path).status_code for path in PATHS * 5} == {200}
    assert len(searches) == 1


def test_a_thread_that_can_not_start_is_not_ready(imported, monkeypatch):
    client = TestClient(make_app(imported()))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _fail_to_start)
        assert not asyncio.run(client.app.state.probe.is_ready())
    monkeypatch.setattr(readiness, "_REUSED_S", 0)
    assert client.get("/readyz").status_code == 200


def _fail_to_start(_thread):
    raise RuntimeError("can't start new thread")


def test_checks_embed_nothing_on_a_server(imported, model_server):
    services = imported(embed=True)
    before = len(model_server.requests)
    assert TestClient(make_app(services)).get("/readyz").status_code == 200
    assert len(model_server.requests) == before
