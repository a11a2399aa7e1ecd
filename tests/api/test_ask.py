import json

import pytest

from domain import LOCAL_USER, Principal, TurnState
from tests.api.conftest import bearer
from tests.api.serving import events_of
from tests.fakes.openai import Fault, Text

ASK, STREAM = "/api/v1/ask", "/api/v1/ask/stream"
LEAVE = {"question": "How many days of annual leave do new employees get?"}
ANSWER = Text("New employees ", 'get 25 days [1: "25 days of annual leave"].')


def streamed(client, **body):
    """The events of an answer: names and data."""
    response = client.post(STREAM, json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return [(name, json.loads(data)) for name, data in events_of(response.text.splitlines())]


def turns_of(client):
    talks = client.services.conversations.page(LOCAL_USER, limit=50).items
    return [turn for one in talks for turn in client.services.turns.list(LOCAL_USER, one.id)]


def test_an_agent_without_a_chat_model_is_a_conflict(call):
    client = call()
    body = {**LEAVE, "search": {"by_agent": True}}
    answer = client.post(ASK, json=body)
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:footnote:conflict")
    assert "chat model" in answer.json()["detail"]
    assert streamed(client, **body)[-1] == ("error", answer.json())
    assert {turn.state for turn in turns_of(client)} == {TurnState.FAILED}


def test_an_answer_streams_in_the_order_that_is_told(call, model_server):
    client = call(chat=True)
    model_server.will(ANSWER)
    events = streamed(client, **LEAVE)
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == [
        "started", "question", "sources", "token", "citations", "end",
    ]  # fmt: skip
    told = dict(events)
    assert told["question"] == {"standalone": LEAVE["question"]}
    assert [one["n"] for one in told["sources"]] == [*range(1, len(told["sources"]) + 1)]
    assert (
        "".join(data["text"] for name, data in events if name == "token") == told["end"]["answer"]
    )
    assert told["citations"]["citations"] == told["end"]["citations"]
    assert told["citations"]["citations"][0]["state"] == "verified"
    assert told["started"] == {
        "conversation_id": told["end"]["conversation_id"],
        "turn_id": told["end"]["id"],
    }


def test_an_unproven_answer_has_the_extract_whole_streamed_and_in_the_conversation(
    call, model_server
):
    client = call(chat=True)
    model_server.will(Text("Thirty ", "days of holidays."), Text("Thirty ", "days of holidays."))
    whole = client.post(ASK, json=LEAVE).json()
    events = streamed(client, **LEAVE)
    end = events[-1][1]
    assert "**The text above cites nothing that was found in the documents." in whole["answer"]
    assert whole["answer"] == end["answer"]
    assert "".join(data["text"] for name, data in events if name == "token") == whole["answer"]
    assert {one["state"] for one in whole["citations"]} == {"verified"}
    assert whole["citations"] == end["citations"]
    assert {turn.answer for turn in turns_of(client)} == {whole["answer"]}


def test_the_whole_answer_is_the_turn_that_is_kept(call, model_server):
    client = call(chat=True)
    model_server.will(ANSWER)
    turn = client.post(ASK, json=LEAVE).json()
    assert turn["state"] == "complete"
    assert turn["answer"] == "New employees get 25 days [1]."
    [kept] = turns_of(client)
    assert (kept.id, kept.answer) == (turn["id"], turn["answer"])


def test_without_a_model_the_library_answers_itself(call):
    turn = call().post(ASK, json=LEAVE).json()
    assert turn["citations"][0]["state"] == "verified"


def test_a_greeting_streams_without_a_search(call):
    events = streamed(call(), question="Hello!")
    names = dict.fromkeys(name for name, _ in events)
    assert list(names) == ["started", "token", "citations", "end"]
    assert dict(events)["end"]["unsupported_sentences"] == 0


def test_a_summary_streams_like_any_answer(call):
    events = streamed(call(), question="Summarize the leave policy")
    names = dict.fromkeys(name for name, _ in events)
    assert list(names) == ["started", "question", "sources", "token", "citations", "end"]
    assert {one["state"] for one in dict(events)["citations"]["citations"]} == {"verified"}


def test_one_can_go_on_in_a_conversation_and_search_as_one_says(call):
    client = call()
    first = client.post(ASK, json={**LEAVE, "search": {"mode": "bm25", "k": 2}}).json()
    talk = first["conversation_id"]
    second = client.post(ASK, json={"question": "And sick?", "conversation_id": talk}).json()
    assert (second["conversation_id"], second["parent_id"]) == (talk, first["id"])
    assert second["search"]["mode"] == "bm25", "as the conversation remembers"
    assert second["search"]["k"] == 2
    given = {"question": "x", "conversation_id": talk, "standalone": "WireGuard gateway"}
    third = client.post(ASK, json=given).json()
    assert (third["standalone_question"], third["standalone_given"]) == ("WireGuard gateway", True)


def test_asked_again_a_turn_gets_a_version(call):
    client = call()
    first = client.post(ASK, json=LEAVE).json()
    again = {"conversation_id": first["conversation_id"], "turn_id": first["id"]}
    second = client.post(ASK, json={"question": "Which gateway?", **again}).json()
    assert second["id"] != first["id"]
    versions = client.services.turns.versions(LOCAL_USER, first["conversation_id"])
    assert versions[first["id"]] == (first["id"], second["id"])


@pytest.mark.parametrize("path", [ASK, STREAM])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": " \n"}, 422),
        ({}, 422),
        ({"question": "x", "stream": True}, 422),
        ({"question": "x", "search": {"k": 0}}, 422),
        ({"question": "x", "conversation_id": "none"}, 404),
        ({"question": "x", "conversation_id": "none", "turn_id": "none"}, 404),
        ({"question": "x", "turn_id": "none"}, 404),
    ],
)
def test_what_cannot_be_asked_is_a_plain_problem_and_nothing_is_kept(call, path, body, status):
    client = call()
    response = client.post(path, json=body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert turns_of(client) == []


@pytest.mark.parametrize("path", [ASK, STREAM])
def test_nobody_asks_in_the_conversation_of_another(call, path):
    client = call()
    other = client.services.conversations.begin(Principal("bert"), "Mine")
    response = client.post(path, json={**LEAVE, "conversation_id": other.id})
    assert response.status_code == 404
    assert client.services.turns.list(Principal("bert"), other.id) == []


@pytest.mark.parametrize("path", [ASK, STREAM])
def test_a_key_that_may_only_read_asks_nothing(call, path):
    client = call()
    response = client.post(path, json=LEAVE, headers=bearer(client.services, "read"))
    assert response.status_code == 403


def test_a_source_that_is_not_there_conflicts_with_the_library(call):
    client = call()
    body = {**LEAVE, "search": {"scope": {"sources": ["nowhere"]}}}
    assert client.post(ASK, json=body).status_code == 409
    name, problem = streamed(client, **body)[-1]
    assert (name, problem["status"]) == ("error", 409)
    assert "nowhere" in problem["detail"]


@pytest.mark.parametrize(
    ("reply", "status", "state"),
    [
        (Fault(400), 502, TurnState.FAILED),
        (Text("New ", "employees", break_after=2), 503, TurnState.INCOMPLETE),
    ],
)
def test_a_model_that_fails_ends_the_stream_with_the_problem(
    call, model_server, reply, status, state
):
    client = call(chat=True)
    model_server.will(reply)
    events = streamed(client, **LEAVE)
    assert events[-1][0] == "error"
    assert events[-1][1]["status"] == status
    assert "end" not in dict(events)
    [turn] = turns_of(client)
    assert turn.state is state
    model_server.will(reply)
    assert client.post(ASK, json=LEAVE).status_code == status


def test_an_unexpected_error_is_logged_and_not_told(call, monkeypatch, caplog):
    client = call()

    def broken(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(type(client.services.chat.chains), "build", broken)
    name, problem = streamed(client, **LEAVE)[-1]
    assert (name, problem["status"]) == ("error", 500)
    assert "secret" not in problem["detail"]
    assert "a secret" in caplog.text


def test_every_event_is_described_with_the_schema_of_its_data(call):
    told = call().get("/api/v1/openapi.json").json()
    content = told["paths"][STREAM]["post"]["responses"]["200"]["content"]["text/event-stream"]
    schemas = told["components"]["schemas"]

    def named(schema):
        return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    events = [named(one)["properties"] for one in named(content["schema"])["anyOf"]]
    assert [one["event"]["const"] for one in events] == [
        "started", "question", "step", "sources", "token", "citations", "end", "error",
    ]  # fmt: skip
    data = {one["event"]["const"]: one["data"]["contentSchema"] for one in events}
    assert set(named(data["token"])["properties"]) == {"text"}
    assert "citations" in named(data["end"])["properties"]
    assert "steps" not in named(data["sources"]["items"])["properties"]
    assert "event: token" in content["example"]
