"""Readers of sources and collections over the API, and explanations of access."""

import pytest

from domain import LOCAL_USER, ApiScope, DocumentFilter, Principal
from tests.api.conftest import bearer

pytestmark = pytest.mark.usefixtures("ledger_kind")

API = "/api/v1"
NEEDS_ADMIN = "This needs the role admin, and you have the role editor: ask an administrator."


@pytest.fixture
def client(build_client):
    client = build_client()
    [status] = client.services.sources.list(LOCAL_USER)
    client.source = status.source
    page = client.services.documents.page(LOCAL_USER, DocumentFilter("휴가"))
    client.document = page.documents[0].id
    return client


def test_an_editor_sees_the_readers_of_a_source_and_of_its_collection(client):
    permissions, source = client.services.permissions, client.source
    readers = f"{API}/sources/{source.id}/readers"
    assert client.get(readers).json() == {"readers": None}
    permissions.set_readers(LOCAL_USER, source.id, ["user:local", "group:hr"])
    permissions.set_collection_readers(LOCAL_USER, source.collection, ["user:local"])
    assert client.get(readers).json() == {"readers": ["group:hr", "user:local"]}
    answer = client.get(f"{API}/collections/{source.collection}/readers")
    assert answer.json() == {"readers": ["user:local"]}


def test_a_source_that_the_key_may_not_read_is_not_found(client):
    source = client.source.id
    client.services.permissions.set_readers(LOCAL_USER, source, ["group:hr"])
    for path in (
        f"sources/{source}/readers",
        f"collections/{client.source.collection}/readers",
        f"documents/{client.document}/access",
    ):
        answer = client.get(f"{API}/{path}")
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:footnote:not-found")


def test_a_key_can_not_change_readers(client):
    for path in (
        f"sources/{client.source.id}/readers",
        f"collections/{client.source.collection}/readers",
    ):
        answer = client.put(f"{API}/{path}", json={"readers": ["group:hr"]})
        assert (answer.status_code, answer.json()["detail"]) == (403, NEEDS_ADMIN)
        assert answer.json()["type"] == "urn:footnote:forbidden"
        assert client.get(f"{API}/{path}").json() == {"readers": None}


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "body.readers: "),
        ({"readers": "group:hr"}, "body.readers"),
        ({"readers": ["hr"]}, "It is not a reader: use user:ID, group:NAME"),
        ({"readers": ["group: "]}, "It is not a reader: use user:ID, group:NAME"),
        ({"readers": ["email:anna"]}, "It is not a reader: use user:ID, group:NAME"),
        ({"readers": ["group:" + "x" * 300]}, "body.readers"),
        ({"readers": [], "other": 1}, "body.other"),
    ],
)
def test_malformed_readers_are_rejected(client, body, detail):
    answer = client.put(f"{API}/sources/{client.source.id}/readers", json=body)
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]


def test_the_collection_may_contain_slashes(client):
    options = {"collection": "HR/Leave"}
    client.services._sources.ensure("directory", "/leave", name="leave", options=options)
    assert client.get(f"{API}/collections/HR%2FLeave/readers").json() == {"readers": None}


def test_why_a_user_may_read_a_document_is_explained(client):
    path, permissions = f"{API}/documents/{client.document}/access", client.services.permissions
    answer = client.get(path, params={"user": "anna"}).json()
    assert (answer["is_readable"], answer["rule"], answer["readers"]) == (
        True,
        "no_restriction",
        [],
    )
    permissions.set_readers(LOCAL_USER, client.source.id, ["group:hr", "user:local"])
    answer = client.get(path, params={"user": "anna", "group": ["staff", "it"]}).json()
    assert answer == {
        "is_readable": False,
        "rule": "source",
        "message": "Hidden: only group:hr, user:local may read the source handbook.",
        "readers": ["group:hr", "user:local"],
    }
    params = {"user": "anna", "email": "Anna@Example.com"}
    for reader in ("domain:example.com", "email:anna@example.com"):
        permissions.set_readers(LOCAL_USER, client.source.id, [reader, "group:hr", "user:local"])
        assert client.get(path, params=params).json()["readers"] == [reader]
    answer = client.get(path, params={"user": "anna", "group": ["staff", "hr"]}).json()
    assert (answer["is_readable"], answer["readers"]) == (True, ["group:hr"])


def test_a_key_without_the_scope_manage_sees_no_permissions(client):
    headers = bearer(client.services, ApiScope.READ, ApiScope.ASK, principal=Principal("anna"))
    answer = client.get(f"{API}/sources/{client.source.id}/readers", headers=headers)
    assert answer.status_code == 403
    assert "`manage`" in answer.json()["detail"]
