import asyncio
import json

import openai
import pytest

from tests.api.openai.conftest import WAIT_S
from tests.api.openai.conversations import ANSWER, QUESTION, REPLY, chat_messages
from tests.fakes.openai import Fault, Text
from tests.fakes.tool_calls import Call, ToolCalls

pytestmark = pytest.mark.slow

PIECES = [f"{word} " for word in REPLY.split()]


def stream(client, model="footnote", **more):
    return client.chat.completions.create(
        model=model, messages=chat_messages(QUESTION), stream=True, **more
    )


def raw_events(client):
    """The data of each event, as it goes over the wire."""
    body = {"model": "footnote", "messages": chat_messages(QUESTION), "stream": True}
    response = client.chat.completions.with_raw_response.create(**body)
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = response.http_response.read().decode().splitlines()
    return [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]


def text_of(chunks):
    return "".join(one.choices[0].delta.content or "" for one in chunks if one.choices)


def test_the_role_comes_first_and_the_evidence_last(build_client, model_server):
    model_server.will(Text(*PIECES))
    chunks = list(stream(build_client(chat=True)))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert all(one.object == "chat.completion.chunk" for one in chunks)
    assert {one.id for one in chunks} == {chunks[0].id}
    assert len({one.created for one in chunks}) == 1
    assert [one.choices[0].finish_reason for one in chunks[:-1]] == [None] * (len(chunks) - 1)
    last = chunks[-1].choices[0]
    assert last.finish_reason == "stop"
    assert [one["state"] for one in last.delta.footnote["citations"]] == ["verified"]
    assert last.delta.annotations == []


def test_a_streamed_answer_equals_the_whole_answer(build_client, model_server):
    model_server.will(Text(*PIECES), Text(REPLY + " "))
    client = build_client(chat=True)
    streamed = text_of(stream(client))
    whole = client.chat.completions.create(model="footnote", messages=chat_messages(QUESTION))
    assert streamed == whole.choices[0].message.content
    assert "\n\nSources:\n[1] Leave policy" in streamed


def test_token_counts_are_sent_in_a_separate_chunk_on_request(build_client, model_server):
    model_server.will(Text(REPLY, prompt_tokens=42, completion_tokens=9))
    *others, last = stream(build_client(chat=True), stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage.total_tokens == 51
    assert {one.usage for one in others} == {None}


def test_the_stream_ends_with_done(build_client):
    *chunks, done = raw_events(build_client())
    assert done == "[DONE]"
    assert all("usage" not in json.loads(one) for one in chunks)


def test_the_openai_client_assembles_the_chunks(build_client, model_server):
    model_server.will(Text(*PIECES))
    with build_client(chat=True).chat.completions.stream(
        model="footnote", messages=chat_messages(QUESTION)
    ) as events:
        message = events.get_final_completion().choices[0].message
    assert message.content.endswith(message.footnote["citations"][0]["location"])


def test_a_failure_before_the_first_token_returns_an_error_status(build_client, model_server):
    model_server.will(Fault(503, "overloaded"))
    with pytest.raises(openai.InternalServerError) as raised:
        stream(build_client(chat=True))
    assert raised.value.status_code == 503
    assert raised.value.response.headers["retry-after"].isdigit()


def test_a_failure_during_the_stream_sends_an_error_instead_of_done(build_client, model_server):
    model_server.will(*[Text("They ", "get ", "25", break_after=2)] * 2)
    client = build_client(chat=True)
    chunks = []
    with pytest.raises(openai.APIError, match="stopped responding"):
        chunks.extend(stream(client))
    assert raw_events(client)[-1].startswith('{"error": {"message": ')


def test_a_client_that_disconnects_mid_stream_stops_the_model(build_client, model_server):
    model_server.will(Text(*["word "] * 100, pause_s=0.2))
    with stream(build_client(chat=True)) as chunks:
        assert next(one for one in chunks if one.choices[0].delta.content)
    assert model_server.hung_up.wait(WAIT_S)


async def disconnect_once_the_model_is_called(client, model_server, **more):
    address = {"base_url": client.base_url, "api_key": client.api_key}
    async with (
        openai.AsyncOpenAI(**address, max_retries=0) as other_client,
        asyncio.timeout(WAIT_S),
    ):
        task = asyncio.create_task(
            other_client.chat.completions.create(
                model="footnote", messages=chat_messages(QUESTION), **more
            )
        )
        while not model_server.requests:
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait([task])


async def test_a_client_that_disconnects_before_the_first_token_stops_the_model(
    build_client, model_server
):
    model_server.will(Text(*["word "] * 100, delay_s=3, pause_s=0.1))
    await disconnect_once_the_model_is_called(build_client(chat=True), model_server, stream=True)
    assert await asyncio.to_thread(model_server.hung_up.wait, WAIT_S)


async def test_a_client_that_disconnects_before_the_whole_answer_stops_the_model(
    build_client, model_server
):
    model_server.will(Text(*["word "] * 200, pause_s=0.1))
    await disconnect_once_the_model_is_called(build_client(chat=True), model_server)
    assert await asyncio.to_thread(model_server.hung_up.wait, WAIT_S)


def test_text_of_an_agent_between_steps_is_a_separate_paragraph(build_client, model_server):
    model_server.will(
        ToolCalls(Call("search_documents", {"query": "annual leave"}), text="I look."), Text(REPLY)
    )
    chunks = list(stream(build_client(chat=True), model="footnote-agent"))
    assert text_of(chunks).startswith(f"I look.\n\n{ANSWER}\n\nSources:")
    assert chunks[-1].choices[0].delta.footnote["steps"][0]["said"] == "I look."
