"""Answers in JSON, in OpenAI's own client."""

import json

import openai
import pytest
from pydantic import BaseModel

from tests.api.openai.conversations import QUESTION, QUOTE, chat_messages
from tests.conversations import conversations_of
from tests.fakes.openai import Fault, Text
from tests.fakes.tool_calls import Call, ToolCalls


class Leave(BaseModel):
    """The format of the tests."""

    days: int
    reason: str


SCHEMA = {**Leave.model_json_schema(), "additionalProperties": False, "default": None}
JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "leave", "schema": SCHEMA}}
JSON_OBJECT = {"type": "json_object"}
CITED = json.dumps({"days": 25, "reason": f'They get 25 days [1: "{QUOTE}"].'}, indent=1)


def parts(text):
    return Text(*[text[at : at + 5] for at in range(0, len(text), 5)])


def complete(client, response_format, *, streamed=False, **more):
    parameters = {"model": "footnote", "messages": chat_messages(QUESTION), **more}
    parameters["response_format"] = response_format
    if not streamed:
        return client.chat.completions.create(**parameters)
    with client.chat.completions.stream(**parameters) as events:
        return events.get_final_completion()


def respond(client, response_format, *, streamed=False):
    parameters = {"model": "footnote", "input": QUESTION, "text": {"format": response_format}}
    if not streamed:
        return client.responses.create(**parameters)
    with client.responses.stream(**parameters) as events:
        return events.get_final_response()


def flat(response_format):
    return {"type": response_format["type"], **response_format.get("json_schema", {})}


formats = pytest.mark.parametrize("response_format", [JSON_SCHEMA, JSON_OBJECT])
whole_and_streamed = pytest.mark.parametrize("streamed", [False, True])


@formats
@whole_and_streamed
def test_an_answer_in_json_is_unchanged_and_its_citations_are_checked(
    build_client, model_server, response_format, streamed
):
    model_server.will(parts(CITED))
    client = build_client(chat=True)
    choice = complete(client, response_format, streamed=streamed).choices[0]
    assert (choice.message.content, choice.finish_reason) == (CITED, "stop")
    assert choice.message.annotations == []
    [cited] = choice.message.footnote["citations"]
    assert (cited["n"], cited["state"], cited["quote"]) == (1, "verified", QUOTE)
    [request] = model_server.requests
    assert request.body["response_format"] == response_format
    assert "Write the answer as JSON" in request.body["messages"][0]["content"]
    assert conversations_of(client.services) == []


@formats
@whole_and_streamed
def test_a_response_in_json_is_unchanged_and_its_citations_are_checked(
    build_client, model_server, response_format, streamed
):
    model_server.will(parts(CITED))
    response = respond(build_client(chat=True), flat(response_format), streamed=streamed)
    assert (response.output_text, response.status) == (CITED, "completed")
    assert [one["state"] for one in response.footnote["citations"]] == ["verified"]
    assert model_server.requests[0].body["response_format"] == response_format


