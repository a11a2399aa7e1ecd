"""The chat model over HTTP, through the real client, against exact bytes and scripted faults."""

import socket
import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import SecretStr

from domain.errors import ConfigError, ContextOverflowError, ModelError, ModelUnavailableError
from models.chat_choice import ChatSpec, build_chat_model
from tests.fakes.openai import MODEL, Fault, Raw, Reasoned, Text

KEY = "sk-secret-7"


def connect(server, **settings):
    return build_chat_model(ChatSpec(MODEL, base_url=server.url, **settings))


def drain(stream):
    """The streamed text, and the error that ended it, if any."""
    pieces = []
    try:
        pieces.extend(chunk.text for chunk in stream)
    except ModelError as error:
        return "".join(pieces), error
    return "".join(pieces), None


def failure(server, *replies, **settings):
    server.will(*replies)
    _, error = drain(connect(server, **settings).stream("hi"))
    assert error is not None
    assert error.retryable == isinstance(error, ModelUnavailableError)
    return error


def test_an_answer_is_streamed_in_pieces_with_its_usage(server):
    server.will(Text("Fifteen ", "日 ", "입니다."))
    chunks = list(connect(server).stream("How many days?"))
    assert [chunk.text for chunk in chunks if chunk.text] == ["Fifteen ", "日 ", "입니다."]
    whole = sum(chunks[1:], chunks[0])
    assert whole.response_metadata["finish_reason"] == "stop"
    assert whole.usage_metadata["input_tokens"] == 11
    assert whole.usage_metadata["output_tokens"] == 7


def test_pieces_arrive_while_the_server_is_still_writing(server):
    server.will(Text("one", "two", "three", pause_s=0.2))
    started = time.monotonic()
    stream = connect(server).stream("hi")
    next(chunk for chunk in stream if chunk.text)
    first = time.monotonic() - started
    list(stream)
    assert first < time.monotonic() - started - 0.3


def test_the_request_follows_the_protocol(server):
    server.will(Text("ok"))
    model = connect(server, api_key=SecretStr(KEY), temperature=0, max_tokens=64)
    model.invoke([SystemMessage("Be brief."), HumanMessage("hi"), AIMessage("yes?")])
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "yes?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "max_tokens": 64,
    }


def test_unset_parameters_are_not_sent(server):
    server.will(Text("ok"))
    connect(server).invoke("hi")
    assert set(server.requests[0].body) == {"model", "messages", "stream", "stream_options"}


def test_a_self_hosted_server_needs_no_key(server):
    server.will(Text("ok"))
    assert connect(server).invoke("hi").text == "ok"


