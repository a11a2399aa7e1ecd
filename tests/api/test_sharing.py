import pytest

from domain import LOCAL_USER, Principal
from tests.api.conftest import bearer

pytestmark = pytest.mark.usefixtures("ledger_kind")

CONVERSATIONS = "/api/v1/conversations"
SHARED = "/api/v1/shared-conversations"
BERT = Principal("bert")
QUESTION = "How many days of annual leave?"


@pytest.fixture
def client(build_client):
    return build_client()


@pytest.fixture
def conversation_id(client):
    answer = client.post("/api/v1/ask", json={"question": QUESTION})
    return answer.json()["conversation_id"]


@pytest.fixture
def reader(client):
    """The headers of another person, who may ask."""
    return bearer(client.services, "ask", principal=BERT)


def test_a_link_is_created_once_read_again_and_removed(client, conversation_id):
    path = f"{CONVERSATIONS}/{conversation_id}/link"
    assert client.get(path).status_code == 404
    link = client.put(path).json()
    assert client.put(path).json() == client.get(path).json() == link
    assert link["address"] == "", "without the address of the pages"
    assert client.delete(path).status_code == client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.put(path).json()["token"] != link["token"]


def test_another_person_follows_the_link_and_cannot_do_more(client, conversation_id, reader):
    token = client.put(f"{CONVERSATIONS}/{conversation_id}/link").json()["token"]
    shared = client.get(f"{SHARED}/{token}", headers=reader).json()
    assert (shared["owner"], shared["title"], shared["withheld"]) == ("local", QUESTION, 0)
    [turn] = shared["turns"]
    assert turn["question"] == QUESTION
    assert turn["citations"][0]["state"] == "verified"
    assert turn["sources"][0]["why"] is None
    assert turn.keys() == {
        "question", "answer", "state", "model", "sources", "citations", "unsupported_sentences",
        "created_at",
    }  # fmt: skip
    path = f"{CONVERSATIONS}/{conversation_id}"
    for method, suffix in (("GET", ""), ("GET", "/link"), ("PUT", "/link"), ("DELETE", "/link")):
        assert client.request(method, f"{path}{suffix}", headers=reader).status_code == 404


def test_a_reader_without_the_documents_gets_neither_questions_nor_the_title(
    client, conversation_id, reader
):
    token = client.put(f"{CONVERSATIONS}/{conversation_id}/link").json()["token"]
    [source] = client.get("/api/v1/sources").json()["items"]
    client.services.permissions.set_readers(LOCAL_USER, source["id"], ["user:local"])
    shared = client.get(f"{SHARED}/{token}", headers=reader).json()
    assert (shared["title"], shared["turns"], shared["withheld"]) == ("", [], 1)
    assert client.get(f"{SHARED}/{token}").json()["withheld"] == 0


def test_an_unknown_link_a_removed_one_and_that_of_a_deleted_conversation_look_the_same(
    client, conversation_id, reader
):
    path = f"{CONVERSATIONS}/{conversation_id}"
    removed = client.put(f"{path}/link").json()["token"]
    client.delete(f"{path}/link")
    current = client.put(f"{path}/link").json()["token"]
    client.delete(path)
    answers = [client.get(f"{SHARED}/{one}", headers=reader) for one in ("none", removed, current)]
    assert [one.status_code for one in answers] == [404] * 3
    assert len({one.text for one in answers}) == 1
    client.post(f"{path}/restore")
    assert client.get(f"{SHARED}/{current}", headers=reader).status_code == 200


def test_the_address_is_that_of_the_pages(build_client):
    client = build_client(
        oidc_issuer="https://login.example.com",
        oidc_client_id="footnote",
        oidc_client_secret="secret",
        public_url="https://docs.example.com",
    )
    turn = client.post("/api/v1/ask", json={"question": QUESTION}).json()
    link = client.put(f"{CONVERSATIONS}/{turn['conversation_id']}/link").json()
    assert link["address"] == f"https://docs.example.com/?shared={link['token']}"


def test_nobody_follows_a_link_without_a_key(client, conversation_id):
    token = client.put(f"{CONVERSATIONS}/{conversation_id}/link").json()["token"]
    assert client.get(f"{SHARED}/{token}", headers={"Authorization": ""}).status_code == 401
    metrics = bearer(client.services, "read", "manage", "metrics")
    assert client.get(f"{SHARED}/{token}", headers=metrics).status_code == 403
