"""Servers that fail: each message names the cause and the setting, and comes in time."""

import json
import socket
import time
from contextlib import contextmanager

import numpy as np
import pytest

from domain.errors import ConfigError
from storage.opensearch.connection import (
    SearchServer,
    SearchServerError,
    SearchUnavailableError,
    connect,
    require_suitable,
)
from storage.opensearch.mapping import Fields, IndexOptions, index_body
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.search_cluster import own_targets, point_alias
from storage.opensearch.vector_rows import VectorRows
from storage.opensearch.word_index import WordIndex
from storage.vectors.new_rows import new_rows
from tests.opensearch.answers import Answers, described, running

PASSWORD = "hunter2-hunter2"
LIMIT_S = 3
START_S = 240
SLACK_S = 2
"""For a busy machine."""

OPERATIONS = {
    "write": lambda rows: rows.upsert(passages("a")),
    "delete": lambda rows: rows.delete(["a"]),
    "search": lambda rows: rows.nearest(np.ones(2), 3, None),
    "words": lambda rows: WordIndex(rows.index).search("text", 3),
    "get": lambda rows: rows.get(["a"]),
    "ids": lambda rows: rows.ids(),
    "count": len,
}
each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


def passages(*ids):
    return new_rows(list(ids), ["text"] * len(ids), np.ones((len(ids), 2)), [{}] * len(ids))


def rows_of(server, name="things"):
    return VectorRows(PassageIndex(connect(server), name, options=IndexOptions(1, 0)))


@contextmanager
def failing(message, error=SearchServerError, limit_s=LIMIT_S):
    """Expects an error that comes in time and does not show the password."""
    start = time.monotonic()
    with pytest.raises(error, match=message) as caught:
        yield
    assert time.monotonic() - start < limit_s + SLACK_S
    assert PASSWORD not in str(caught.value)


@pytest.fixture
def free_url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@each_operation
def test_an_unreachable_server_is_named(operation, free_url):
    rows = rows_of(SearchServer((free_url,), "footnote", PASSWORD, timeout_s=LIMIT_S))
    address = free_url.removeprefix("http://")
    with failing(f"{address}: .*refused.*FOOTNOTE_SEARCH_URL", SearchUnavailableError):
        operation(rows)


def test_an_unknown_host_is_named():
    rows = rows_of(SearchServer(("http://search.invalid:9200",), timeout_s=LIMIT_S))
    with failing("search.invalid:9200: .*FOOTNOTE_SEARCH_URL", SearchUnavailableError):
        rows.ids()


@each_operation
def test_a_silent_server_is_reported_in_time(operation):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        rows = rows_of(SearchServer((f"http://{address}",), timeout_s=0.5))
        with failing(f"{address}: .*FOOTNOTE_SEARCH_TIMEOUT_S", SearchUnavailableError, 0.5):
            operation(rows)


@each_operation
def test_an_answer_that_is_cut_off_is_reported(operation):
    mapping = index_body(2, Fields(), IndexOptions())["mappings"]
    replies = {
        "/things": (200, b""),
        "/things/_mapping": (200, json.dumps({"things": {"mappings": mapping}}).encode()),
        **{f"/things/{name}": (200, b"{}") for name in ("_mget", "_count", "_search", "_bulk")},
        "/_msearch": (200, b"{}"),
    }
    with running(Answers(replies, missing_bytes=1)) as server:
        rows = rows_of(SearchServer((server.url,), timeout_s=LIMIT_S))
        with failing("incomplete .*FOOTNOTE_SEARCH_URL", SearchUnavailableError):
            operation(rows)


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (described("2.3.0"), "FOOTNOTE_SEARCH_URL. has version 2.3.0: 2.4 or later is required"),
        (described("7.10.2", None), "FOOTNOTE_SEARCH_URL is not an OpenSearch server"),
        (described("2.19.1", plugins=()), "FOOTNOTE_SEARCH_URL. lacks the plugin opensearch-knn"),
    ],
)
def test_an_unsuitable_server_is_reported_by_its_setting(replies, message):
    with running(Answers(replies)) as server:
        client = connect(SearchServer((server.url,), timeout_s=LIMIT_S))
        with failing(message, ConfigError):
            require_suitable(client)
    assert set(server.requests) <= {"GET /", "GET /_cat/plugins"}


