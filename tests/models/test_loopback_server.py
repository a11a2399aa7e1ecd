"""The loopback server itself: exact bytes out, and no request it doesn't know passes."""

import http.client
import json
import urllib.parse

import pytest

from tests.fakes.openai import Fault, Text, serving


def post(server, path, body):
    address = urllib.parse.urlsplit(server.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=5)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"/v1/{path}", json.dumps(body), headers)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response, data


MESSAGES = [{"role": "user", "content": "hi"}]


def test_a_stream_is_these_bytes(server):
    server.will(Text("15", " 일"))
    usage = {"include_usage": True}
    body = {"model": "m", "messages": MESSAGES, "stream": True, "stream_options": usage}
    response, data = post(server, "chat/completions", body)
    made = '{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m", '
    one = made + '"choices": [{"index": 0, "delta": %s, "finish_reason": %s}]}'
    events = [
        one % ('{"role": "assistant", "content": ""}', "null"),
        one % ('{"content": "15"}', "null"),
        one % ('{"content": " 일"}', "null"),
        one % ("{}", '"stop"'),
        made + '"choices": [], "usage": '
        '{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}',
        "[DONE]",
    ]
    assert data.decode() == "".join(f"data: {event}\n\n" for event in events)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_a_reply_that_is_not_streamed_is_one_object(server):
    server.will(Text("15", " days"))
    _, data = post(server, "chat/completions", {"model": "m", "messages": MESSAGES})
    assert json.loads(data)["choices"][0]["message"]["content"] == "15 days"


def test_a_fault_has_its_status_and_header(server):
    server.will(Fault(429, "slow down", retry_after="17"))
    response, data = post(server, "chat/completions", {"model": "m", "messages": MESSAGES})
    assert (response.status, response.headers["retry-after"]) == (429, "17")
    assert json.loads(data)["error"]["message"] == "slow down"


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("responses", {}, "no such address"),
        ("chat/completions", {"model": "m", "messages": MESSAGES, "store": True}, "no store"),
        ("chat/completions", {"model": "m", "messages": []}, "needs a model and messages"),
        ("chat/completions", {"model": "m", "messages": [{"role": "human"}]}, "no such role"),
        ("chat/completions", {"model": "m", "messages": MESSAGES}, "no reply was scripted"),
        ("embeddings", {"model": "m", "input": [[1, 2]]}, "input must be texts"),
        ("embeddings", {"model": "m", "input": "x", "encoding_format": "hex"}, "encoding_format"),
        ("embeddings", {"model": "m", "input": "x", "truncate": True}, "no truncate"),
    ],
)
def test_what_the_protocol_does_not_know_fails_the_test_that_did_it(path, body, says):
    with pytest.raises(AssertionError, match=says), serving() as server:
        post(server, path, body)
