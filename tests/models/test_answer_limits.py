"""Endless answers: the text so far is kept, and the connection is closed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from domain.errors import ModelError
from models.answer_limits import AnswerLimits, within_time
from models.chat_choice import ChatSpec, build_chat_model
from tests.fakes.openai import MODEL, Endless, EndlessBytes, Fault, Text

TOOL = {
    "type": "function",
    "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object"}},
}
CALL = {"index": 0, "id": "call_1", "type": "function"}
BEGUN = {"tool_calls": [{**CALL, "function": {"name": "find", "arguments": '{"query": "'}}]}
MORE = {"tool_calls": [{"index": 0, "function": {"arguments": "leave "}}]}

TALKING = Endless(content="word ")
THINKING = Endless(reasoning_content="Hmm, " * 40)
SILENT = Endless(content="", reasoning_content="")
CALLING = Endless(BEGUN, **MORE)
KEEP_ALIVE = EndlessBytes(b": keep-alive\n\n" * 100)
IN_ONE_LINE = EndlessBytes(b'data: {"choices": "' + b"x" * 1000)
ENDLESS = [TALKING, THINKING, SILENT, CALLING, KEEP_ALIVE, IN_ONE_LINE]
NAMES = ["text", "reasoning", "empty pieces", "a tool call", "comments", "one line"]


def connect(server, **settings):
    return build_chat_model(ChatSpec(MODEL, base_url=server.url, **settings))


async def whole_message(method, model):
    """The whole message, read with one of LangChain's four methods."""
    if method == "invoke":
        return model.invoke("hi")
    if method == "ainvoke":
        return await model.ainvoke("hi")
    if method == "stream":
        chunks = list(model.stream("hi"))
    else:
        chunks = [chunk async for chunk in model.astream("hi")]
    return sum(chunks[1:], chunks[0])


all_methods = pytest.mark.parametrize("method", ["invoke", "ainvoke", "stream", "astream"])
endless = pytest.mark.parametrize("reply", ENDLESS, ids=NAMES)


@pytest.mark.slow
@all_methods
@endless
async def test_an_endless_answer_is_stopped_at_the_token_limit(server, reply, method):
    server.will(reply)
    whole = await whole_message(method, connect(server, max_tokens=16))
    assert whole.response_metadata["finish_reason"] == "length"
    assert server.hung_up.wait(10)


@pytest.mark.slow
@all_methods
@endless
async def test_an_endless_answer_is_stopped_at_the_time_limit(server, reply, method):
    server.will(reply)
    whole = await whole_message(method, connect(server, answer_timeout_s=0.2))
    assert whole.response_metadata["finish_reason"] == "time_limit"
    assert server.hung_up.wait(10)


@all_methods
async def test_the_text_before_the_limit_is_kept(server, method):
    server.will(TALKING)
    whole = await whole_message(method, connect(server, max_tokens=16))
    assert whole.text.startswith("word word ")
    assert len(whole.text) < 16 * 16


def test_an_answer_within_the_token_limit_is_not_truncated(server):
    longest = "antidisestablishmentarianism "[:-1]
    server.will(Text(*[longest[:8]] * 16))
    whole = connect(server, max_tokens=16).invoke("hi")
    assert whole.response_metadata["finish_reason"] == "stop"
    assert whole.text == longest[:8] * 16


@pytest.mark.slow
def test_an_endless_tool_call_is_stopped_with_bound_tools(server):
    server.will(CALLING)
    reply = connect(server, max_tokens=16).bind_tools([TOOL]).invoke("hi")
    assert reply.response_metadata["finish_reason"] == "length"
    assert server.hung_up.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"max_tokens": 16}, {"answer_timeout_s": 2}])
def test_an_endless_error_page_is_an_error(server, settings):
    server.will(EndlessBytes(b"<p>Sorry</p>" * 100, status=500))
    with pytest.raises(ModelError, match="HTTP 500"):
        connect(server, **settings).invoke("hi")
    assert server.hung_up.wait(10)