@pytest.mark.opensearch
class TestARealServer:
    @pytest.fixture
    def rows(self, opensearch, index_name):
        """Those of an index with two passages."""
        rows = rows_of(SearchServer((opensearch.url,), timeout_s=LIMIT_S), index_name)
        rows.upsert(passages("a", "b"))
        return rows

    @pytest.mark.parametrize("block", ["write", "read_only"])
    def test_a_read_only_index_can_be_read(self, block, rows, os_client, index_name):
        os_client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": True})
        with failing("can't be written .*FORBIDDEN.*index.blocks"):
            rows.upsert(passages("c"))
        with failing("can't be written .*FORBIDDEN.*index.blocks"):
            rows.delete(["a"])
        assert {one.id for one in rows.nearest(np.ones(2), 3, None)} == {"a", "b"}
        os_client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": None})
        rows.delete(["a"])
        assert rows.ids() == ["b"]

    def test_a_cluster_that_forbids_new_indexes_is_reported(self, rows, os_client, index_name):
        setting = "cluster.blocks.create_index"
        os_client.cluster.put_settings(body={"persistent": {setting: True}})
        try:
            with failing("can't be written .*create-index blocked"):
                PassageIndex(rows.index.client, f"{index_name}-2").create(2)
        finally:
            os_client.cluster.put_settings(body={"persistent": {setting: None}})

    @each_operation
    def test_a_closed_index_is_reported(self, operation, rows, os_client, index_name):
        os_client.indices.close(index=index_name)
        with failing("index is closed: open it"):
            operation(rows)

    def test_other_fields_are_reported(self, os_client, index_name, opensearch):
        body = index_body(2, Fields(tokens="others"), IndexOptions(1, 0))
        os_client.indices.create(index=index_name, body=body)
        rows = rows_of(SearchServer((opensearch.url,), timeout_s=LIMIT_S), index_name)
        with failing("fields .*dynamic introduction of .tokens.*FOOTNOTE_SEARCH_INDEX"):
            rows.upsert(passages("a"))

    def test_a_field_of_another_type_is_reported(self, os_client, index_name, opensearch):
        body = index_body(2, Fields(), IndexOptions(1, 0))
        body["mappings"]["properties"]["text"] = {"type": "date"}
        os_client.indices.create(index=index_name, body=body)
        rows = rows_of(SearchServer((opensearch.url,), timeout_s=LIMIT_S), index_name)
        with failing("fields .*failed to parse.*FOOTNOTE_SEARCH_INDEX"):
            rows.upsert(passages("a"))

    def test_an_index_of_another_application_is_not_touched(self, os_client, index_name):
        os_client.index(index=index_name, id="1", body={"title": "theirs"}, refresh=True)
        rows = VectorRows(PassageIndex(os_client, index_name))
        for change in (lambda: rows.upsert(passages("a")), lambda: rows.delete(None)):
            with failing(f"index {index_name} was not created by Footnote: choose another"):
                change()
        with failing("the name of an index.*FOOTNOTE_SEARCH_INDEX"):
            own_targets(os_client, index_name, [])
        assert os_client.get(index=index_name, id="1")["_source"] == {"title": "theirs"}

    def test_an_alias_of_another_application_is_not_touched(self, os_client, index_name):
        theirs = f"{index_name}-theirs"
        os_client.indices.create(index=theirs, body={"aliases": {index_name: {}}})
        try:
            with failing("belongs to another library or program.*FOOTNOTE_SEARCH_INDEX"):
                point_alias(os_client, index_name, f"{index_name}-1", [f"{index_name}-1"])
            assert set(os_client.indices.get_alias(index=index_name)) == {theirs}
        finally:
            os_client.indices.delete(index=theirs)

    @pytest.mark.parametrize("url", ["https", "http"])
    def test_the_other_scheme_is_reported(self, url, opensearch, secure_opensearch):
        node = opensearch if url == "https" else secure_opensearch
        address = node.url.partition("://")[2]
        with failing("FOOTNOTE_SEARCH_URL.*http"):
            rows_of(SearchServer((f"{url}://{address}",), timeout_s=LIMIT_S)).ids()

    @each_operation
    def test_a_wrong_password_is_reported(self, operation, secure_opensearch):
        ca_file = secure_opensearch.security.ca_file
        url = secure_opensearch.url
        rows = rows_of(SearchServer((url,), "admin", PASSWORD, ca_file, timeout_s=LIMIT_S))
        with failing("refused the cred.*FOOTNOTE_SEARCH_USER, FOOTNOTE_SEARCH_PASSWORD"):
            operation(rows)

    def test_a_certificate_without_a_ca_file_is_reported(self, secure_opensearch):
        url = secure_opensearch.url
        rows = rows_of(SearchServer((url,), "admin", PASSWORD, timeout_s=LIMIT_S))
        with failing("certificate .*can't be verified .*FOOTNOTE_SEARCH_CA_FILE"):
            rows.ids()

    def test_a_password_may_have_any_characters(self, secure_opensearch):
        password = "Pass-wörd: 비밀번호 ☃"
        secure_opensearch.client().transport.perform_request(
            "PUT",
            "/_plugins/_security/api/internalusers/any-characters",
            body={"password": password, "backend_roles": ["admin"]},
        )
        ca_file = secure_opensearch.security.ca_file
        server = SearchServer((secure_opensearch.url,), "any-characters", password, ca_file)
        assert rows_of(server, "none").ids() == []


