import json

import pytest

from domain import LOCAL_USER, Principal, TurnState
from services.chat.running_answer import BLANK, CALLED_TOOLS, FILTERED
from tests.api.conftest import bearer
from tests.api.serving import events_of
from tests.fakes.openai import Call, Fault, Reasoned, Text, ToolCalls

ASK, STREAM = "/api/v1/ask", "/api/v1/ask/stream"
LEAVE = {"question": "How many days of annual leave do new employees get?"}
ANSWER = Text("New employees ", 'get 25 days [1: "25 days of annual leave"].')


def stream_answer(client, **body):
    """The events of an answer: names and data."""
    response = client.post(STREAM, json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return [(name, json.loads(data)) for name, data in events_of(response.text.splitlines())]


def turns_of(client):
    conversations = client.services.conversations.page(LOCAL_USER, limit=50).items
    return [
        turn for one in conversations for turn in client.services.turns.list(LOCAL_USER, one.id)
    ]


def test_an_agent_without_a_chat_model_is_a_conflict(build_client):
    client = build_client()
    body = {**LEAVE, "search": {"by_agent": True}}
    answer = client.post(ASK, json=body)
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:footnote:conflict")
    assert "chat model" in answer.json()["detail"]
    assert stream_answer(client, **body)[-1] == ("error", answer.json())
    assert {turn.state for turn in turns_of(client)} == {TurnState.FAILED}


def test_the_events_of_an_answer_have_the_documented_order(build_client, model_server):
    client = build_client(chat=True)
    model_server.will(ANSWER)
    events = stream_answer(client, **LEAVE)
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == [
        "started", "question", "sources", "token", "citation", "citations", "end",
    ]  # fmt: skip
    by_name = dict(events)
    assert by_name["citation"] == {
        "marker": 0, "citation": by_name["citations"]["citations"][0]
    }  # fmt: skip
    assert by_name["question"] == {"standalone": LEAVE["question"]}
    assert [one["n"] for one in by_name["sources"]] == [*range(1, len(by_name["sources"]) + 1)]
    assert (
        "".join(data["text"] for name, data in events if name == "token")
        == by_name["end"]["answer"]
    )
    assert by_name["citations"]["citations"] == by_name["end"]["citations"]
    assert by_name["citations"]["citations"][0]["state"] == "verified"
    assert by_name["started"] == {
        "conversation_id": by_name["end"]["conversation_id"],
        "turn_id": by_name["end"]["id"],
    }


def test_the_extract_follows_an_uncited_answer_whole_streamed_and_stored(
    build_client, model_server
):
    client = build_client(chat=True)
    model_server.will(Text("Thirty ", "days of holidays."), Text("Thirty ", "days of holidays."))
    whole = client.post(ASK, json=LEAVE).json()
    events = stream_answer(client, **LEAVE)
    end = events[-1][1]
    assert "**The text above cites nothing that was found in the documents." in whole["answer"]
    assert whole["answer"] == end["answer"]
    assert "".join(data["text"] for name, data in events if name == "token") == whole["answer"]
    assert {one["state"] for one in whole["citations"]} == {"verified"}
    assert whole["citations"] == end["citations"]
    assert {turn.answer for turn in turns_of(client)} == {whole["answer"]}


def test_reasoning_is_streamed_before_the_answer_and_returned_beside_it(build_client, model_server):
    client = build_client(chat=True)
    model_server.will(*[Reasoned("Hm, ", "leave.", text="It is unknown.")] * 2)
    events = stream_answer(client, **LEAVE)
    names = [name for name, _ in events]
    assert names.index("sources") < names.index("reasoning") < names.index("token")
    assert [data["text"] for name, data in events if name == "reasoning"] == ["Hm, ", "leave."]
    for turn in (events[-1][1], client.post(ASK, json=LEAVE).json()):
        assert turn["reasoning"] == "Hm, leave."
        assert "Hm" not in turn["answer"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Text(" "), BLANK),
        (ToolCalls(Call("search", {})), CALLED_TOOLS),
        (Text("They get", finish_reason="content_filter"), FILTERED),
    ],
)
def test_a_reply_without_an_answer_is_incomplete_whole_and_streamed(
    build_client, model_server, reply, reason
):
    client = build_client(chat=True)
    model_server.will(reply, reply)
    whole, (last, end) = client.post(ASK, json=LEAVE).json(), stream_answer(client, **LEAVE)[-1]
    assert (whole["state"], whole["error"]) == ("incomplete", reason)
    assert (last, end["state"], end["error"]) == ("end", "incomplete", reason)
    assert "New employees get 25 days of annual leave" in whole["answer"]
    assert whole["answer"] == end["answer"]


def test_the_whole_answer_equals_the_stored_turn(build_client, model_server):
    client = build_client(chat=True)
    model_server.will(ANSWER)
    turn = client.post(ASK, json=LEAVE).json()
    assert turn["state"] == "complete"
    assert turn["answer"] == "New employees get 25 days [1]."
    [stored] = turns_of(client)
    assert (stored.id, stored.answer) == (turn["id"], turn["answer"])