def test_the_environment_does_not_redirect_a_model_without_base_url(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    model = build_chat_model(ChatSpec(MODEL, api_key=SecretStr(KEY)))
    assert model.openai_api_base == "https://api.openai.com/v1"


async def drain_async(stream):
    pieces = []
    try:
        async for chunk in stream:
            pieces.append(chunk.text)  # noqa: PERF401
    except ModelError as error:
        return "".join(pieces), error
    return "".join(pieces), None


async def test_async_calls_behave_the_same(server):
    server.will(Text("one ", "two"), Text("one ", "two", finish_reason=None), Fault(500))
    model = connect(server)
    assert await drain_async(model.astream("hi")) == ("one two", None)
    text, error = await drain_async(model.astream("hi"))
    assert text == "one two"
    assert "the answer is incomplete" in str(error)
    with pytest.raises(ModelUnavailableError, match="HTTP 500"):
        await model.ainvoke("hi")


def test_without_key_and_base_url_there_is_no_model():
    assert build_chat_model(ChatSpec()) is None
    assert build_chat_model(ChatSpec("gpt-5")) is None


def test_without_a_model_name_there_is_no_model():
    assert build_chat_model(ChatSpec(api_key=SecretStr(KEY))) is None
    assert build_chat_model(ChatSpec(base_url="http://localhost:11434/v1")) is None


def test_an_invalid_base_url_is_reported():
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is not a valid address"):
        build_chat_model(ChatSpec(MODEL, base_url="localhost:11434"))


def test_a_refused_key_is_reported_by_its_setting_without_the_value(server):
    server.api_key = "another"
    text, error = drain(connect(server, api_key=SecretStr(KEY)).stream("hi"))
    assert (text, error.retryable) == ("", False)
    assert "HTTP 401" in str(error)
    assert "OPENAI_API_KEY was rejected" in str(error)
    assert KEY not in str(error)


def test_a_missing_key_is_distinguished_from_a_refused_one(server):
    server.api_key = "another"
    _, error = drain(connect(server).stream("hi"))
    assert "OPENAI_API_KEY is not set" in str(error)


def test_no_message_contains_the_key_or_a_password(server):
    url = server.url.replace("http://", f"http://me:{KEY}@")
    model = build_chat_model(ChatSpec(MODEL, base_url=url, api_key=SecretStr(KEY)))
    for status in (400, 404, 429, 500):
        server.will(Fault(status, f"your key {KEY} is odd"))
        _, error = drain(model.stream("hi"))
        assert str(status) in str(error)
        assert KEY not in str(error)


@pytest.mark.parametrize(
    ("header", "when"),
    [
        ("17", "in 17 s"),
        ("0.2", "in 1 s"),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "in 1 s"),
        (None, "in a minute"),
        ("soon", "in a minute"),
    ],
)
def test_a_rate_limit_is_reported_immediately_with_the_time_to_wait(server, header, when):
    started = time.monotonic()
    error = failure(server, Fault(429, retry_after=header))
    assert time.monotonic() - started < 5
    assert error.retryable
    assert when in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "retryable", "message"),
    [
        (Fault(429, code="insufficient_quota"), False, "no quota left"),
        (Fault(404), False, "FOOTNOTE_CHAT_MODEL and OPENAI_BASE_URL"),
        (Fault(403), False, "OPENAI_API_KEY"),
        (Fault(500, "boom"), True, "HTTP 500). The server says: boom. Try again"),
        (Fault(503), True, "HTTP 503"),
        (Fault(400, "no such parameter"), False, "The server says: no such parameter. Check"),
        (Fault(400, "x", code="context_length_exceeded"), False, "too long for test-chat"),
        (Fault(400, "maximum context length is 9"), False, "Retrieve fewer passages"),
    ],
)
def test_each_http_error_is_reported_with_a_remedy(server, fault, retryable, message):
    error = failure(server, fault)
    assert error.retryable is retryable
    assert message in str(error)
    assert "127.0.0.1" in str(error)


def test_an_interrupted_stream_keeps_the_received_text(server):
    server.will(Text("The leave ", "is 15 ", "days.", break_after=2))
    text, error = drain(connect(server).stream("hi"))
    assert text == "The leave is 15 "
    assert isinstance(error, ModelUnavailableError)
    assert "stopped responding" in str(error)


@pytest.mark.parametrize("pieces", [("The leave ", "is 15"), ()])
def test_a_stream_without_a_finish_reason_is_incomplete(server, pieces):
    server.will(Text(*pieces, finish_reason=None))
    text, error = drain(connect(server).stream("hi"))
    assert text == "".join(pieces)
    assert isinstance(error, ModelUnavailableError)
    assert "the answer is incomplete" in str(error)


def test_an_answer_with_finish_reason_length_is_no_error(server):
    server.will(Text("The leave", finish_reason="length"))
    assert connect(server).invoke("hi").response_metadata["finish_reason"] == "length"


def test_a_silent_server_times_out(server):
    error = failure(server, Text("late", delay_s=2), timeout_s=0.3)
    assert error.retryable
    assert "sent nothing for 0.3 s" in str(error)


def test_a_stalled_stream_times_out(server):
    server.will(Text("one", "two", pause_s=0.1), Text("one", "two", pause_s=2))
    model = connect(server, timeout_s=0.5)
    assert drain(model.stream("hi")) == ("onetwo", None)
    assert "sent nothing" in str(drain(model.stream("hi"))[1])


def test_a_refused_connection_is_reported_with_host_and_setting():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    model = build_chat_model(ChatSpec(MODEL, base_url=f"http://127.0.0.1:{port}/v1"))
    with pytest.raises(ModelUnavailableError, match=f"127.0.0.1:{port} can't be reached") as raised:
        model.invoke("hi")
    assert "OPENAI_BASE_URL" in str(raised.value)