@pytest.mark.slow
def test_an_endless_unstreamed_answer_is_an_error(server):
    server.answer = lambda _: EndlessBytes(b" " * 1000)
    model = connect(server, max_tokens=16)
    with pytest.raises(ModelError, match="FOOTNOTE_CHAT_MAX_TOKENS"):
        model.invoke("hi", stream=False)


def test_a_silent_server_is_not_awaited_beyond_the_time_limit(server):
    server.will(Text("late", delay_s=2))
    whole = connect(server, timeout_s=30, answer_timeout_s=0.2).invoke("hi")
    assert (whole.text, whole.response_metadata["finish_reason"]) == ("", "time_limit")


def test_an_http_error_within_the_time_limit_is_an_error(server):
    server.will(Fault(404))
    with pytest.raises(ModelError, match="HTTP 404"):
        connect(server, answer_timeout_s=60).invoke("hi")


def replies_to(model, number):
    for _ in range(number):
        yield model.invoke("hi").response_metadata["finish_reason"]


def test_the_calls_of_one_answer_share_its_time_limit(server):
    server.will(TALKING)
    model = connect(server, answer_timeout_s=60)
    assert list(within_time(replies_to(model, 3), 1)) == ["time_limit"] * 3
    assert len(server.requests) == 1  # no time was left for another request


def test_the_earlier_of_two_time_limits_applies(server):
    server.will(TALKING)
    model = connect(server, answer_timeout_s=60)
    inner = within_time(replies_to(model, 1), 60)
    assert list(within_time(inner, 0.2)) == ["time_limit"]


def test_a_time_limit_applies_only_to_its_own_answer(server):
    server.will(Text("ok"))
    model = connect(server)
    expired = within_time(replies_to(model, 1), 0)
    assert next(expired) == "time_limit"
    assert model.invoke("hi").text == "ok"


def test_closing_early_closes_the_inner_generator():
    closed = []

    def work():
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    limited = within_time(work(), 60)
    assert next(limited) == 1
    limited.close()
    assert closed == [True]


@given(st.integers(min_value=1, max_value=10**6))
def test_a_higher_token_limit_allows_more_characters_and_bytes(tokens):
    fewer, more = AnswerLimits(tokens), AnswerLimits(tokens + 1)
    assert fewer.max_chars < more.max_chars
    assert fewer.max_bytes < more.max_bytes


def limits_in_request(server, **settings):
    connect(server, **settings).invoke("hi")
    return {name: value for name, value in server.requests[-1].body.items() if "max" in name}


def test_max_completion_tokens_is_not_sent_to_a_server_that_rejects_it(server):
    server.refused = frozenset({"max_completion_tokens"})
    server.will(Text("ok"))
    assert limits_in_request(server, max_tokens=64) == {"max_tokens": 64}


def test_without_a_limit_none_is_sent(server):
    server.will(Text("ok"))
    assert limits_in_request(server) == {}


@all_methods
async def test_a_gateway_that_rejects_max_tokens_receives_the_other_name(server, method):
    server.refused = frozenset({"max_tokens"})
    server.will(Text("ok"))
    assert (await whole_message(method, connect(server, max_tokens=64))).text == "ok"
    assert server.requests[-1].body["max_completion_tokens"] == 64
    assert "max_tokens" not in server.requests[-1].body


@pytest.mark.parametrize(
    ("url", "field"),
    [
        (None, "max_completion_tokens"),
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://API.OpenAI.com:443/v1/", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://ours.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://ours.services.ai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://api.openai.com.example.org/v1", "max_tokens"),
        ("https://notapi.openai.com/v1", "max_tokens"),
        ("https://example.org/api.openai.com/v1", "max_tokens"),
        ("https://api.mistral.ai/v1", "max_tokens"),
        ("http://localhost:11434/v1", "max_tokens"),
        ("http://[::1]:8080/v1", "max_tokens"),
    ],
)
def test_each_endpoint_receives_the_parameter_name_that_it_supports(url, field):
    spec = ChatSpec(MODEL, base_url=url, api_key=SecretStr("sk-1"), max_tokens=64)
    payload = build_chat_model(spec)._get_request_payload("hi")
    assert [name for name in payload if "max" in name] == [field]
