"""The time limit of a request and its repetitions, with servers that fail or are slow."""

import json
import time

import pytest

from storage.opensearch.connection import (
    SearchServer,
    SearchUnavailableError,
    client_errors,
    connect,
)
from tests.opensearch.answers import Answers, described, running

UNAVAILABLE = {"/": (503, b'{"error": {"type": "x", "reason": "no manager"}}')}


def test_a_request_that_a_node_cannot_answer_is_repeated_three_times():
    with running(Answers(UNAVAILABLE)) as server:
        client = connect(SearchServer((server.url,)))
        with pytest.raises(SearchUnavailableError, match="no manager"), client_errors():
            client.info()
    assert server.requests == ["GET /"] * 4


def test_other_errors_are_not_repeated():
    with running(Answers({"/": (429, b"{}")})) as server:
        with pytest.raises(SearchUnavailableError, match="overloaded"), client_errors():
            connect(SearchServer((server.url,))).info()
    assert server.requests == ["GET /"]


def test_another_node_answers_instead():
    with running(Answers(UNAVAILABLE)) as broken, running(Answers(described("2.19.1"))) as node:
        client = connect(SearchServer((broken.url, node.url, "http://127.0.0.1:9")))
        for _ in range(5):
            assert client.info()["version"]["number"] == "2.19.1"
    assert 1 <= len(broken.requests) <= 2  # then it rests


def test_repetitions_share_the_time_limit():
    with running(Answers(UNAVAILABLE, delay_s=1)) as server:
        client = connect(SearchServer((server.url,), timeout_s=2))
        start = time.monotonic()
        with pytest.raises(SearchUnavailableError), client_errors():
            client.info()
        assert time.monotonic() - start < 3.5  # four attempts would take 4 s
        assert len(server.requests) in (2, 3)


def test_a_request_that_times_out_is_not_repeated():
    with running(Answers(described("2.19.1"), delay_s=1)) as server:
        client = connect(SearchServer((server.url,), timeout_s=0.3))
        with (
            pytest.raises(SearchUnavailableError, match="FOOTNOTE_SEARCH_TIMEOUT_S"),
            client_errors(),
        ):
            client.info()
    assert server.requests == ["GET /"]


def test_a_node_that_does_not_answer_rests():
    silent = Answers(described("2.19.1"), delay_s=2.5)
    with running(silent), running(Answers(described("2.19.1"))) as node:
        client = connect(SearchServer((silent.url, node.url), timeout_s=1))
        failures = 0
        for _ in range(8):
            try:
                with client_errors():
                    client.info()
            except SearchUnavailableError:
                failures += 1
    assert failures == len(silent.requests) == 1


@pytest.mark.parametrize("name", ["request_timeout", "timeout"])
def test_a_call_can_have_another_time_limit(name):
    with running(Answers(described("2.19.1"), delay_s=0.5)) as server:
        client = connect(SearchServer((server.url,), timeout_s=0.1))
        assert client.info(**{name: 20})
        with pytest.raises(SearchUnavailableError), client_errors():
            client.info()


def test_an_answer_that_is_not_an_error_is_not_repeated():
    with running(Answers({"/": (503, b"{}")})) as server:
        connect(SearchServer((server.url,))).info(ignore=503)
    assert server.requests == ["GET /"]


def test_a_missing_index_is_no_error_for_exists():
    with running(Answers({})) as server:
        assert not connect(SearchServer((server.url,))).indices.exists(index="a")


class TestTheLimitOfTheServer:
    @pytest.fixture
    def queries(self, monkeypatch):
        """The parameters of the requests, by method and path."""
        from opensearchpy import Transport

        sent = {}

        def record(_self, method, url, params=None, *_arguments):
            sent[f"{method} {url}"] = params

        monkeypatch.setattr(Transport, "perform_request", record)
        return sent

    def test_writes_and_changes_of_indexes_have_one(self, queries):
        client = connect(SearchServer(("http://127.0.0.1:9",), timeout_s=10))
        client.bulk(body="{}", index="a")
        client.bulk(body="{}")
        client.indices.create(index="a", body={})
        client.indices.delete(index="a", ignore_unavailable=True)
        client.indices.update_aliases(body={"actions": []})
        assert len(queries) == 5
        for params in queries.values():
            assert 7000 < int(params["timeout"].removesuffix("ms")) <= 8000

    def test_other_requests_have_none(self, queries):
        client = connect(SearchServer(("http://127.0.0.1:9",)))
        client.info()
        client.msearch(body=json.dumps({}))
        client.mget(body={"ids": ["a"]}, index="a")
        client.count(index="a")
        client.indices.exists(index="a")
        client.indices.refresh(index="a")
        client.indices.get_alias(index="a")
        assert len(queries) == 7
        assert not any("timeout" in params for params in queries.values())
