import time

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from api.application import make_app
from api.authentication import RequestLimit
from api.problems import ProblemError
from domain import LOCAL_USER
from tests.api.conftest import bearer

LIBRARY = "/api/v1/library"


def rejection(limit, key):
    try:
        limit.count(key)
    except ProblemError as error:
        return error
    return None


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 10))
def test_each_key_may_send_at_most_the_limit_of_requests_per_minute(keys, bound):
    limit = RequestLimit(bound)
    accepted = [key for key in keys if rejection(limit, key) is None]
    for key in "abc":
        assert accepted.count(key) == min(keys.count(key), bound)


def test_the_number_of_remaining_requests_is_reported():
    limit = RequestLimit(3)
    headers = [limit.count("a") for _ in range(3)]
    assert [one["RateLimit-Remaining"] for one in headers] == ["2", "1", "0"]
    assert {one["RateLimit-Limit"] for one in headers} == {"3"}
    error = rejection(limit, "a")
    assert error.status == 429
    assert 1 <= int(error.headers["Retry-After"]) <= 60


def test_a_key_is_accepted_again_once_its_oldest_request_is_a_minute_old(monkeypatch):
    limit, now = RequestLimit(1), time.time()
    limit.count("a")
    assert rejection(limit, "a")
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert rejection(limit, "a") is None


def test_setting_the_clock_back_rejects_nobody_until_it_has_caught_up(monkeypatch):
    limit, now = RequestLimit(1), time.time()
    limit.count("a")
    monkeypatch.setattr(time, "time", lambda: now - 24 * 3600)
    assert rejection(limit, "a") is None
    assert rejection(limit, "a").status == 429


@pytest.fixture
def services(build_services):
    return build_services(api_requests_per_minute=2)


def test_too_many_requests_return_429_with_retry_after(services):
    client, mine, another = TestClient(make_app(services)), bearer(services), bearer(services)
    for remaining in ("1", "0"):
        answer = client.get(LIBRARY, headers=mine)
        assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (200, remaining)
    response = client.get(LIBRARY, headers=mine)
    assert response.status_code == 429
    assert response.json()["retryable"] is True
    assert 1 <= int(response.headers["retry-after"]) <= 60
    assert client.get(LIBRARY, headers=another).status_code == 200


def test_health_checks_are_not_limited(services):
    client = TestClient(make_app(services))
    for _ in range(5):
        assert client.get("/api/v1/health", headers=bearer(services)).status_code == 200


def test_a_request_with_a_rejected_body_counts_against_the_limit(build_services):
    services = build_services(api_requests_per_minute=3)
    client = TestClient(make_app(services), headers=bearer(services))
    answers = [client.post("/api/v1/search", content=b"{") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [415, 415, 415, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert services.api_keys.list(LOCAL_USER)[0].used_at is not None