@pytest.mark.parametrize(
    "replies",
    [
        # An empty stream is requested once more, without streaming.
        [Raw(b"<html>hello</html>", "text/html")] * 2,
        [Raw(b"{}")] * 2,
        [Raw(b"[]")] * 2,
        [Raw(b"", "text/event-stream")] * 2,
        [Raw(b"data: {oops\n\n", "text/event-stream")],
    ],
)
def test_an_answer_in_another_protocol_is_reported_with_the_base_url(server, replies):
    error = failure(server, *replies)
    assert not error.retryable
    assert "OpenAI's protocol" in str(error)
    assert f"OPENAI_BASE_URL ({server.url})" in str(error)


NOT_STREAMED = Raw(
    b'{"id": "1", "object": "chat.completion", "created": 0, "model": "test-chat", "choices":'
    b' [{"index": 0, "message": {"role": "assistant", "content": "25"}, "finish_reason": "stop"}]}'
)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.mark.parametrize("options", [{}, {"tools": [TOOL]}])
async def test_a_server_that_ignores_stream_is_reported_as_such(server, options):
    server.will(NOT_STREAMED, NOT_STREAMED)
    model = connect(server).bind(**options)
    with pytest.raises(ModelError, match="JSON instead of the requested stream") as raised:
        list(model.stream("hi"))
    assert f"OPENAI_BASE_URL ({server.url})" in str(raised.value)
    assert not isinstance(raised.value, ContextOverflowError)
    with pytest.raises(ModelError, match="JSON instead of the requested stream"):
        [piece async for piece in model.astream("hi")]
    assert len(server.requests) == 2


EMPTY_STREAM = Raw(b"", "text/event-stream")
TOO_LONG = Fault(400, "This model's maximum context length is 2048 tokens.")


def test_the_reason_for_an_empty_stream_is_requested_with_one_token(server):
    error = failure(server, EMPTY_STREAM, TOO_LONG, max_tokens=500)
    assert "too long for test-chat" in str(error)
    assert "maximum context length is 2048 tokens" in str(error)
    assert "FOOTNOTE_PASSAGES_TOKENS" in str(error)
    bodies = [request.body for request in server.requests]
    assert [body["max_tokens"] for body in bodies] == [500, 1]
    assert not bodies[1]["stream"]
    assert bodies[0]["messages"] == bodies[1]["messages"]


async def test_the_reason_for_an_empty_stream_is_requested_in_async_calls(server):
    server.will(EMPTY_STREAM, TOO_LONG)
    with pytest.raises(ModelError, match="too long for test-chat"):
        [piece async for piece in connect(server).astream("hi")]


def test_an_empty_stream_of_a_server_that_can_write_one_token_means_a_too_long_prompt(server):
    error = failure(server, EMPTY_STREAM, Text("The"))
    assert isinstance(error, ContextOverflowError)
    assert "FOOTNOTE_CHAT_MAX_TOKENS" in str(error)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_kept_beside_the_text(server, name):
    server.will(Reasoned("Hm, ", "so.", text="25 days.", name=name))
    pieces = list(connect(server).stream("hi"))
    whole = pieces[0] + pieces[1:]
    assert whole.text == "25 days."
    assert whole.additional_kwargs["reasoning_content"] == "Hm, so."


def test_an_error_inside_the_stream_is_reported(server):
    body = b'data: {"error": {"message": "out of memory"}}\n\n'
    error = failure(server, Raw(body, "text/event-stream"))
    assert "The server says: out of memory." in str(error)


def test_closing_a_stream_closes_the_connection(server):
    server.will(Text(*["word "] * 200, pause_s=0.02))
    stream = connect(server).stream("hi")
    next(chunk for chunk in stream if chunk.text)
    stream.close()
    assert server.hung_up.wait(3)


def test_counting_tokens_downloads_nothing(server):
    model = connect(server)
    assert 1 <= model.get_num_tokens("How many days of leave?") <= 30
    assert model.get_num_tokens_from_messages([HumanMessage("hi " * 400)]) >= 200
    assert server.requests == []