def test_the_client_parses_the_answer(build_client, model_server):
    model_server.will(Text(CITED), Text(CITED))
    client = build_client(chat=True)
    message = (
        client.chat.completions.parse(
            model="footnote", messages=chat_messages(QUESTION), response_format=Leave
        )
        .choices[0]
        .message
    )
    assert message.parsed.days == 25
    response = client.responses.parse(model="footnote", input=QUESTION, text_format=Leave)
    assert response.output_parsed.days == 25
    sent = model_server.requests[0].body["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == ("Leave", True)


def test_wrong_citations_in_json_are_reported(build_client, model_server):
    answer = json.dumps({"days": 9, "reason": 'Nine [1: "Nine days"], or ten [8: "Ten"].'})
    model_server.will(Text(answer))
    message = complete(build_client(chat=True), JSON_SCHEMA).choices[0].message
    assert message.content == answer
    states = [one["state"] for one in message.footnote["citations"]]
    assert states == ["not found", "no such source"]


def test_json_without_citations_gets_no_extract(build_client, model_server):
    answer = '{"days": 25, "reason": "the policy"}'
    model_server.will(Text(answer))
    message = complete(build_client(chat=True), JSON_SCHEMA).choices[0].message
    assert (message.content, message.footnote["citations"]) == (answer, [])


INVALID_ANSWERS = [
    (JSON_OBJECT, "They get 25 days.", "not valid JSON"),
    (JSON_OBJECT, f"```json\n{CITED}\n```", "not valid JSON"),
    (JSON_OBJECT, '{"days": NaN}', "not valid JSON"),
    (JSON_OBJECT, "".join(f"[{n}," for n in range(3_000)), "not valid JSON"),
    (JSON_OBJECT, '[{"days": 9, "days": 25}]', "not valid JSON .*several members 'days'"),
    (JSON_OBJECT, "[25]", "not a JSON object"),
    (JSON_SCHEMA, '{"days": "many", "reason": ""}', r"'many' is not of type 'integer' \(\$.days\)"),
    (JSON_SCHEMA, '{"days": 25}', "'reason' is a required property"),
]


@pytest.mark.parametrize(("response_format", "answer", "problem"), INVALID_ANSWERS)
def test_an_answer_in_another_format_is_an_error(
    build_client, model_server, response_format, answer, problem
):
    model_server.will(Text(answer))
    with pytest.raises(openai.InternalServerError, match=problem) as raised:
        complete(build_client(chat=True), response_format)
    assert (raised.value.status_code, raised.value.type) == (502, "server_error")
    assert raised.value.response.headers["x-should-retry"] == "false"


def test_an_answer_in_another_format_ends_a_stream_with_an_error(build_client, model_server):
    model_server.will(Text("They get ", "25 days."), Text("They get ", "25 days."))
    client = build_client(chat=True)
    with pytest.raises(openai.APIError, match="not valid JSON"):
        complete(client, JSON_OBJECT, streamed=True)
    events = list(
        client.responses.create(
            model="footnote", input=QUESTION, text={"format": JSON_OBJECT}, stream=True
        )
    )
    assert events[-1].type == "response.failed"
    assert "not valid JSON" in events[-1].response.error.message
    assert events[-1].response.output_text == "They get 25 days."


def test_json_that_was_cut_off_has_finish_reason_length(build_client, model_server):
    model_server.will(Text('{"days": 2', finish_reason="length"))
    choice = complete(build_client(chat=True), JSON_SCHEMA).choices[0]
    assert (choice.message.content, choice.finish_reason) == ('{"days": 2', "length")


def test_tools_can_be_called_before_an_answer_in_json(build_client, model_server):
    model_server.will(ToolCalls(Call("get_time", {})))
    tools = [{"type": "function", "function": {"name": "get_time"}}]
    choice = complete(build_client(chat=True), JSON_SCHEMA, tools=tools).choices[0]
    assert choice.finish_reason == "tool_calls"


SERVER_MESSAGES = [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "Structured outputs are disabled on this server.",
]


@whole_and_streamed
@pytest.mark.parametrize("message", SERVER_MESSAGES)
def test_a_server_that_rejects_the_format_is_quoted(build_client, model_server, message, streamed):
    model_server.answer = lambda _: Fault(400, message)
    client = build_client(chat=True)
    with pytest.raises(openai.BadRequestError, match="test-chat") as raised:
        complete(client, JSON_SCHEMA, streamed=streamed)
    assert raised.value.param == "response_format"
    assert message.rstrip(".") in raised.value.message
    with pytest.raises(openai.BadRequestError) as raised:
        respond(client, flat(JSON_SCHEMA), streamed=streamed)
    assert raised.value.param == "text.format"


def test_without_a_chat_model_json_is_rejected_with_the_name_of_the_setting(build_client):
    client = build_client()
    for param, ask in {
        "response_format": lambda: complete(client, JSON_OBJECT),
        "text.format": lambda: respond(client, flat(JSON_SCHEMA)),
    }.items():
        with pytest.raises(openai.BadRequestError, match="FOOTNOTE_CHAT_MODEL") as raised:
            ask()
        assert raised.value.param == param
    assert QUOTE in complete(client, {"type": "text"}).choices[0].message.content


def with_schema(schema):
    return {"type": "json_schema", "json_schema": {"name": "leave", "schema": schema}}


INVALID_FORMATS = {
    "response_format.type": {"type": "yaml"},
    "response_format.json_schema": {"type": "json_schema"},
    "response_format.json_schema.name": {"type": "json_schema", "json_schema": {"schema": {}}},
    "response_format.json_schema.schema": with_schema({"type": "objekt"}),
    "response_format.json_schema.strict": {
        "type": "json_schema",
        "json_schema": {"name": "x", "strict": "yes"},
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": 5},
        {"$schema": []},
        {"type": "object", "patternProperties": {"^x": {}}},
        {"allOf": [{"unevaluatedProperties": True}]},
        {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema"}}},
    ],
)
def test_schemas_that_cannot_be_checked_are_rejected(build_client, model_server, schema):
    with pytest.raises(openai.BadRequestError, match="JSON Schema can't be used") as raised:
        complete(build_client(chat=True), with_schema(schema))
    assert raised.value.param == "response_format.json_schema.schema"
    assert model_server.requests == []


@pytest.mark.parametrize("param", INVALID_FORMATS)
def test_invalid_formats_are_rejected(build_client, model_server, param):
    with pytest.raises(openai.BadRequestError) as raised:
        complete(build_client(chat=True), INVALID_FORMATS[param])
    assert raised.value.param == param
    assert model_server.requests == []


INVALID_TEXT_FORMATS = {
    "text.format.type": {"type": "yaml"},
    "text.format.schema": {"type": "json_schema", "name": "x", "schema": {"type": "objekt"}},
    "text.format.name": {"type": "json_schema", "name": "a b", "schema": {}},
}


@pytest.mark.parametrize("param", INVALID_TEXT_FORMATS)
def test_invalid_formats_of_responses_are_rejected(build_client, param):
    with pytest.raises(openai.BadRequestError) as raised:
        respond(build_client(), INVALID_TEXT_FORMATS[param])
    assert raised.value.param == param
