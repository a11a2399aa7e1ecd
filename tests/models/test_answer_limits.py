"""A model that never ends: what came is kept, the rest is left, and the server hears of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from errors import ModelError
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
KEPT_ALIVE = EndlessBytes(b": keep-alive\n\n" * 100)
IN_ONE_LINE = EndlessBytes(b'data: {"choices": "' + b"x" * 1000)
ENDLESS = [TALKING, THINKING, SILENT, CALLING, KEPT_ALIVE, IN_ONE_LINE]
NAMES = ["text", "reasoning", "empty pieces", "a tool call", "comments", "one line"]


def connect(server, **settings):
    return build_chat_model(ChatSpec(MODEL, base_url=server.url, **settings))


async def whole_by(way, model):
    """The whole message, read in one of the four ways that LangChain has."""
    if way == "invoke":
        return model.invoke("hi")
    if way == "ainvoke":
        return await model.ainvoke("hi")
    if way == "stream":
        chunks = list(model.stream("hi"))
    else:
        chunks = [chunk async for chunk in model.astream("hi")]
    return sum(chunks[1:], chunks[0])


ways = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
endless = pytest.mark.parametrize("reply", ENDLESS, ids=NAMES)


@pytest.mark.slow
@ways
@endless
async def test_what_never_ends_is_left_at_the_length_and_the_server_hears_of_it(server, reply, way):
    server.will(reply)
    whole = await whole_by(way, connect(server, max_tokens=16))
    assert whole.response_metadata["finish_reason"] == "length"
    assert server.hung_up.wait(10)


@pytest.mark.slow
@ways
@endless
async def test_what_never_ends_is_left_when_its_time_is_over(server, reply, way):
    server.will(reply)
    whole = await whole_by(way, connect(server, answer_timeout_s=0.2))
    assert whole.response_metadata["finish_reason"] == "time_limit"
    assert server.hung_up.wait(10)


@ways
async def test_what_was_written_until_then_is_kept(server, way):
    server.will(TALKING)
    whole = await whole_by(way, connect(server, max_tokens=16))
    assert whole.text.startswith("word word ")
    assert len(whole.text) < 16 * 16


def test_an_answer_within_its_tokens_is_never_cut(server):
    longest = "antidisestablishmentarianism "[:-1]
    server.will(Text(*[longest[:8]] * 16))
    whole = connect(server, max_tokens=16).invoke("hi")
    assert whole.response_metadata["finish_reason"] == "stop"
    assert whole.text == longest[:8] * 16


@pytest.mark.slow
def test_a_tool_call_that_never_ends_is_left_with_tools_bound_too(server):
    server.will(CALLING)
    reply = connect(server, max_tokens=16).bind_tools([TOOL]).invoke("hi")
    assert reply.response_metadata["finish_reason"] == "length"
    assert server.hung_up.wait(10)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"max_tokens": 16}, {"answer_timeout_s": 2}])
def test_an_error_page_that_never_ends_is_still_an_error(server, settings):
    server.will(EndlessBytes(b"<p>Sorry</p>" * 100, status=500))
    with pytest.raises(ModelError, match="HTTP 500"):
        connect(server, **settings).invoke("hi")
    assert server.hung_up.wait(10)


@pytest.mark.slow
def test_a_whole_answer_that_never_ends_is_an_error(server):
    server.answer = lambda _: EndlessBytes(b" " * 1000)
    model = connect(server, max_tokens=16)
    with pytest.raises(ModelError, match="FOOTNOTE_CHAT_MAX_TOKENS"):
        model.invoke("hi", stream=False)


def test_silence_is_waited_through_no_longer_than_the_answer_may_take(server):
    server.will(Text("late", delay_s=2))
    whole = connect(server, timeout_s=30, answer_timeout_s=0.2).invoke("hi")
    assert (whole.text, whole.response_metadata["finish_reason"]) == ("", "time_limit")


def test_a_refusal_before_the_time_is_over_stays_a_refusal(server):
    server.will(Fault(404))
    with pytest.raises(ModelError, match="HTTP 404"):
        connect(server, answer_timeout_s=60).invoke("hi")


def replies_to(model, number):
    for _ in range(number):
        yield model.invoke("hi").response_metadata["finish_reason"]


def test_the_calls_of_one_answer_share_its_time(server):
    server.will(TALKING)
    model = connect(server, answer_timeout_s=60)
    assert list(within_time(replies_to(model, 3), 0.2)) == ["time_limit"] * 3
    assert len(server.requests) == 1  # no time was left to ask again


def test_of_two_limits_the_nearer_one_counts(server):
    server.will(TALKING)
    model = connect(server, answer_timeout_s=60)
    inner = within_time(replies_to(model, 1), 60)
    assert list(within_time(inner, 0.2)) == ["time_limit"]


def test_the_time_of_an_answer_is_nobody_elses(server):
    server.will(Text("ok"))
    model = connect(server)
    over = within_time(replies_to(model, 1), 0)
    assert next(over) == "time_limit"
    assert model.invoke("hi").text == "ok"


def test_what_is_left_early_is_closed():
    closed = []

    def work():
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    left = within_time(work(), 60)
    assert next(left) == 1
    left.close()
    assert closed == [True]


@given(st.integers(min_value=1, max_value=10**6))
def test_more_tokens_never_allow_less(tokens):
    fewer, more = AnswerLimits(tokens), AnswerLimits(tokens + 1)
    assert fewer.max_chars < more.max_chars
    assert fewer.max_bytes < more.max_bytes


def sent(server, **settings):
    connect(server, **settings).invoke("hi")
    return {name: value for name, value in server.requests[-1].body.items() if "max" in name}


def test_a_server_that_knows_no_max_completion_tokens_is_not_sent_them(server):
    server.refused = frozenset({"max_completion_tokens"})
    server.will(Text("ok"))
    assert sent(server, max_tokens=64) == {"max_tokens": 64}


def test_without_a_limit_the_server_has_its_own(server):
    server.will(Text("ok"))
    assert sent(server) == {}


@ways
async def test_a_gateway_to_a_model_that_refuses_max_tokens_is_sent_the_other_name(server, way):
    server.refused = frozenset({"max_tokens"})
    server.will(Text("ok"))
    assert (await whole_by(way, connect(server, max_tokens=64))).text == "ok"
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
def test_each_endpoint_is_sent_the_name_that_it_knows(url, field):
    spec = ChatSpec(MODEL, base_url=url, api_key=SecretStr("sk-1"), max_tokens=64)
    payload = build_chat_model(spec)._get_request_payload("hi")
    assert [name for name in payload if "max" in name] == [field]
