"""Limits of a person over all keys and interfaces: questions a minute, and uploads."""

import openai
import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import ApiScope, Principal, Role
from tests.api.conftest import bearer
from tests.api.serving import serving
from tests.fakes.mcp_clients import connected, over_http, serving_mcp

ANNA, BERT = Principal("anna", role=Role.EDITOR), Principal("bert", role=Role.EDITOR)
QUESTION = {"question": "How many days of annual leave?"}
ASK = "/api/v1/ask"
FILE = {"files": ("a.txt", b"The office closes at six.")}


@pytest.fixture
def services(imported):
    return imported(questions_per_minute=2, uploads_per_day=1)


@pytest.fixture
def client(services):
    return TestClient(make_app(services))


def key_of(services, person):
    return bearer(services, *ApiScope, principal=person)


def test_all_keys_of_a_person_share_the_limit_of_questions(services, client):
    keys = [key_of(services, ANNA), key_of(services, ANNA)]
    assert [client.post(ASK, json=QUESTION, headers=key).status_code for key in keys] == [200, 200]
    refusal = client.post(ASK, json=QUESTION, headers=keys[0])
    assert refusal.status_code == 429
    assert 1 <= int(refusal.headers["retry-after"]) <= 60
    assert refusal.json()["retryable"] is True
    assert "FOOTNOTE_QUESTIONS_PER_MINUTE" in refusal.json()["detail"]
    assert client.post(ASK, json=QUESTION, headers=key_of(services, BERT)).status_code == 200


def test_a_refused_question_is_not_stored(services, client):
    key = key_of(services, ANNA)
    for _ in range(3):
        client.post(ASK, json=QUESTION, headers=key)
    listed = client.get("/api/v1/conversations", headers=key).json()
    assert len(listed["items"]) == 2


def test_questions_in_other_interfaces_count(services, client):
    key = key_of(services, ANNA)
    client.post(ASK, json=QUESTION, headers=key)
    with serving(services) as address:
        secret = key["Authorization"].removeprefix("Bearer ")
        program = openai.OpenAI(base_url=f"{address}/v1", api_key=secret, max_retries=0)
        messages = [{"role": "user", "content": QUESTION["question"]}]
        program.chat.completions.create(model="footnote", messages=messages)
        with pytest.raises(openai.RateLimitError) as refusal:
            program.chat.completions.create(model="footnote", messages=messages)
    assert refusal.value.code == "rate_limit_exceeded"
    assert int(refusal.value.response.headers["retry-after"]) >= 1


def test_questions_to_the_mcp_server_count(services, client):
    key = key_of(services, ANNA)
    client.post(ASK, json=QUESTION, headers=key)
    secret = key["Authorization"].removeprefix("Bearer ")
    with serving_mcp(services) as url, connected(over_http(url, secret)) as mcp:
        first, second = [mcp.call("ask_documents", **QUESTION) for _ in range(2)]
    assert not first.is_error
    assert second.is_error
    assert "FOOTNOTE_QUESTIONS_PER_MINUTE" in second.content[0].text


def test_an_upload_beyond_the_limit_returns_429_and_stores_nothing(services, client):
    key = key_of(services, ANNA)
    assert client.post("/api/v1/uploads", files=FILE, headers=key).status_code == 202
    refusal = client.post("/api/v1/uploads", files=FILE, headers=key)
    assert refusal.status_code == 429
    assert int(refusal.headers["retry-after"]) > 80_000
    assert "FOOTNOTE_UPLOADS_PER_DAY" in refusal.json()["detail"]
