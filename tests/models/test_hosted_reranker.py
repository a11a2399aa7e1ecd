import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from domain.errors import ConfigError, ModelError, ModelUnavailableError
from models.cross_encoders import MAX_ANSWER_BYTES, RETRIES
from models.rerankers import RerankSpec, build_cross_encoder
from tests.fakes.reranker import Reply, reranking

PAIRS = [("annual leave", text) for text in ("vpn", "annual leave days", "sick leave")]
KEY = "key-of-the-test"
NOW = {"Retry-After": "0"}


@pytest.fixture
def server():
    with reranking() as running:
        yield running


@pytest.fixture
def build(server, tmp_path):
    def build(**overrides):
        spec = {"provider": "http", "model": "rank-3", "url": server.url, "timeout_s": 30}
        return build_cross_encoder(RerankSpec(**(spec | overrides)), tmp_path)

    return build


def results(*pairs):
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


def test_scores_are_in_the_order_of_the_passages(build):
    assert build().score(PAIRS) == [0.0, 0.2, 0.1]


def test_one_request_contains_all_passages_of_a_question(build, server):
    build(api_key=SecretStr(KEY)).score(PAIRS)
    documents = [text for _, text in PAIRS]
    request = {"model": "rank-3", "query": "annual leave", "documents": documents, "top_n": 3}
    assert (server.bodies, server.keys) == ([request], [f"Bearer {KEY}"])


def test_without_a_key_none_is_sent(build, server):
    build().score(PAIRS)
    assert server.keys == [None]


def test_scores_for_several_questions_are_in_the_order_of_the_pairs(build):
    pairs = [("vpn", "vpn"), ("leave", "vpn"), ("vpn", "leave"), ("leave", "leave")]
    assert build().score(pairs) == [0.1, 0.0, 0.0, 0.1]


def test_without_pairs_no_request_is_sent(build, server):
    assert build().score([]) == []
    assert server.bodies == []


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_server_is_retried_after_the_stated_time(build, server, status):
    server.will(*[Reply("busy", status, NOW)] * RETRIES)
    assert build().score(PAIRS) == [0.0, 0.2, 0.1]
    assert len(server.bodies) == RETRIES + 1


def test_a_retry_date_in_the_past_causes_no_wait(build, server):
    date = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    server.will(Reply("busy", 429, {"Retry-After": date}))
    assert build().score(PAIRS) == [0.0, 0.2, 0.1]


def test_without_a_valid_header_the_waits_double(build, server, monkeypatch):
    waits = []
    monkeypatch.setattr("models.cross_encoders.time.sleep", waits.append)
    server.will(*[Reply("busy", 429, {"Retry-After": "soon"})] * RETRIES)
    assert build().score(PAIRS) == [0.0, 0.2, 0.1]
    assert waits == [0.5, 1.0]


def test_a_persistently_busy_server_is_an_error_after_the_retries(build, server):
    server.will(*[Reply("overloaded", 503, NOW)] * (RETRIES + 1))
    with pytest.raises(ModelUnavailableError, match="HTTP 503.*The server says: overloaded"):
        build().score(PAIRS)
    assert len(server.bodies) == RETRIES + 1


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("3600", "Try again in 3600 s"),
        ("9" * 400, "Try again in 31536000 s"),
        (format_datetime(datetime(2999, 1, 1, tzinfo=UTC), usegmt=True), "Try again in 31536000 s"),
    ],
)
def test_a_wait_beyond_the_time_limit_is_an_immediate_error(build, server, after, message):
    server.will(Reply("busy", 429, {"Retry-After": after}))
    with pytest.raises(ModelUnavailableError, match=message):
        build().score(PAIRS)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [400, 404, 302])
def test_refusals_are_not_retried_and_redirects_not_followed(build, server, status):
    server.will(Reply("no such model", status, {"Location": "/elsewhere"}))
    with pytest.raises(ModelError, match=f"HTTP {status}.*no such model.*RERANK_URL.*rank-3"):
        build().score(PAIRS)
    assert len(server.bodies) == 1


