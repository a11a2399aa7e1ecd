"""The middleware, called as a server calls it."""

import pytest

from domain.web.host_guard import DATA_HEADERS, HostGuard
from domain.web.host_policy import HostPolicy

OWN_HEADERS = [(b"Content-Security-Policy", b"default-src 'self'"), (b"x-own", b"1")]


async def answer(scope, receive, send):
    """An application that answers every request with its own headers."""
    if scope["type"] == "lifespan":
        await send({"type": "lifespan.startup.complete"})
        return
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": OWN_HEADERS})
    await send({"type": "http.response.body", "body": b"answered"})


async def messages_for(kind="http", path="/", headers=()):
    """The messages that the guarded application sends for a request."""
    messages = []

    async def send(message):
        messages.append(message)

    async def receive():
        return {"type": f"{kind}.request"}

    guard = HostGuard(answer, HostPolicy(), DATA_HEADERS, probes=["/health"])
    await guard({"type": kind, "path": path, "headers": list(headers)}, receive, send)
    return messages


async def test_an_allowed_request_is_answered_with_security_headers():
    start, body = await messages_for(headers=[(b"host", b"localhost")])
    assert (start["status"], body["body"]) == (200, b"answered")
    names = [name.lower() for name, _ in start["headers"]]
    assert {b"x-content-type-options", b"referrer-policy", b"x-own"} <= set(names)


async def test_a_header_sent_by_the_application_is_unchanged():
    start, _ = await messages_for(headers=[(b"host", b"localhost")])
    policies = [text for name, text in start["headers"] if b"security-policy" in name.lower()]
    assert policies == [b"default-src 'self'"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"evil.example")], 403),
        ([(b"host", b"localhost"), (b"origin", b"http://evil.example")], 403),
        ([], 400),
        ([(b"host", b"localhost"), (b"host", b"localhost")], 400),
        ([(b"host", b"evil.example"), (b"x-forwarded-host", b"localhost")], 403),
        ([(b"host", b"\xff")], 400),
    ],
)
async def test_a_refused_request_never_reaches_the_application(headers, status):
    start, body = await messages_for(headers=headers)
    assert start["status"] == status
    assert b"answered" not in body["body"]
    assert dict(start["headers"])[b"x-content-type-options"] == b"nosniff"


async def test_a_refused_websocket_is_closed_before_it_is_accepted():
    refused = await messages_for("websocket", headers=[(b"host", b"evil.example")])
    assert refused == [{"type": "websocket.close", "code": 1008}]
    assert await messages_for("websocket", headers=[(b"host", b"localhost")]) == [
        {"type": "websocket.accept"}
    ]


async def test_a_health_check_by_address_is_answered_only_at_its_path():
    by_address = [(b"host", b"10.1.2.3:8501")]
    assert (await messages_for(path="/health", headers=by_address))[0]["status"] == 200
    assert (await messages_for(path="/health/", headers=by_address))[0]["status"] == 403


async def test_lifespan_messages_pass_through():
    assert await messages_for("lifespan") == [{"type": "lifespan.startup.complete"}]


async def test_repeated_refusals_for_the_same_reason_are_logged_once(caplog):
    guard = HostGuard(answer, HostPolicy(), {})

    async def ignore(message):
        pass

    for _ in range(3):
        scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"evil.example")]}
        await guard(scope, ignore, ignore)
    assert caplog.text.count("FOOTNOTE_ALLOWED_HOSTS") == 1
