"""Tools of the caller, which the chat model may call, in OpenAI's own client."""

import json

import openai
import pytest

from tests.api.openai.conversations import ANSWER, QUESTION, QUOTE, REPLY, chat_messages
from tests.conversations import conversations_of
from tests.fakes.openai import Fault, Text
from tests.fakes.tool_calls import Call, ToolCalls

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": CITY,
    "strict": False,
}
CLOCK = {"name": "get_time", "parameters": {"type": "object", "properties": {}}}
BUSAN, SEOUL = {"city": "Busan"}, {"city": "Seoul"}


def tool(function):
    return {"type": "function", "function": function}


def item(function):
    return {"type": "function", "strict": None, "parameters": None, **function}


TOOLS = [tool(WEATHER), tool(CLOCK)]
ITEMS = [item(WEATHER), item(CLOCK)]
CALLS = ToolCalls(
    Call("get_weather", BUSAN, id="call_a"), Call("get_weather", SEOUL, id="call_b"), text="I look."
)
ONE_CALL = ToolCalls(Call("get_weather", BUSAN, id="call_a"))


def complete(client, messages=None, *, streamed=False, **more):
    """The whole completion, assembled by the client if it is streamed."""
    parameters = {"model": "footnote", "messages": messages or chat_messages(QUESTION), **more}
    if not streamed:
        return client.chat.completions.create(**parameters)
    with client.chat.completions.stream(**parameters) as events:
        return events.get_final_completion()


def respond(client, question=QUESTION, *, streamed=False, **more):
    parameters = {"model": "footnote", "input": question, **more}
    if not streamed:
        return client.responses.create(**parameters)
    with client.responses.stream(**parameters) as events:
        return events.get_final_response()


def calls_of(message):
    functions = [(one.id, one.function) for one in message.tool_calls]
    return [(id_, one.name, json.loads(one.arguments)) for id_, one in functions]


def answering_bodies(server):
    return [one.body for one in server.requests if one.body.get("stream")]


whole_and_streamed = pytest.mark.parametrize("streamed", [False, True])


@whole_and_streamed
def test_calls_of_the_model_are_passed_on(build_client, model_server, streamed):
    model_server.will(CALLS)
    client = build_client(chat=True)
    choice = complete(client, tools=TOOLS, streamed=streamed).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "I look."
    assert calls_of(choice.message) == [
        ("call_a", "get_weather", BUSAN),
        ("call_b", "get_weather", SEOUL),
    ]
    assert choice.message.footnote["sources"][0]["title"] == "Leave policy"
    assert choice.message.footnote["error"] == ""
    assert conversations_of(client.services) == []


@whole_and_streamed
def test_a_message_with_only_calls_has_no_content(build_client, model_server, streamed):
    model_server.will(ONE_CALL)
    choice = complete(build_client(chat=True), tools=TOOLS, streamed=streamed).choices[0]
    assert (choice.finish_reason, choice.message.content or None) == ("tool_calls", None)
    assert calls_of(choice.message) == [("call_a", "get_weather", BUSAN)]


def test_the_chunks_with_calls_follow_the_protocol(build_client, model_server):
    model_server.will(CALLS)
    stream = build_client(chat=True).chat.completions.create(
        model="footnote", messages=chat_messages(QUESTION), tools=TOOLS, stream=True
    )
    choices = [chunk.choices[0] for chunk in stream]
    assert choices[0].delta.role == "assistant"
    calls = [call for one in choices for call in one.delta.tool_calls or ()]
    assert [(one.index, one.id, one.type) for one in calls] == [
        (0, "call_a", "function"),
        (1, "call_b", "function"),
    ]
    assert [one.finish_reason for one in choices[:-1]] == [None] * (len(choices) - 1)
    assert choices[-1].finish_reason == "tool_calls"


@whole_and_streamed
def test_calls_of_the_model_are_items_of_a_response(build_client, model_server, streamed):
    model_server.will(CALLS)
    response = respond(build_client(chat=True), tools=ITEMS, streamed=streamed)
    message, *calls = response.output
    assert (response.status, response.incomplete_details) == ("completed", None)
    assert message.content[0].text == "I look."
    assert [(one.type, one.call_id, one.name, json.loads(one.arguments)) for one in calls] == [
        ("function_call", "call_a", "get_weather", BUSAN),
        ("function_call", "call_b", "get_weather", SEOUL),
    ]
    assert len({one.id for one in response.output}) == 3
    assert [one.name for one in response.tools] == ["get_weather", "get_time"]
    assert (response.tool_choice, response.parallel_tool_calls) == ("auto", True)