def test_a_refused_key_is_reported_by_its_setting_without_the_value(build, server):
    server.key = "another"
    with pytest.raises(ModelError, match="401.*FOOTNOTE_RERANK_API_KEY was rejected") as caught:
        build(api_key=SecretStr(KEY)).score(PAIRS)
    assert KEY not in str(caught.value)


def test_a_missing_key_is_reported(build, server):
    server.key = "another"
    with pytest.raises(ModelError, match="FOOTNOTE_RERANK_API_KEY is not set"):
        build().score(PAIRS)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_echoed_by_the_server_is_not_shown(build, server, status):
    body = results((KEY, KEY))
    server.will(*[Reply(body, status, NOW)] * (RETRIES + 1))
    with pytest.raises(ModelError) as caught:
        build(api_key=SecretStr(KEY)).score(PAIRS)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "<html>Welcome</html>",
        b"\xff\xfe\x00",
        "",
        "[" * 100_000,
        "null",
        "[]",
        {},
        {"results": None},
        {"results": ["a"]},
        {"results": [{"index": 0}]},
        results((0, 0.1), (1, 0.2)),
        results((0, 0.1), (1, 0.2), (3, 0.3)),
        results((0, 0.1), (1, 0.2), (-1, 0.3)),
        results((0, 0.1), (1, 0.2), (1, 0.3)),
        results((0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)),
        results((0, 0.1), (1, 0.2), (True, 0.3)),
        results((0, 0.1), (1, 0.2), ("2", 0.3)),
        results((0, 0.1), (1, 0.2), (2, float("nan"))),
        results((0, 0.1), (1, 0.2), (2, float("inf"))),
        results((0, 0.1), (1, 0.2), (2, 10**400)),
        results((0, 0.1), (1, 0.2), (2, "0.3")),
        results((0, 0.1), (1, 0.2), (2, None)),
    ],
    ids=lambda body: (json.dumps(body) if isinstance(body, dict) else str(body))[:40],
)
def test_an_answer_without_a_valid_score_for_each_passage_is_an_error(build, server, body):
    server.will(Reply(body))
    with pytest.raises(ModelError, match="did not respond like a reranker.*RERANK_URL"):
        build().score(PAIRS)


def test_reading_stops_at_the_size_limit_of_an_answer(build, server):
    server.will(Reply(b" " * (MAX_ANSWER_BYTES + 100_000)))
    with pytest.raises(ModelError, match="too large for a list of scores"):
        build().score(PAIRS)


@pytest.mark.parametrize("reply", [Reply(hangs=True), Reply(drips=True)], ids=["silent", "drips"])
def test_a_slow_server_times_out(build, server, reply):
    server.will(reply)
    with pytest.raises(ModelUnavailableError, match="did not respond within 0.2 s.*BUDGET_S"):
        build(timeout_s=0.2).score(PAIRS)


def test_an_interrupted_answer_is_reported(build, server):
    server.will(Reply('{"results"', breaks=True))
    with pytest.raises(ModelUnavailableError, match="stopped responding"):
        build().score(PAIRS)


def test_an_unreachable_server_is_reported(build):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://name:word@127.0.0.1:{unused.getsockname()[1]}/rerank?token=word"
        with pytest.raises(ModelUnavailableError, match="can't be reached.*RERANK_URL") as caught:
            build(url=url).score(PAIRS)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"url": None}, "FOOTNOTE_RERANK_URL is not set"),
        ({"model": None}, "FOOTNOTE_RERANK_MODEL is not set"),
        ({"url": "localhost:80"}, "not a valid address.*usually ends in /rerank"),
        ({"api_key": SecretStr("two\nlines")}, "FOOTNOTE_RERANK_API_KEY is not a valid key"),
    ],
)
def test_a_missing_or_invalid_setting_is_reported(build, overrides, message):
    with pytest.raises(ConfigError, match=message):
        build(**overrides)
