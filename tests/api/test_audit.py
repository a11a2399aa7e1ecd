"""The audit log over the API."""

from dataclasses import replace

import pytest

from domain import LOCAL_USER, Action, Role
from services.caller_service import CallerService

AUDIT = "/api/v1/audit"


@pytest.fixture
def client(build_client):
    return build_client()


@pytest.fixture
def administrator(client, monkeypatch):
    """The client, whose bearer token is that of an administrator."""
    caller_of = CallerService.caller

    def caller(self, secret):
        found = caller_of(self, secret)
        return replace(found, principal=replace(found.principal, role=Role.ADMIN))

    monkeypatch.setattr(CallerService, "caller", caller)
    return client


def test_an_administrator_reads_the_log_page_by_page(administrator):
    for number in range(3):
        administrator.services.audit.record(LOCAL_USER, Action.SETTINGS_CHANGED, str(number))
    parameters = {"action": "settings.changed", "limit": 2, "days": 1}
    first = administrator.get(AUDIT, params=parameters).json()
    assert [event["object_id"] for event in first["items"]] == ["2", "1"]
    assert first["items"][0]["actor"] == "local"
    second = administrator.get(AUDIT, params={**parameters, "before": first["next_before"]}).json()
    assert [event["object_id"] for event in second["items"]] == ["0"]
    assert second["next_before"] is None


def test_an_unknown_action_is_rejected(administrator):
    assert administrator.get(AUDIT, params={"action": "source.eaten"}).status_code == 422


def test_a_key_can_not_read_the_log(client):
    answer = client.get(AUDIT)
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:footnote:forbidden")
