"""Seconds, dates, and anything else in the Retry-After header."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.web.retry_after import MAX_S, retry_after_s


@pytest.mark.parametrize("header", ["17", " 17 ", "17.0"])
def test_a_number_is_in_seconds(header):
    assert retry_after_s(header) == 17


@pytest.mark.parametrize("header", ["9" * 17, "9" * 400, "Wed, 01 Jan 2999 00:00:00 GMT"])
def test_a_wait_is_at_most_a_year(header):
    assert retry_after_s(header) == MAX_S


def test_a_date_is_compared_with_the_clock():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < retry_after_s(soon) <= 90


@pytest.mark.parametrize("zone", ["GMT", "-0000"])
def test_a_date_in_the_past_requests_no_wait(zone):
    assert retry_after_s(f"Wed, 01 Jan 2020 00:00:00 {zone}") == 0


@pytest.mark.parametrize("header", ["", "soon", "-5", "²", "1.", "inf", "Wed, 99 Foo 2020"])
def test_an_invalid_header_is_ignored(header):
    assert retry_after_s(header) is None


@given(st.one_of(st.text(), st.from_regex(r"\A[A-Z][a-z]{2}, [0-9 :A-Za-z+-]{1,60}\Z")))
def test_any_text_is_a_wait_or_ignored(header):
    wait_s = retry_after_s(header)
    assert wait_s is None or 0 <= wait_s <= MAX_S