def test_without_a_chat_model_the_built_in_answerer_answers(build_client):
    turn = build_client().post(ASK, json=LEAVE).json()
    assert turn["citations"][0]["state"] == "verified"


def test_a_greeting_streams_without_a_search(build_client):
    events = stream_answer(build_client(), question="Hello!")
    names = dict.fromkeys(name for name, _ in events)
    assert list(names) == ["started", "token", "citations", "end"]
    assert dict(events)["end"]["unsupported_sentences"] == 0


def test_a_summary_streams_like_any_answer(build_client):
    events = stream_answer(build_client(), question="Summarize the leave policy")
    names = dict.fromkeys(name for name, _ in events)
    assert list(names) == [
        "started", "question", "sources", "token", "citation", "citations", "end",
    ]  # fmt: skip
    assert {one["state"] for one in dict(events)["citations"]["citations"]} == {"verified"}


def test_a_follow_up_continues_the_conversation_with_its_search_settings(build_client):
    client = build_client()
    first = client.post(ASK, json={**LEAVE, "search": {"mode": "bm25", "k": 2}}).json()
    conversation_id = first["conversation_id"]
    second = client.post(
        ASK, json={"question": "And sick?", "conversation_id": conversation_id}
    ).json()
    assert (second["conversation_id"], second["parent_id"]) == (conversation_id, first["id"])
    assert second["search"]["mode"] == "bm25", "as the conversation remembers"
    assert second["search"]["k"] == 2
    body = {"question": "x", "conversation_id": conversation_id, "standalone": "WireGuard gateway"}
    third = client.post(ASK, json=body).json()
    assert (third["standalone_question"], third["standalone_given"]) == ("WireGuard gateway", True)


def test_asking_a_turn_again_adds_a_version(build_client):
    client = build_client()
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
def test_an_invalid_question_returns_a_problem_and_nothing_is_stored(
    build_client, path, body, status
):
    client = build_client()
    response = client.post(path, json=body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert turns_of(client) == []


@pytest.mark.parametrize("path", [ASK, STREAM])
def test_the_conversation_of_another_user_cannot_be_continued(build_client, path):
    client = build_client()
    other = client.services.conversations.begin(Principal("bert"), "Mine")
    response = client.post(path, json={**LEAVE, "conversation_id": other.id})
    assert response.status_code == 404
    assert client.services.turns.list(Principal("bert"), other.id) == []


@pytest.mark.parametrize("path", [ASK, STREAM])
def test_a_read_only_key_cannot_ask(build_client, path):
    client = build_client()
    response = client.post(path, json=LEAVE, headers=bearer(client.services, "read"))
    assert response.status_code == 403


def test_an_unknown_source_is_a_conflict(build_client):
    client = build_client()
    body = {**LEAVE, "search": {"scope": {"sources": ["nowhere"]}}}
    assert client.post(ASK, json=body).status_code == 409
    name, problem = stream_answer(client, **body)[-1]
    assert (name, problem["status"]) == ("error", 409)
    assert "nowhere" in problem["detail"]


@pytest.mark.parametrize(
    ("reply", "status", "state"),
    [
        (Fault(400), 502, TurnState.FAILED),
        (Text("New ", "employees", break_after=2), 503, TurnState.INCOMPLETE),
    ],
)
def test_a_failure_of_the_model_ends_the_stream_with_a_problem(
    build_client, model_server, reply, status, state
):
    client = build_client(chat=True)
    model_server.will(reply)
    events = stream_answer(client, **LEAVE)
    assert events[-1][0] == "error"
    assert events[-1][1]["status"] == status
    assert "end" not in dict(events)
    [turn] = turns_of(client)
    assert turn.state is state
    model_server.will(reply)
    assert client.post(ASK, json=LEAVE).status_code == status


def test_an_unexpected_error_is_logged_and_not_disclosed(build_client, monkeypatch, caplog):
    client = build_client()

    def fail(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(type(client.services.chat.chains), "build", fail)
    name, problem = stream_answer(client, **LEAVE)[-1]
    assert (name, problem["status"]) == ("error", 500)
    assert "secret" not in problem["detail"]
    assert "a secret" in caplog.text


def test_every_event_is_documented_with_the_schema_of_its_data(build_client):
    description = build_client().get("/api/v1/openapi.json").json()
    content = description["paths"][STREAM]["post"]["responses"]["200"]["content"][
        "text/event-stream"
    ]
    schemas = description["components"]["schemas"]

    def resolve(schema):
        return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    as_events, as_data, as_text = content["schema"]["anyOf"]
    events = [resolve(one)["properties"] for one in resolve(as_events)["anyOf"]]
    assert resolve(as_data)["anyOf"] == [one["data"]["contentSchema"] for one in events]
    assert as_text == {"type": "string"}
    assert [one["event"]["const"] for one in events] == [
        "started", "question", "step", "sources", "reasoning", "token", "citation", "citations",
        "end", "error",
    ]  # fmt: skip
    data = {one["event"]["const"]: one["data"]["contentSchema"] for one in events}
    assert set(resolve(data["token"])["properties"]) == {"text"}
    assert "citations" in resolve(data["end"])["properties"]
    assert "steps" not in resolve(data["sources"]["items"])["properties"]
    assert "event: token" in content["example"]
