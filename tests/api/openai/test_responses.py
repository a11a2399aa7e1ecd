"""The Responses API, which OpenAI's own client uses by default."""

import openai
import pytest
from jsonschema import Draft202012Validator

from api.openai.responses_requests import ResponseRequest
from tests.api.openai.conversations import ANSWER, QUESTION, QUOTE, REPLY, chat_messages, prompts_of
from tests.conversations import conversations_of
from tests.fakes.openai import Fault, Text
from tests.fakes.tool_calls import Call, ToolCalls


def respond(client, question=QUESTION, model="footnote", **more):
    return client.responses.create(model=model, input=question, **more)


def test_an_answer_has_its_sources_as_text_and_as_fields(build_client, model_server):
    model_server.will(Text(REPLY, prompt_tokens=42, completion_tokens=9))
    response = respond(build_client(chat=True))
    assert response.output_text.startswith(f'{ANSWER}\n\nSources:\n[1] Leave policy: "{QUOTE}')
    assert (response.status, response.error, response.incomplete_details) == (
        "completed",
        None,
        None,
    )
    assert [one["state"] for one in response.footnote["citations"]] == ["verified"]
    assert response.footnote["standalone_question"] == QUESTION
    assert (response.usage.input_tokens, response.usage.output_tokens) == (42, 9)
    assert response.id.startswith("resp_")
    assert (response.object, response.model) == ("response", "footnote")


def test_nothing_is_stored(build_client):
    client = build_client()
    assert respond(client).store is False
    assert conversations_of(client.services) == []


def events_of(client, **more):
    return list(respond(client, stream=True, **more))


def test_the_events_of_a_stream_follow_the_protocol(build_client, model_server):
    model_server.will(Text(*[f"{word} " for word in REPLY.split()]))
    events = events_of(build_client(chat=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert list(dict.fromkeys(kinds)) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert kinds.count("response.output_text.delta") > 5
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    response = events[-1].response
    assert "".join(pieces) == response.output_text == events[-4].text
    assert response.output_text.startswith(ANSWER)
    assert [one["state"] for one in response.footnote["citations"]] == ["verified"]


def test_the_helper_for_streams_returns_the_whole_answer(build_client, model_server):
    model_server.will(Text(REPLY), Text(REPLY))
    client = build_client(chat=True)
    with client.responses.stream(model="footnote", input=QUESTION) as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(pieces) == final.output_text == respond(client).output_text


def test_a_conversation_continues_from_its_items(build_client, model_server):
    model_server.will(Text(REPLY), Text("When do unused leave days lapse?"), Text("In March."))
    client = build_client(chat=True)
    first = respond(client, chat_messages(QUESTION), instructions="Answer like a pirate.")
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        *[item.model_dump() for item in first.output],
        {"role": "user", "content": "When do they lapse?"},
    ]
    assert respond(client, items).output_text == "In March."
    condensing = prompts_of(model_server)[1]
    assert ANSWER in condensing
    assert "Sources:\n[1]" not in condensing
    assert "pirate" not in "".join(prompts_of(model_server))


def test_a_refusal_in_the_history_is_an_answer(build_client, model_server):
    model_server.will(Text("When do unused leave days lapse?"), Text("In March."))
    refusal = {"type": "refusal", "refusal": "I can't help with that."}
    output = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    items = [
        {"role": "user", "content": ""},
        {**output, "content": [refusal]},
        {"role": "user", "content": "When do they lapse?"},
    ]
    assert respond(build_client(chat=True), items).output_text == "In March."
    assert "I can't help with that." in prompts_of(model_server)[0]


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    ("finish_reason", "reason", "message"),
    [
        ("length", "max_output_tokens", "FOOTNOTE_CHAT_MAX_TOKENS"),
        ("content_filter", "content_filter", "content filter"),
    ],
)
def test_an_answer_that_ends_early_is_incomplete(
    build_client, model_server, is_streamed, finish_reason, reason, message
):
    model_server.will(Text("They get", finish_reason=finish_reason))
    client = build_client(chat=True)
    response = events_of(client)[-1].response if is_streamed else respond(client)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == reason
    assert response.output[0].status == "incomplete"
    assert message in response.footnote["error"]


