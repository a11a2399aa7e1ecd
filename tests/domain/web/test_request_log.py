import asyncio
import logging

import pytest

from domain.logs import get_logger
from domain.web.request_log import RequestLog
from services.secret_tokens import new_token


def response_to(headers=(), path="/api/v1/search", *, app=None, kind="http", **options):
    """The messages that the middleware sends for a request."""
    messages = []

    async def answer(scope, receive, send):
        get_logger("test").warning("at work")
        await send({"type": "http.response.start", "status": 204, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body"})

    async def send(message):
        messages.append(message)

    scope = {
        "type": kind,
        "method": "POST",
        "path": path,
        "query_string": b"q=salary",
        "headers": headers,
    }
    log = RequestLog(app or answer, probes=["/health"], **options)
    asyncio.run(log(scope, None, send))
    return messages


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, "footnote")
    return lambda: [one for one in caplog.records if one.name == "footnote.web"]


def header(messages):
    return dict(messages[0]["headers"])[b"x-request-id"].decode()


def test_a_request_is_logged_as_one_line_without_its_query(lines):
    response_to()
    (line,) = lines()
    assert line.levelno == logging.INFO
    assert line.fields.pop("ms") >= 0
    assert line.fields == {"method": "POST", "path": "/api/v1/search", "status": 204}


@pytest.mark.parametrize("end", ["", "/"])
def test_the_token_of_a_link_is_not_logged(lines, end):
    response_to(path=f"/api/v1/shared-conversations/{new_token()}{end}")
    assert [one.fields["path"] for one in lines()] == [f"/api/v1/shared-conversations/…{end}"]


@pytest.mark.parametrize("id_", ["ee764e53", "0" * 32, "a" * 64])
def test_ids_in_paths_are_logged(lines, id_):
    response_to(path=f"/api/v1/documents/{id_}/text")
    assert [one.fields["path"] for one in lines()] == [f"/api/v1/documents/{id_}/text"]


def test_each_response_has_a_unique_request_id():
    first, second = response_to(), response_to()
    assert header(first) != header(second)
    assert dict(first[0]["headers"])[b"a"] == b"b"


def test_an_incoming_id_is_reused():
    assert header(response_to([(b"x-request-id", b"gateway-7.a_B")])) == "gateway-7.a_B"


@pytest.mark.parametrize("wrong", [b"", b"a b", b"a\nb", b"x" * 65, "é".encode()])
def test_an_incoming_id_that_could_distort_the_log_is_replaced(wrong):
    assert len(header(response_to([(b"x-request-id", wrong)]))) == 32


def test_health_checks_are_logged_at_debug(lines):
    response_to(path="/health")
    assert [one.levelno for one in lines()] == [logging.DEBUG]


def test_a_server_of_many_files_logs_its_requests_at_debug(lines):
    response_to(level=logging.DEBUG)
    assert [one.levelno for one in lines()] == [logging.DEBUG]


def test_a_failing_request_is_logged_without_a_status(lines):
    async def broken(_scope, _receive, _send):
        raise ConnectionError

    with pytest.raises(ConnectionError):
        response_to(app=broken)
    assert lines()[0].fields["status"] is None


def test_a_websocket_is_not_logged(lines):
    async def accepting(_scope, _receive, send):
        await send({"type": "websocket.accept"})

    assert response_to(app=accepting, kind="websocket") == [{"type": "websocket.accept"}]
    assert lines() == []
