"""The loopback server itself: exact bytes, and unknown requests fail."""

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


def test_a_stream_has_exactly_these_bytes(server):
    server.will(Text("15", " 일"))
    usage = {"include_usage": True}
    body = {"model": "m", "messages": MESSAGES, "stream": True, "stream_options": usage}
    response, data = post(server, "chat/completions", body)
    prefix = '{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m", '
    chunk = prefix + '"choices": [{"index": 0, "delta": %s, "finish_reason": %s}]}'
    events = [
        chunk % ('{"role": "assistant", "content": ""}', "null"),
        chunk % ('{"content": "15"}', "null"),
        chunk % ('{"content": " 일"}', "null"),
        chunk % ("{}", '"stop"'),
        prefix + '"choices": [], "usage": '
        '{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}',
        "[DONE]",
    ]
    assert data.decode() == "".join(f"data: {event}\n\n" for event in events)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_an_unstreamed_reply_is_one_object(server):
    server.will(Text("15", " days"))
    _, data = post(server, "chat/completions", {"model": "m", "messages": MESSAGES})
    assert json.loads(data)["choices"][0]["message"]["content"] == "15 days"


def test_a_fault_has_its_status_and_header(server):
    server.will(Fault(429, "slow down", retry_after="17"))
    response, data = post(server, "chat/completions", {"model": "m", "messages": MESSAGES})
    assert (response.status, response.headers["retry-after"]) == (429, "17")
    assert json.loads(data)["error"]["message"] == "slow down"


@pytest.mark.parametrize(
    ("path", "body", "message"),
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
def test_a_request_outside_the_protocol_fails_the_test(path, body, message):
    with pytest.raises(AssertionError, match=message), serving() as server:
        post(server, path, body)
