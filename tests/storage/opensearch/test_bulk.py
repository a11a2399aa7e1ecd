"""Writes that fail as a whole or in part, with replies that the test prescribes."""

import pytest
from opensearchpy import TransportError

from storage.opensearch import passage_index
from storage.opensearch.connection import (
    SearchServer,
    SearchServerError,
    SearchUnavailableError,
    connect,
)
from storage.opensearch.passage_index import PassageIndex

FULL = {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "queue is full"}}
DISK = {
    "status": 429,
    "error": {"type": "cluster_block_exception", "reason": "flood-stage watermark"},
}
CONFLICT = {"status": 409, "error": {"type": "version_conflict_engine_exception", "reason": "old"}}
LOST = {"status": 503, "error": {"type": "unavailable_shards_exception", "reason": "no primary"}}
DONE = {"status": 200}
MISSING = {"status": 404}


class Replies:
    """Replies to requests in turn: a result per action, or an error."""

    def __init__(self, *replies):
        self.left = list(replies)
        self.sizes = []

    def bulk(self, body, **_options):
        operations = body.count('"_id"')
        self.sizes.append(operations)
        reply = self.left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return {"items": [{"index" if "text" in body else "delete": one} for one in reply]}


@pytest.fixture
def pauses(monkeypatch):
    lasted = []
    monkeypatch.setattr(passage_index.time, "sleep", lasted.append)
    return lasted


def index_with(replies):
    client = connect(SearchServer(("http://127.0.0.1:9",)))
    client.bulk = replies.bulk
    return PassageIndex(client, "things")


def put(replies, count=2):
    index_with(replies).put([(f"id {number}", {"text": "a"}) for number in range(count)])


def test_what_a_full_queue_refused_is_sent_again(pauses):
    replies = Replies([DONE, FULL, FULL], [FULL, DONE], TransportError(429, "x", {}), [DONE])
    put(replies, 3)
    assert replies.sizes == [3, 2, 1, 1]
    assert pauses == [1, 2, 4]


def test_a_queue_that_stays_full_is_an_error_after_31_seconds(pauses):
    with pytest.raises(SearchUnavailableError, match="overloaded .queue is full"):
        put(Replies(*[[FULL]] * 6), 1)
    assert sum(pauses) == 31


def test_a_server_that_stays_overloaded_is_an_error(pauses):
    error = TransportError(429, "x", {"error": {"type": "x", "reason": "too much memory"}})
    with pytest.raises(SearchUnavailableError, match="overloaded .too much memory"):
        put(Replies(*[error] * 6))
    assert sum(pauses) == 31


def test_a_full_disk_is_reported_at_once(pauses):
    with pytest.raises(SearchUnavailableError, match="disks .* almost full"):
        put(Replies([DISK, DISK]))
    assert pauses == []


def test_writes_of_which_one_shard_fails_are_an_error(pauses):
    with pytest.raises(SearchUnavailableError, match="no primary"):
        put(Replies([DONE, LOST]))
    assert pauses == []


def test_a_failure_is_reported_even_if_the_rest_succeeds_later(pauses):
    with pytest.raises(SearchServerError, match="newer version"):
        put(Replies([CONFLICT, FULL], [DONE]))
    assert pauses == [1]


def test_missing_passages_are_deleted_already():
    index_with(Replies([MISSING, DONE])).remove(["a", "b"])


def test_a_reply_with_too_few_results_is_an_error(pauses):
    with pytest.raises(SearchUnavailableError, match="incomplete"):
        put(Replies([DONE]), 2)
