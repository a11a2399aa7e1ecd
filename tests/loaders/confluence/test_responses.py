"""What an answer means, told from its status, headers and body."""

import contextlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests import Response

from errors import AppError, SourceError
from loaders.confluence.responses import ContentRefusedError, data_of
from loaders.retries import TransientError

URL = "https://docs.acme.com"


def answer(status=200, body=b"{}", **headers):
    response = Response()
    response.status_code, response._content, response.reason = status, body, "Reason"
    response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return response


def asked_to_wait(told):
    with pytest.raises(TransientError) as raised:
        data_of(answer(429, Retry_After=told), URL)
    return raised.value.retry_after_s


def test_the_seconds_to_wait_may_be_a_number_or_a_date():
    assert asked_to_wait("17") == 17
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < asked_to_wait(soon) <= 90
    assert asked_to_wait("Wed, 01 Jan 2020 00:00:00 GMT") == 0
    assert asked_to_wait("Wed, 01 Jan 2020 00:00:00 -0000") == 0


@pytest.mark.parametrize("told", ["", "soon", "-5", "²", "1.5", "Wed, 99 Foo 2020"])
def test_a_wait_that_is_not_understood_is_none(told):
    assert asked_to_wait(told) is None


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_told_so_with_its_number(status):
    with pytest.raises(TransientError, match=f"\\({status}\\)") as raised:
        data_of(answer(status), URL)
    assert raised.value.final_error(1).retryable


@pytest.mark.parametrize("body", [b"", b'{"results": [', b"[]", b"null", b"\xff\xfe"])
def test_a_broken_answer_may_pass(body):
    with pytest.raises(TransientError):
        data_of(answer(body=body), URL)


@pytest.mark.parametrize(
    "response",
    [
        answer(body=b" \n<html>", Content_Type="application/json"),
        answer(body=b"Log in", Content_Type="text/HTML;charset=UTF-8"),
    ],
)
def test_a_web_page_in_place_of_data_is_a_page_to_sign_in(response):
    with pytest.raises(SourceError, match="such as a login page"):
        data_of(response, URL)


def test_a_captcha_is_to_be_solved_in_a_browser():
    reason = "CAPTCHA_CHALLENGE; login-url=https://docs.acme.com/login.action"
    with pytest.raises(SourceError, match="wants a CAPTCHA.*sign in once in a browser"):
        data_of(answer(403, X_Authentication_Denied_Reason=reason), URL)


def test_a_refusal_tells_confluences_words_on_one_line_and_no_more_than_needed():
    body = b'{"message": "Could not\\n parse ' + b"x" * 999 + b'"}'
    with pytest.raises(ContentRefusedError, match="Could not parse xx") as raised:
        data_of(answer(400, body), URL)
    assert raised.value.status == 400
    assert len(str(raised.value)) < 400


def test_a_refusal_without_words_tells_the_reason_of_its_status():
    with pytest.raises(ContentRefusedError, match=r"\(404\): Reason"):
        data_of(answer(404, b"<html>"), URL)


@given(st.integers(min_value=200, max_value=599), st.binary(max_size=60), st.text(max_size=20))
def test_any_answer_is_data_or_an_error_that_is_meant_for_people(status, body, told):
    data = None
    with contextlib.suppress(AppError, TransientError):
        data = data_of(answer(status, body, Retry_After=told), URL)
    assert data is None or (isinstance(data, dict) and status < 300)
