import time

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from api.application import make_app
from api.authentication import RequestLimit
from api.problems import ProblemError
from tests.api.conftest import bearer

LIBRARY = "/api/v1/library"


def refusal(limit, key):
    try:
        limit.count(key)
    except ProblemError as error:
        return error
    return None


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 10))
def test_of_each_key_no_more_than_the_bound_pass_within_a_minute(keys, bound):
    limit = RequestLimit(bound)
    passed = [key for key in keys if refusal(limit, key) is None]
    for key in "abc":
        assert passed.count(key) == min(keys.count(key), bound)


def test_what_is_left_is_told():
    limit = RequestLimit(3)
    told = [limit.count("a") for _ in range(3)]
    assert [one["RateLimit-Remaining"] for one in told] == ["2", "1", "0"]
    assert {one["RateLimit-Limit"] for one in told} == {"3"}
    error = refusal(limit, "a")
    assert error.status == 429
    assert 1 <= int(error.headers["Retry-After"]) <= 60


def test_a_key_is_let_through_again_once_its_oldest_request_is_a_minute_old(monkeypatch):
    limit, now = RequestLimit(1), time.time()
    limit.count("a")
    assert refusal(limit, "a")
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert refusal(limit, "a") is None


@pytest.fixture
def services(build_services):
    return build_services(api_requests_per_minute=2)


def test_who_sends_too_much_is_told_when_to_try_again(services):
    client, mine, another = TestClient(make_app(services)), bearer(services), bearer(services)
    for left in ("1", "0"):
        answer = client.get(LIBRARY, headers=mine)
        assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (200, left)
    refused = client.get(LIBRARY, headers=mine)
    assert refused.status_code == 429
    assert refused.json()["retryable"] is True
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert client.get(LIBRARY, headers=another).status_code == 200


def test_asking_whether_it_lives_is_never_too_much(services):
    client = TestClient(make_app(services))
    for _ in range(5):
        assert client.get("/api/v1/health", headers=bearer(services)).status_code == 200


def test_a_request_whose_body_is_refused_has_counted_and_says_so(build_services):
    services = build_services(api_requests_per_minute=3)
    client = TestClient(make_app(services), headers=bearer(services))
    answers = [client.post("/api/v1/search", content=b"{") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [415, 415, 415, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert services.api_keys.list()[0].used_at is not None
