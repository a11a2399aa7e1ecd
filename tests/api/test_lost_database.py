"""The API while the PostgreSQL server of its ledger is not running."""

import pytest
from fastapi.testclient import TestClient

import bootstrap
from api.application import make_app
from api.problems import Problem
from tests.api.conftest import bearer
from tests.postgresql.server import PASSWORD, server

pytestmark = pytest.mark.postgresql


def test_requests_fail_while_the_server_is_stopped_and_then_succeed_again(
    postgresql_server, make_settings
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
        assert "check that the PostgreSQL server is running" in problem.detail
        assert PASSWORD not in problem.detail
        assert client.get("/readyz").status_code == 503
        own.start()
        assert client.get("/api/v1/documents").status_code == 200
        services.parts.database.close()
