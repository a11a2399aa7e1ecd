"""The API exposes metrics for Prometheus to keys with the scope `metrics`."""

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api.application import make_app
from domain import ApiScope
from tests.api.conftest import bearer


def test_the_current_state_is_in_the_format_of_prometheus(build_client):
    response = build_client().get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {one.name: one for one in text_string_to_metric_families(response.text)}
    assert families["footnote_documents"].samples[0].value == 4
    assert families["footnote_disk_free_bytes"].samples[0].value > 0
    runs = {one.labels["state"]: one.value for one in families["footnote_import_runs"].samples}
    assert runs["completed"] == 1
    assert sum(runs.values()) == 1


@pytest.mark.parametrize("scope", [ApiScope.READ, ApiScope.ASK, ApiScope.MANAGE])
def test_a_key_without_the_scope_metrics_is_rejected(imported, scope):
    services = imported()
    client = TestClient(make_app(services), headers=bearer(services, scope))
    assert client.get("/metrics").status_code == 403


def test_metrics_require_a_key(imported):
    assert TestClient(make_app(imported())).get("/metrics").status_code == 401
