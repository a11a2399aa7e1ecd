import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from domain.errors import ConfigError
from domain.public_messages import message_for_everyone
from storage.opensearch.connection import (
    SearchServer,
    SearchServerError,
    SearchUnavailableError,
    client_errors,
    connect,
    error_of,
    require_suitable,
)
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.vector_rows import VectorRows
from storage.vectors.new_rows import new_rows
from tests.opensearch.answers import Answers, answering, described, running

NODES = "part of the OpenSearch cluster is unavailable .*start the missing nodes"
DISKS = "disks .* almost full.*can't be written .*free disk space"
FLOOD_STAGE = (
    "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has"
    " read-only-allow-delete block];"
)


def failed(kind, reason, root_cause=()):
    return json.dumps(
        {"error": {"type": kind, "reason": reason, "root_cause": list(root_cause)}}
    ).encode()


def all_failed(kind, reason):
    cause = {"type": kind, "reason": reason}
    return failed("search_phase_execution_exception", "all shards failed", [cause])


@pytest.mark.parametrize("number", ["2.4.0", "2.19.1", "3.5.0-SNAPSHOT"])
def test_an_opensearch_with_the_knn_plugin_is_suitable(number):
    with answering(described(number)) as client:
        require_suitable(client)


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (described("8.15.0", None), "not an OpenSearch server .*8.15.0.* use OpenSearch 2.4"),
        ({"/": (200, b"{}")}, "not an OpenSearch server"),
        ({"/": (200, b'"a text"')}, "not an OpenSearch server"),
        ({"/": (200, b'{"version": "8.1"}')}, "not an OpenSearch server"),
        (described("2.3.0"), "has version 2.3.0: 2.4 or later is required"),
        (described("1.13.4"), "has version 1.13.4"),
        (described("2.19.1", plugins=["opensearch-sql"]), "lacks the plugin opensearch-knn"),
    ],
)
def test_an_unsuitable_server_is_rejected_with_the_reason(replies, message):
    with answering(replies) as client, pytest.raises(ConfigError, match=message):
        require_suitable(client)


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b'{"version": {"num', "incomplete or not JSON"),
        (503, b"OpenSearch Security not initialized.", "security plugin .* not initialized yet"),
        (503, b'{"error": {"type": "x", "reason": "all shards failed"}}', "all shards failed"),
        (429, b'{"error": {"type": "x", "reason": "queue is full"}}', "overloaded .queue is full"),
        (502, b"<html>Bad gateway</html>", "unavailable"),
        (
            503,
            failed("cluster_block_exception", "[SERVICE_UNAVAILABLE/2/no cluster-manager]"),
            NODES,
        ),
        (500, failed("node_disconnected_exception", "[node-2] disconnected"), NODES),
        (500, all_failed("node_not_connected_exception", "[node-2] not connected"), NODES),
        (404, all_failed("search_context_missing_exception", "No search context found"), NODES),
        (429, failed("cluster_block_exception", FLOOD_STAGE), DISKS),
        (
            403,
            failed("cluster_block_exception", "[FORBIDDEN/10/cluster create-index blocked]"),
            DISKS,
        ),
    ],
)
def test_a_temporary_failure_is_retryable_and_names_the_cause(status, body, message):
    with answering({"/": (status, body)}) as client:
        with pytest.raises(SearchUnavailableError, match=message) as caught, client_errors():
            client.info()
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b"Unauthorized", "check the user name and the password"),
        (
            403,
            b'{"error": {"type": "security_exception", "reason": "no permissions"}}',
            "give it the permissions",
        ),
        (
            403,
            b'{"_shards": {"failures": [{"reason": {"type": "x", "reason": "no rights"}}]}}',
            "may not do this .no rights.: give it the permissions",
        ),
        (
            403,
            b'{"error": {"type": "cluster_block_exception", "reason": "disk usage exceeded"}}',
            "can't be written .disk usage exceeded.*free disk space",
        ),
        (
            404,
            b'{"error": {"type": "index_not_found_exception", "reason": "no such index [a]"}}',
            "no such index .a.*check its name",
        ),
        (404, b'{"error": {"type": "x", "reason": "no handler"}}', "an error: no handler"),
        (
            409,
            b'{"error": {"type": "version_conflict_engine_exception", "reason": "x"}}',
            "newer version of a passage is stored: check that the clocks",
        ),
        (400, b'{"error": {"type": "x", "reason": "failed to parse"}}', "error: failed to parse"),
        (400, b'{"error": "plain text"}', "error: plain text"),
    ],
)
def test_a_refusal_names_the_setting_or_the_cause(status, body, message):
    with answering({"/": (status, body)}) as client:
        with pytest.raises(SearchServerError, match=message) as caught, client_errors():
            client.info()
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (503, "x", "The search server .* at the moment: try again later"),
        (401, "x", "The search server .* can't be used: an administrator finds the details"),
        (403, "cluster_block_exception", "can't be used: an administrator finds the details"),
        (404, "index_not_found_exception", "index is missing .*: .* `python cli.py reindex`"),
        (400, "index_closed_exception", "index is closed: open it"),
        (409, "x", "newer version of a passage is stored"),
    ],
)
def test_readers_learn_what_to_do_but_not_where_the_server_is(status, kind, message):
    error = error_of(status, {"type": kind, "reason": "a reason"})
    public = message_for_everyone(error)
    assert re.search(message, public)
    assert ("try again later" in public) == error.retryable