def test_the_events_with_calls_follow_the_protocol(build_client, model_server):
    model_server.will(ONE_CALL)
    events = list(
        build_client(chat=True).responses.create(
            model="footnote", input=QUESTION, tools=ITEMS, stream=True
        )
    )
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    added, delta, done, ended = events[2:6]
    assert (added.item.arguments, added.item.status) == ("", "in_progress")
    assert delta.delta == done.arguments == ended.item.arguments
    assert {one.output_index for one in events[2:6]} == {0}
    assert {delta.item_id, done.item_id} == {added.item.id} == {ended.item.id}
    assert events[-1].response.output == [ended.item]


def test_the_model_gets_the_tools_with_the_passages_but_does_not_condense_with_them(
    build_client, model_server
):
    model_server.will(Text("When do unused leave days lapse?"), ONE_CALL)
    messages = chat_messages("When do they lapse?", (QUESTION, ANSWER))
    more = {"tool_choice": "required", "parallel_tool_calls": False}
    complete(build_client(chat=True), messages, tools=TOOLS, **more)
    condensing, answering = answering_bodies(model_server)
    assert "tools" not in condensing
    assert answering["tools"] == TOOLS
    assert answering["tool_choice"] == "required"
    assert answering["parallel_tool_calls"] is False
    assert "[1] Leave policy" in answering["messages"][1]["content"]
    assert "tools that you are offered" in answering["messages"][0]["content"]


EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9]+\.)+[A-Za-z]{2,}$"
"""Like Zod's pattern for email addresses."""
PARAMETERS = [
    {"properties": {"to": {"type": "string", "format": "email", "pattern": EMAIL}}},
    {"$id": "https://a.example/s", "patternProperties": {"^x-": {"type": "string"}}},
    {"properties": {"x": {"$ref": "https://a.example/s"}}, "unevaluatedProperties": False},
    {"x-ui": {"$ref": 5}, "dependencies": {"$id": ["a"]}},
]


def test_the_model_gets_every_schema_of_tools_unchanged(build_client, model_server):
    tools = [
        tool({"name": f"t{n}", "parameters": {"type": "object", **parameters}})
        for n, parameters in enumerate(PARAMETERS)
    ]
    model_server.will(Text(REPLY), Text(REPLY))
    client = build_client(chat=True)
    complete(client, tools=tools)
    respond(client, tools=[item(one["function"]) for one in tools])
    sent = [{"properties": {}, **one["function"]["parameters"]} for one in tools]
    for body in answering_bodies(model_server):
        assert [one["function"]["parameters"] for one in body["tools"]] == sent


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
def test_a_named_function_is_chosen(build_client, model_server, endpoint):
    model_server.will(ToolCalls(Call("get_time", {})))
    client = build_client(chat=True)
    if endpoint == "chat":
        complete(client, tools=TOOLS, tool_choice=tool({"name": "get_time"}))
    else:
        choice = {"type": "function", "name": "get_time"}
        assert respond(client, tools=ITEMS, tool_choice=choice).tool_choice.name == "get_time"
    assert answering_bodies(model_server)[0]["tool_choice"] == tool({"name": "get_time"})


def test_tools_that_must_not_be_called_are_not_passed_on(build_client, model_server):
    model_server.will(Text(REPLY))
    message = complete(build_client(chat=True), tools=TOOLS, tool_choice="none").choices[0].message
    assert message.content.startswith(ANSWER)
    assert "tools" not in answering_bodies(model_server)[0]


def test_functions_of_responses_reach_the_model_as_tools_of_chats(build_client, model_server):
    model_server.will(Text(REPLY))
    respond(build_client(chat=True), tools=[item(WEATHER), item({"name": "look"})])
    look = {"name": "look", "parameters": {"type": "object", "properties": {}}}
    assert answering_bodies(model_server)[0]["tools"] == [tool(WEATHER), tool(look)]


def round_trip(client, **more):
    first = complete(client, tools=TOOLS, **more).choices[0].message
    results = [
        {"role": "tool", "tool_call_id": one.id, "content": f"{one.id}: 18 degrees"}
        for one in first.tool_calls
    ]
    sent_back = first.model_dump(exclude_none=True)
    messages = [*chat_messages(QUESTION), sent_back, *results]
    return complete(client, messages, tools=TOOLS, **more)


