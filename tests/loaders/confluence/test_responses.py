"""Responses are classified by their status, headers, and body."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests import Response

from domain.errors import AppError, SourceError
from loaders.confluence.responses import ContentRefusedError, data_of
from loaders.retries import TransientError

URL = "https://docs.acme.com"


def respond(status=200, body=b"{}", **headers):
    response = Response()
    response.status_code, response._content, response.reason = status, body, "Reason"
    response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return response


def seconds_to_wait(retry_after):
    with pytest.raises(TransientError) as raised:
        data_of(respond(429, Retry_After=retry_after), URL)
    return raised.value.retry_after_s


def test_the_requested_wait_is_known_if_the_header_is_valid():
    assert seconds_to_wait("17") == 17
    assert seconds_to_wait("soon") is None


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_transient_statuses_are_retryable_and_named(status):
    with pytest.raises(TransientError, match=f"\\({status}\\)") as raised:
        data_of(respond(status), URL)
    assert raised.value.final_error(1).retryable


@pytest.mark.parametrize("body", [b"", b'{"results": [', b"[]", b"null", b"\xff\xfe"])
def test_malformed_bodies_are_retryable(body):
    with pytest.raises(TransientError):
        data_of(respond(body=body), URL)


@pytest.mark.parametrize(
    "response",
    [
        respond(body=b" \n<html>", Content_Type="application/json"),
        respond(body=b"Log in", Content_Type="text/HTML;charset=UTF-8"),
    ],
)
def test_a_web_page_instead_of_data_is_reported_as_a_login_page(response):
    with pytest.raises(SourceError, match="such as a login page"):
        data_of(response, URL)


def test_a_captcha_asks_the_user_to_sign_in_with_a_browser():
    reason = "CAPTCHA_CHALLENGE; login-url=https://docs.acme.com/login.action"
    with pytest.raises(SourceError, match="requires a CAPTCHA.*sign in once in a browser"):
        data_of(respond(403, X_Authentication_Denied_Reason=reason), URL)


def test_a_refusal_contains_the_shortened_message_on_one_line():
    body = b'{"message": "Could not\\n parse ' + b"x" * 999 + b'"}'
    with pytest.raises(ContentRefusedError, match="Could not parse xx") as raised:
        data_of(respond(400, body), URL)
    assert raised.value.status == 400
    assert len(str(raised.value)) < 400


def test_a_refusal_without_a_message_contains_the_reason_phrase():
    with pytest.raises(ContentRefusedError, match=r"\(404\): Reason"):
        data_of(respond(404, b"<html>"), URL)


@given(st.integers(min_value=200, max_value=599), st.binary(max_size=60), st.text(max_size=20))
def test_any_response_is_data_or_an_error_for_users(status, body, retry_after):
    data = None
    with contextlib.suppress(AppError, TransientError):
        data = data_of(respond(status, body, Retry_After=retry_after), URL)
    assert data is None or (isinstance(data, dict) and status < 300)