def test_a_server_that_is_not_running_is_reported_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    start = time.monotonic()
    with pytest.raises(SearchUnavailableError, match="check its address"), client_errors():
        connect(SearchServer((url,))).info()
    assert time.monotonic() - start < 5


def test_simultaneous_requests_keep_their_connections(caplog):
    slow = Answers(described("2.19.1"), delay_s=0.1)
    with running(slow) as server, ThreadPoolExecutor(8) as threads:
        client = connect(SearchServer((server.url,)))
        for request in [threads.submit(client.info) for _ in range(16)]:
            request.result()
    assert "Connection pool is full" not in caplog.text


def test_a_silent_server_is_given_the_configured_time_once():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        client = connect(
            SearchServer((f"http://127.0.0.1:{silent.getsockname()[1]}",), timeout_s=0.5)
        )
        start = time.monotonic()
        with pytest.raises(SearchUnavailableError, match="raise the timeout"), client_errors():
            client.info()
    assert time.monotonic() - start < 5


def test_a_missing_ca_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="CA file .*missing.pem can't be read"):
        connect(SearchServer(("https://localhost:1",), ca_file=tmp_path / "missing.pem"))


def test_a_file_without_certificates_is_named(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(ConfigError, match="CA file .*ca.pem can't be read"):
        connect(SearchServer(("https://localhost:1",), ca_file=tmp_path / "ca.pem"))


def test_all_attempts_to_connect_share_the_configured_time():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:  # they fill the queue: the next attempts get no answer
            one.setblocking(False)
            one.connect_ex(address)
        client = connect(SearchServer((f"http://127.0.0.1:{address[1]}",), timeout_s=1))
        start = time.monotonic()
        with pytest.raises(SearchUnavailableError), client_errors():
            client.info()
        assert time.monotonic() - start < 3
        for one in waiting:
            one.close()


def test_a_passage_that_the_server_fails_to_read_is_an_error():
    docs = [{"_id": "a", "error": {"type": "x", "reason": "shard is closed"}}]
    with answering({"/things/_mget": (200, json.dumps({"docs": docs}).encode())}) as client:
        with pytest.raises(SearchUnavailableError, match="shard is closed"):
            PassageIndex(client, "things").get(["a"], ["text"])


@pytest.mark.opensearch
class TestARealServer:
    def test_it_is_suitable(self, os_client):
        require_suitable(os_client)

    def test_a_write_block_is_named(self, os_client, index_name):
        rows = VectorRows(PassageIndex(os_client, index_name))
        rows.upsert(new_rows(["a"], ["text"], np.ones((1, 2)), [{}]))
        os_client.indices.put_settings(index=index_name, body={"index.blocks.write": True})
        with pytest.raises(SearchServerError, match="can't be written .*FORBIDDEN"):
            rows.upsert(new_rows(["b"], ["text"], np.ones((1, 2)), [{}]))
        assert rows.ids() == ["a"]

    def test_an_index_with_another_mapping_is_an_error(self, os_client, index_name):
        meta = {"_meta": {"footnote": {}}, "dynamic": "strict"}
        method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
        vector = {"vector": {"type": "knn_vector", "dimension": 2, "method": method}}
        os_client.indices.create(
            index=index_name,
            body={"settings": {"index.knn": True}, "mappings": {**meta, "properties": vector}},
        )
        rows = VectorRows(PassageIndex(os_client, index_name))
        with pytest.raises(SearchServerError, match="dynamic introduction of .* is not allowed"):
            rows.upsert(new_rows(["b"], ["text"], np.ones((1, 2)), [{}]))

    def test_a_late_write_does_not_replace_a_newer_one(self, os_client, index_name, monkeypatch):
        index = PassageIndex(os_client, index_name)
        rows = VectorRows(index)
        rows.upsert(new_rows(["a"], ["new"], np.ones((1, 2)), [{}]))
        monkeypatch.setattr(time, "time_ns", lambda: 1)
        with pytest.raises(SearchServerError, match="newer version of a passage is stored"):
            rows.upsert(new_rows(["a"], ["late"], np.ones((1, 2)), [{}]))
        assert [row.text for row in rows.get(["a"])] == ["new"]

    def test_a_certificate_of_an_unknown_authority_is_rejected(self, secure_opensearch):
        client = connect(SearchServer((secure_opensearch.url,), "admin", "wrong"))
        with pytest.raises(SearchServerError, match="CA file"), client_errors():
            client.info()

    def test_a_wrong_password_is_rejected(self, secure_opensearch):
        ca_file = secure_opensearch.security.ca_file
        client = connect(SearchServer((secure_opensearch.url,), "admin", "wrong", ca_file))
        with pytest.raises(SearchServerError, match="the password"), client_errors():
            client.info()

    def test_a_reader_may_not_write(self, secure_opensearch):
        written = new_rows(["a"], ["text"], np.ones((1, 2)), [{}])
        admin, reader = (
            PassageIndex(signed_in(secure_opensearch, user), "footnote-test")
            for user in ("admin", "reader")
        )
        VectorRows(admin).upsert(written)
        with pytest.raises(SearchServerError, match="indices:data/write.*docs/opensearch.md"):
            reader.put([("b", {"text": "text"})])
        with pytest.raises(SearchServerError, match="the permissions in docs/opensearch.md"):
            VectorRows(reader).upsert(written)
        assert VectorRows(admin).ids() == ["a"]


def signed_in(secure_opensearch, user):
    security = secure_opensearch.security
    return connect(
        SearchServer((secure_opensearch.url,), user, security.passwords[user], security.ca_file)
    )
