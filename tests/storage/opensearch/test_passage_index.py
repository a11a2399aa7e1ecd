"""Replies that lack a part without an error status must not be taken for complete."""

import json

import pytest

from storage.opensearch.connection import SearchUnavailableError
from storage.opensearch.passage_index import PassageIndex
from tests.opensearch.answers import answering

ALL = {"total": 2, "successful": 2, "failed": 0}
WITHOUT_NODE = {"total": 2, "successful": 1, "failed": 0}
ONE_LOST = {"total": 2, "successful": 1, "failed": 1, "failures": []}


def page(ids, shards):
    hits = {"hits": [{"_id": id_} for id_ in ids]}
    reply = {"_scroll_id": "s", "timed_out": False, "_shards": shards, "hits": hits}
    return 200, json.dumps(reply).encode()


@pytest.mark.parametrize("last", [page([], ONE_LOST), page(["b"], ONE_LOST)])
def test_a_listing_during_which_a_shard_fails_is_an_error(last):
    replies = {"/things/_search": page(["a"], ALL), "/_search/scroll": last}
    with answering(replies) as client, pytest.raises(SearchUnavailableError):
        PassageIndex(client, "things").ids()


def test_a_listing_ends_with_an_empty_page():
    replies = {"/things/_search": page(["a"], ALL), "/_search/scroll": page([], ALL)}
    with answering(replies) as client:
        assert PassageIndex(client, "things").ids() == ["a"]


def test_an_index_of_which_no_copy_was_refreshed_is_an_error():
    shards = {"total": 2, "successful": 0, "failed": 0}
    replies = {"/things/_refresh": (200, json.dumps({"_shards": shards}).encode())}
    with answering(replies) as client:
        with pytest.raises(SearchUnavailableError, match="no active shards"):
            PassageIndex(client, "things").refresh()


def test_a_refresh_without_replicas_is_complete():
    shards = {"total": 2, "successful": 1, "failed": 0}
    replies = {"/things/_refresh": (200, json.dumps({"_shards": shards}).encode())}
    with answering(replies) as client:
        PassageIndex(client, "things").refresh()


@pytest.mark.parametrize("shards", [WITHOUT_NODE, ONE_LOST])
def test_a_search_without_all_shards_is_an_error(shards):
    reply = json.loads(page(["a"], shards)[1])
    replies = {"/_msearch": (200, json.dumps({"responses": [reply]}).encode())}
    with answering(replies) as client:
        with pytest.raises(SearchUnavailableError, match="1 shards answered out of 2"):
            PassageIndex(client, "things").search({})


@pytest.mark.parametrize("shards", [WITHOUT_NODE, ONE_LOST])
def test_a_count_without_all_shards_is_an_error(shards):
    body = json.dumps({"count": 1, "_shards": shards}).encode()
    with answering({"/things/_count": (200, body)}) as client:
        with pytest.raises(SearchUnavailableError, match="1 shards answered out of 2"):
            PassageIndex(client, "things").count()


def test_a_listing_without_all_shards_is_an_error():
    with answering({"/things/_search": page(["a"], WITHOUT_NODE)}) as client:
        with pytest.raises(SearchUnavailableError):
            PassageIndex(client, "things").ids()