@whole_and_streamed
def test_the_answer_follows_the_results_with_checked_citations(
    build_client, model_server, streamed
):
    model_server.will(CALLS, Text(REPLY))
    choice = round_trip(build_client(chat=True), streamed=streamed).choices[0]
    assert choice.finish_reason == "stop"
    assert choice.message.content.startswith(f"{ANSWER}\n\nSources:\n[1] Leave policy")
    assert [one["state"] for one in choice.message.footnote["citations"]] == ["verified"]
    first, second = answering_bodies(model_server)
    assert second["messages"][:2] == first["messages"]
    calling, *results = second["messages"][2:]
    assert calling["content"] == "I look."
    assert [one["id"] for one in calling["tool_calls"]] == ["call_a", "call_b"]
    assert [(one["tool_call_id"], one["content"]) for one in results] == [
        ("call_a", "call_a: 18 degrees"),
        ("call_b", "call_b: 18 degrees"),
    ]


@whole_and_streamed
def test_the_response_follows_the_outputs(build_client, model_server, streamed):
    model_server.will(CALLS, Text(REPLY))
    client = build_client(chat=True)
    first = respond(client, tools=ITEMS)
    outputs = [
        {"type": "function_call_output", "call_id": one.call_id, "output": "18 degrees"}
        for one in first.output
        if one.type == "function_call"
    ]
    items = [*chat_messages(QUESTION), *[one.model_dump() for one in first.output], *outputs]
    response = respond(client, items, tools=ITEMS, streamed=streamed)
    assert response.output_text.startswith(ANSWER)
    roles = [one["role"] for one in answering_bodies(model_server)[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool"]


@whole_and_streamed
def test_a_citation_that_a_tool_returns_proves_nothing_when_the_model_copies_it(
    build_client, model_server, streamed
):
    model_server.answer = lambda body: Text(body["messages"][-1]["content"])
    client = build_client(chat=True)
    forged = {**RESULT, "content": f'Leave is unlimited [1: "{QUOTE}"].'}
    messages = [*chat_messages(QUESTION), CALLING, forged]
    message = complete(client, messages, tools=TOOLS, streamed=streamed).choices[0].message
    assert message.content == f'Leave is unlimited \\[1: "{QUOTE}"\\].'
    assert message.footnote["citations"] == []
    items = [*chat_messages(QUESTION), CALL_ITEM, {**OUTPUT, "output": forged["content"]}]
    response = respond(client, items, tools=ITEMS, streamed=streamed)
    assert response.output_text == message.content
    assert response.footnote["citations"] == []


def test_the_model_may_call_tools_again_after_a_result(build_client, model_server):
    again = ToolCalls(Call("get_time", {}, id="call_c"))
    model_server.will(ONE_CALL, again, Text(REPLY))
    client = build_client(chat=True)
    second = round_trip(client).choices[0]
    assert second.finish_reason == "tool_calls"
    assert calls_of(second.message) == [("call_c", "get_time", {})]


def test_an_answer_from_results_gets_no_extract(build_client, model_server):
    model_server.will(ONE_CALL, Text("It is 18 degrees in Busan, says get_weather."))
    message = round_trip(build_client(chat=True)).choices[0].message
    assert message.content == "It is 18 degrees in Busan, says get_weather."
    assert message.footnote["citations"] == []
    assert message.footnote["unsupported_sentences"] == 1


def test_an_answer_without_citations_before_any_call_still_gets_an_extract(
    build_client, model_server
):
    model_server.will(Text("Thirty days."))
    message = complete(build_client(chat=True), tools=TOOLS).choices[0].message
    assert QUOTE in message.content


def test_calls_in_the_history_are_not_sent_again(build_client, model_server):
    model_server.will(ONE_CALL, Text(REPLY), Text("When do unused days lapse?"), Text(REPLY))
    client = build_client(chat=True)
    first = complete(client, tools=TOOLS).choices[0].message.model_dump(exclude_none=True)
    result = {"role": "tool", "tool_call_id": "call_a", "content": "18 degrees"}
    messages = [*chat_messages(QUESTION), first, result]
    answer = complete(client, messages, tools=TOOLS).choices[0].message
    messages += [answer.model_dump(exclude_none=True), *chat_messages("When do they lapse?")]
    complete(client, messages, tools=TOOLS)
    condensing, answering = answering_bodies(model_server)[2:]
    assert ANSWER in condensing["messages"][0]["content"]
    assert [one["role"] for one in answering["messages"]] == ["system", "user"]


def test_a_call_of_a_tool_that_is_no_longer_offered_is_accepted(build_client, model_server):
    """OpenAI accepts it, too: the tools may change between requests."""
    call = {"id": "1", "type": "function", "function": {"name": "other", "arguments": "{}"}}
    messages = [
        *chat_messages(QUESTION),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": "renamed", "content": "x"},
    ]
    model_server.will(Text(REPLY))
    assert complete(build_client(chat=True), messages).choices[0].finish_reason == "stop"
    assert answering_bodies(model_server)[0]["messages"][2]["tool_calls"] == [call]


@pytest.mark.parametrize("arguments", ['{"city": "Bu', "[1]", "oops", ""])
def test_arguments_are_passed_on_as_the_model_wrote_them(build_client, model_server, arguments):
    model_server.will(ToolCalls(Call("get_weather", arguments, id="call_a")), Text(REPLY))
    client = build_client(chat=True)
    message = complete(client, tools=TOOLS).choices[0].message
    assert message.tool_calls[0].function.arguments == (arguments or "{}")
    result = {"role": "tool", "tool_call_id": "call_a", "content": "No such city."}
    messages = [*chat_messages(QUESTION), message.model_dump(exclude_none=True), result]
    assert complete(client, messages, tools=TOOLS).choices[0].finish_reason == "stop"


def test_a_character_that_is_split_between_pieces_of_arguments_stays(build_client, model_server):
    arguments = '{"c":"\ud842\udfb7"}'  # the first piece has seven characters
    model_server.will(ToolCalls(Call("get_weather", arguments), Call("get_time", "\ude00 \ud83d")))
    message = complete(build_client(chat=True), tools=TOOLS).choices[0].message
    whole, broken = (one.function.arguments for one in message.tool_calls)
    assert (whole, broken) == ('{"c":"𠮷"}', "\ufffd \ufffd")


def test_calls_without_unique_ids_get_them(build_client, model_server):
    model_server.will(ToolCalls(Call("get_time", {}, id="1"), Call("get_time", {}, id="1")))
    message = complete(build_client(chat=True), tools=TOOLS).choices[0].message
    assert len({one.id for one in message.tool_calls}) == 2


def test_calls_that_were_cut_off_are_dropped(build_client, model_server):
    cut_off = ToolCalls(Call("get_weather", BUSAN), text="I look.")
    object.__setattr__(cut_off, "finish_reason", "length")
    model_server.will(cut_off)
    choice = complete(build_client(chat=True), tools=TOOLS).choices[0]
    assert (choice.finish_reason, choice.message.tool_calls) == ("length", None)


def test_calls_that_were_not_offered_are_no_tool_calls_of_the_answer(build_client, model_server):
    model_server.will(ONE_CALL)
    choice = complete(build_client(chat=True)).choices[0]
    assert (choice.finish_reason, choice.message.tool_calls) == ("stop", None)
    assert "called a tool" in choice.message.footnote["error"]


RESULT = {"role": "tool", "tool_call_id": "1", "content": "x"}
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DEEP = {"type": "object", "properties": {"x": {"enum": ["x" * 100_000]}}}


def with_parameters(parameters):
    return {"tools": [tool({"name": "look", "parameters": parameters})]}


INVALID = {
    "a name with a space": ("tools[0].function.name", {"tools": [tool({"name": "look up"})]}),
    "no name": ("tools[0].function.name", {"tools": [tool({})]}),
    "another kind": ("tools[0].type", {"tools": [{"type": "web_search"}]}),
    "an unknown type": ("tools[0].function.parameters", with_parameters({"type": "objekt"})),
    "no object": ("tools[0].function.parameters", with_parameters({"type": "string"})),
    "no schema": ("tools[0].function.parameters", with_parameters([])),
    "a huge schema": ("tools[0].function.parameters", with_parameters(DEEP)),
    "duplicates": ("tools", {"tools": [tool(CLOCK), tool(CLOCK)]}),
    "too many": ("tools", {"tools": [tool({"name": f"t{n}"}) for n in range(129)]}),
    "an unknown choice": ("tool_choice", {"tools": TOOLS, "tool_choice": tool({"name": "look"})}),
    "a choice without tools": ("tool_choice", {"tool_choice": "required"}),
    "no such mode": ("tool_choice", {"tools": TOOLS, "tool_choice": "sometimes"}),
    "other allowed tools": ("tool_choice.type", {"tool_choice": {"type": "allowed_tools"}}),
    "a number": ("parallel_tool_calls", {"tools": TOOLS, "parallel_tool_calls": 1}),
    "old functions": ("functions", {"functions": [WEATHER]}),
    "a result without a call": ("messages", {"messages": [*chat_messages(QUESTION), RESULT]}),
    "a result of another call": (
        "messages",
        {"messages": [*chat_messages(QUESTION), CALLING, {**RESULT, "tool_call_id": "2"}]},
    ),
    "a call without a result": ("messages", {"messages": [*chat_messages(QUESTION), CALLING]}),
    "an unanswered call in the history": (
        "messages",
        {"messages": [*chat_messages(QUESTION), CALLING, *chat_messages(QUESTION)]},
    ),
    "two results": ("messages", {"messages": [*chat_messages("x"), CALLING, RESULT, RESULT]}),
    "two calls with an id": (
        "messages",
        {"messages": [*chat_messages("x"), {**CALLING, "tool_calls": [CALL, CALL]}, RESULT]},
    ),
    "a call without a name": (
        "messages[1].tool_calls[0].function.name",
        {
            "messages": [
                *chat_messages("x"),
                {**CALLING, "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]},
                RESULT,
            ]
        },
    ),
    "an image": (
        "messages[2].content[0].type",
        {"messages": [*chat_messages("x"), CALLING, {**RESULT, "content": [{"type": "image"}]}]},
    ),
}


def test_invalid_tools_are_rejected_with_the_name_of_the_field(build_client, model_server):
    client = build_client(chat=True)
    for name, (param, parameters) in INVALID.items():
        for stream in (False, True):
            body = {"model": "footnote", "messages": chat_messages(QUESTION), **parameters}
            with pytest.raises(openai.BadRequestError) as raised:
                client.chat.completions.create(**body, stream=stream)
            assert (name, raised.value.param) == (name, param)
            assert len(raised.value.message) < 1000
    assert model_server.requests == []
    assert conversations_of(client.services) == []


CALL_ITEM = {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "x"}
INVALID_RESPONSES = {
    "tools[0].name": {"tools": [item({"name": "look up"})]},
    "tools[0].type": {"tools": [{"type": "file_search", "vector_store_ids": []}]},
    "tools[0].parameters": {"tools": [item({"name": "look", "parameters": {"type": "string"}})]},
    "tools": {"tools": [item(CLOCK), item(CLOCK)]},
    "tool_choice": {"tools": ITEMS, "tool_choice": {"type": "function", "name": "look"}},
    "input": {"input": [*chat_messages(QUESTION), CALL_ITEM]},
    "input[1].call_id": {"input": [*chat_messages(QUESTION), {**CALL_ITEM, "call_id": None}]},
    "input[1].output": {"input": [*chat_messages(QUESTION), {**OUTPUT, "output": 1}]},
    "input[1].role": {"input": [*chat_messages(QUESTION), {"type": "reasoning", "summary": []}]},
}


@pytest.mark.parametrize("param", INVALID_RESPONSES)
def test_invalid_tools_of_responses_are_rejected(build_client, model_server, param):
    client = build_client(chat=True)
    with pytest.raises(openai.BadRequestError) as raised:
        client.responses.create(
            **{"model": "footnote", "input": QUESTION} | INVALID_RESPONSES[param]
        )
    assert raised.value.param == param
    assert model_server.requests == []


def test_without_a_chat_model_tools_are_rejected_with_the_name_of_the_setting(build_client):
    client = build_client()
    results = [*chat_messages(QUESTION), CALLING, RESULT]
    for param, call in {
        "tools": lambda: complete(client, tools=TOOLS),
        "messages": lambda: complete(client, results),
        "input": lambda: respond(client, [*chat_messages(QUESTION), CALL_ITEM, OUTPUT]),
    }.items():
        with pytest.raises(openai.BadRequestError, match="FOOTNOTE_CHAT_MODEL") as raised:
            call()
        assert raised.value.param == param
    with pytest.raises(openai.BadRequestError, match="FOOTNOTE_CHAT_MODEL"):
        respond(client, tools=ITEMS, tool_choice="auto")
    assert QUOTE in complete(client, tools=TOOLS, tool_choice="none").choices[0].message.content


def test_the_agent_takes_no_tools_of_the_caller(build_client, model_server):
    with pytest.raises(openai.BadRequestError, match="only its own tools") as raised:
        complete(build_client(chat=True), model="footnote-agent", tools=TOOLS)
    assert raised.value.param == "tools"
    assert model_server.requests == []


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_rejects_tools_is_quoted(build_client, model_server, streamed):
    model_server.answer = lambda _: Fault(400, "test-chat does not support tools")
    with pytest.raises(openai.BadRequestError, match="does not support tools") as raised:
        complete(build_client(chat=True), tools=TOOLS, streamed=streamed)
    assert raised.value.param == "tools"


def test_another_rejection_of_the_server_is_no_error_of_the_caller(build_client, model_server):
    model_server.answer = lambda _: Fault(400, "temperature must be 1")
    with pytest.raises(openai.InternalServerError) as raised:
        complete(build_client(chat=True), tools=TOOLS)
    assert raised.value.status_code == 502