@pytest.fixture(scope="module")
def uninitialized(opensearch_programs, tmp_path_factory):
    """A node whose security plugin has no users yet, as for a moment after every start."""
    from tests.opensearch.home import HEAP_MB, prepare_nodes
    from tests.opensearch.layout import fetched
    from tests.opensearch.security import prepare_security

    folder, layout = tmp_path_factory.mktemp("opensearch"), fetched()
    security = prepare_security(folder / "security", layout)
    (node,) = prepare_nodes(1, folder, layout, security, None, HEAP_MB)
    config = node.home / "config" / "opensearch.yml"
    own = {"plugins.security.allow_default_init_securityindex": False}
    config.write_text(json.dumps(json.loads(config.read_text("utf-8")) | own), "utf-8")
    server = SearchServer((node.url,), "admin", PASSWORD, security.ca_file, timeout_s=LIMIT_S)
    node.start()
    try:
        wait_until_reachable(server, node)
        yield server
    finally:
        node.stop()


@pytest.mark.opensearch
class TestSecurityThatIsNotInitialized:
    def test_the_check_at_the_start_says_so(self, uninitialized):
        with failing("security plugin .* not initialized yet", SearchUnavailableError):
            require_suitable(connect(uninitialized))

    @pytest.mark.parametrize("name", ["words", "get", "count"])
    def test_a_request_says_so(self, name, uninitialized):
        rows = VectorRows(PassageIndex(connect(uninitialized), "things"))
        with failing("security plugin .* not initialized yet", SearchUnavailableError):
            OPERATIONS[name](rows)

    def test_a_request_without_an_answer_has_the_status(self, uninitialized):
        index = PassageIndex(connect(uninitialized), "things")
        with failing("unavailable .HTTP 503.", SearchUnavailableError):
            index.exists()


@pytest.mark.opensearch
class TestAMissingShard:
    """A red cluster: one of an index's two shards is nowhere, the other one has passages."""

    @pytest.fixture
    def rows(self, opensearch, os_client, index_name):
        body = index_body(2, Fields(), IndexOptions(2, 0))
        body["settings"]["index"]["routing.allocation.total_shards_per_node"] = 1
        os_client.indices.create(index=index_name, body=body, wait_for_active_shards=0)
        health = os_client.cluster.health(index=index_name, wait_for_active_shards=1)
        assert health["status"] == "red"
        first, *others = [id_ for id_ in "abcdefgh" if has_node(os_client, index_name, id_)]
        rows = rows_of(SearchServer((opensearch.url,), timeout_s=LIMIT_S), index_name)
        rows.write(passages(*others), ["text"] * len(others))
        os_client.delete(index=index_name, id=first, refresh=True, ignore=404)
        return rows

    def test_the_server_is_suitable(self, rows):
        require_suitable(rows.index.client)

    def test_writing_names_the_shard(self, rows):
        with failing("primary shard is not active.*GET _cluster/health", SearchUnavailableError):
            rows.write(passages(*"abcdef"), ["text"] * 6)

    def test_reading_by_id_is_an_error(self, rows):
        with failing("No shard available.*GET _cluster/health", SearchUnavailableError):
            rows.get(list("abcdef"))

    def test_listing_is_an_error(self, rows):
        with failing("1 .* out of 2.*GET _cluster/health", SearchUnavailableError):
            rows.ids()

    def test_refreshing_is_an_error_in_time(self, rows):
        with failing("FOOTNOTE_SEARCH_TIMEOUT_S", SearchUnavailableError):
            rows.index.refresh()


def wait_until_reachable(server, node):
    """Until the node answers, even with an error."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert node.running, node.log_tail()
        try:
            require_suitable(connect(server))
        except SearchUnavailableError as error:
            if "can't be reached" not in str(error):
                return
        time.sleep(0.5)
    raise AssertionError(node.log_tail())


def has_node(client, index, id_):
    """Whether a node has the shard of a passage."""
    (copies,) = client.search_shards(index=index, routing=id_)["shards"]
    return bool(copies)