def test_the_agent_searches_in_steps(build_client, model_server):
    model_server.will(
        ToolCalls(Call("search_documents", {"query": "annual leave"}), text="I look."), Text(REPLY)
    )
    response = events_of(build_client(chat=True), model="footnote-agent")[-1].response
    assert response.output_text.startswith(f"I look.\n\n{ANSWER}\n\nSources:")
    assert [one["tool"] for one in response.footnote["steps"]] == ["search_documents"]


def test_an_error_before_the_first_text_is_an_http_error(build_client, model_server):
    model_server.answer = lambda _: Fault(401, "wrong key")
    with pytest.raises(openai.InternalServerError) as raised:
        respond(build_client(chat=True), stream=True)
    assert raised.value.status_code == 502


def test_options_for_the_model_are_ignored(build_client):
    response = respond(
        build_client(),
        temperature=1,
        top_p=0.5,
        max_output_tokens=16,
        metadata={"chat": "c1"},
        store=True,
        truncation="auto",
        reasoning={"effort": "low"},
        text={"format": {"type": "text"}},
        tools=[],
        parallel_tool_calls=True,
        service_tier="auto",
        include=["reasoning.encrypted_content"],
    )
    assert QUOTE in response.output_text


TOOL = {"type": "function", "name": "look", "parameters": {}, "strict": False}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"}
CALLS = [
    {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
    {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "a", "output": "x"},
]
SCHEMA = {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}


def test_tools_are_accepted_if_they_may_not_be_called(build_client):
    assert QUOTE in respond(build_client(), tools=[TOOL], tool_choice="none").output_text


def test_unsupported_requests_are_rejected_with_the_name_of_the_field(build_client):
    client = build_client()
    cases = {
        "tools": {"tools": [TOOL]},
        "previous_response_id": {"previous_response_id": "resp_1"},
        "conversation": {"conversation": "conv_1"},
        "prompt": {"prompt": {"id": "p"}},
        "background": {"background": True},
        "text.format": {"text": SCHEMA},
        "top_logprobs": {"top_logprobs": 2},
        "input[0].role": {"question": [REASONING, *chat_messages(QUESTION)]},
        "input[0].content[0].type": {"question": [{"role": "user", "content": [IMAGE]}]},
        "input": {"question": [{"role": "assistant", "content": "x"}]},
        "input[3].content": {"question": [*CALLS, {"role": "user", "content": " "}]},
        "model": {"model": "gpt-5"},
    }
    for param, parameters in cases.items():
        with pytest.raises((openai.BadRequestError, openai.NotFoundError)) as raised:
            respond(client, **parameters)
        assert raised.value.param == param


def test_a_failure_during_the_stream_ends_it_with_the_text_so_far(build_client, model_server):
    model_server.will(Text("They ", "get ", "25", break_after=2))
    last = events_of(build_client(chat=True))[-1]
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert last.response.error.code == "server_error"
    assert last.response.error.message
    assert last.response.output_text == "They get "


def test_characters_that_look_like_line_ends_do_not_split_an_event(build_client, model_server):
    model_server.will(Text("One\u2028line\u0085only."))
    deltas = events_of(build_client(chat=True))
    text = "".join(one.delta for one in deltas if one.type == "response.output_text.delta")
    assert text.startswith("One\u2028line\u0085only.")


@pytest.mark.parametrize(
    ("kind", "asks"), [({}, True), ({"type": "message"}, True), ({"type": "function_call"}, False)]
)
def test_the_description_requires_a_message_of_the_user(kind, asks):
    call = {"call_id": "call_1", "name": "weather", "arguments": "{}"}
    item = {"role": "user", "content": QUESTION, **call, **kind}
    description = Draft202012Validator(ResponseRequest.model_json_schema())
    assert description.is_valid({"model": "footnote", "input": [item]}) == asks
