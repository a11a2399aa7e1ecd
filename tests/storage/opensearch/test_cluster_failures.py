"""Three real nodes fail in turn: nothing is lost, nothing half-written is found, imports resume."""

import logging
import threading
import time
import uuid
from contextlib import contextmanager
from functools import partial

import pytest

from domain import LOCAL_USER, ImportState, Stage
from services.imports.import_queue import ImportQueue
from storage.opensearch.connection import SearchServer, SearchUnavailableError
from storage.opensearch.mapping import IndexOptions
from storage.opensearch.search_cluster import SearchCluster
from tests.fakes.library import DictLoader, Library
from tests.opensearch.cluster import cluster
from tests.opensearch.proxy import proxied
from tests.storage.opensearch.cluster_library import (
    EVERYWHERE,
    Questions,
    attempt,
    keys_with,
    queued,
    texts,
)

pytestmark = [
    pytest.mark.opensearch,
    pytest.mark.slow,
    pytest.mark.timeout(900),  # three nodes need minutes on a busy machine
]

_log = logging.getLogger(__name__)

LIMIT_S, AMPLE_S = 10, 60
"""Time limits of requests that must fail, and of all others: a busy node is slow."""
SLACK_S = 5
WAIT_S = 120
DISK = "cluster.routing.allocation.disk"
PETABYTE = "1pb"


@pytest.fixture(scope="module")
def three(opensearch_programs, tmp_path_factory):
    with cluster(3, folder=tmp_path_factory.mktemp("nodes")) as running:
        yield running


@pytest.fixture
def library_at(three, tmp_path):
    """Libraries over one data folder, whose cluster has these addresses."""
    alias = f"library-{uuid.uuid4().hex[:12]}"

    def at(*urls, options=None, limit_s=AMPLE_S):
        server = SearchServer(urls or tuple(three.urls), timeout_s=limit_s)
        return Library(tmp_path, cluster=SearchCluster(server, alias, options or IndexOptions()))

    yield at
    three.start()
    client = three.client()
    client.indices.delete(index=f"{alias}-*", ignore_unavailable=True)


def wait_until(condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f"{condition} is still false"
        time.sleep(0.2)


def at_write(number, call):
    """A receiver of progress that calls once, when this write begins, counted from 1."""
    writes = []

    def receive(progress):
        if progress.stage is Stage.WRITING:
            writes.append(progress)
            if len(writes) == number:
                call()

    return receive


def index_of(library):
    (name,) = library.stores._cluster.client.indices.get(index=f"{library.stores._cluster.alias}-*")
    return name


def run_of(library, run):
    return ImportQueue(library.database, library.access, library.audit).get(LOCAL_USER, run.id)


class TestTheEndOfTheElectedNode:
    """It also has the primary shard, and is one of the addresses of the client."""

    def test_imports_and_questions_continue(self, three, library_at):
        importer, asker = library_at(), library_at()
        before = texts(60)
        importer.load(DictLoader(before))
        three.wait(status="green")
        elected = three.elected()
        move_primary(three, index_of(importer), elected.name)
        changed = texts(20, word="omega")
        rest = set(before) - set(changed)
        documents = before | changed | texts(400, first=60)
        run, errors = queued(importer), []
        questions = Questions(asker, rest | set(texts(400, first=60)))
        kill = at_write(3, threading.Thread(target=elected.kill).start)
        with questions.running():
            began = time.monotonic()
            while error := attempt(importer, documents, kill):
                errors.append(str(error))
                assert time.monotonic() - began < WAIT_S
                time.sleep(1)
            took_s = time.monotonic() - began
            assert not elected.running
            assert keys_with(asker, EVERYWHERE) == set(documents)
            three.start()
            three.wait(status="green")
        _log.info(
            "import: %.1f s, postponed by %s; questions: %s answered in %.1f s at most, failed: %s",
            took_s,
            errors,
            questions.successes,
            questions.slowest_s,
            questions.failures,
        )
        assert questions.errors == []
        assert questions.successes > 10
        assert run_of(importer, run).state is ImportState.COMPLETED
        assert importer.check().agrees
        assert keys_with(asker, "omega0") == {"0000.txt"}
        assert keys_with(asker, EVERYWHERE) == set(documents)


def move_primary(three, index, name):
    """Move the primary shard to a node that may have the replica."""
    copies = {one["prirep"]: one["node"] for one in shards(three, index)}
    if copies["p"] == name:
        return
    command = (
        {"cancel": {"node": copies["p"], "allow_primary": True}}
        if copies["r"] == name
        else {"move": {"from_node": copies["p"], "to_node": name}}
    )
    ((action, options),) = command.items()
    body = {"commands": [{action: {"index": index, "shard": 0, **options}}]}
    three.client().cluster.reroute(body=body)
    moved = {"prirep": "p", "state": "STARTED", "node": name}
    wait_until(lambda: moved in shards(three, index))
    three.wait(status="green")


def shards(three, index):
    rows = three.get(f"/_cat/shards/{index}?format=json&h=prirep,state,node").json()
    return [one for one in rows if one["state"] == "STARTED"]


class TestACutConnection:
    @pytest.mark.parametrize(
        ("mode", "cut_s"),
        [
            ("refused", 0),
            ("silent at _bulk", 0),
            ("silent at _refresh", 0),
            ("refused", 30),
            ("silent at _bulk", 30),
        ],
    )
    def test_the_import_is_postponed_and_resumes(self, three, library_at, mode, cut_s):
        direct = library_at()
        direct.load(DictLoader(texts(40)))
        documents = texts(200)
        with proxied(three.url) as proxy:
            importer = library_at(proxy.url, limit_s=LIMIT_S)
            run, cuts = queued(importer), []
            cut = (
                proxy.cut
                if mode == "refused"
                else partial(proxy.silence, mode.split()[-1].encode())
            )

            def begin():
                cuts.append(time.monotonic())
                cut()

            error = attempt(importer, documents, at_write(2, begin))
            assert time.monotonic() - cuts[0] < LIMIT_S + SLACK_S
            setting = "URL" if mode == "refused" else "TIMEOUT_S"
            assert f"FOOTNOTE_SEARCH_{setting}" in str(error)
            waiting = run_of(importer, run)
            assert waiting.state is ImportState.INTERRUPTED
            assert waiting.message == f"{error.public_message} Imported documents are kept"
            assert waiting.retry_at is not None
            assert_questions_fail_in_time(importer)
            assert_only_committed_documents_are_found(direct, 40)
            while time.monotonic() - cuts[0] < cut_s:
                assert "FOOTNOTE_SEARCH_" in str(attempt(importer, documents))
                time.sleep(5)  # the run fails after 12 attempts

            proxy.restore()
            removed = max(documents.keys() - importer.texts().keys())
            changed = min(documents.keys() - importer.texts().keys())
            documents = documents | texts(1, int(changed[:4]), word="omega")
            del documents[removed]
            assert attempt(importer, documents) is None
            late = proxy.deliver()
        assert all(b" 200 OK" in answer for answer in late)
        assert ("silent" in mode) == bool(late)
        direct.stores._cluster.client.indices.refresh(index=index_of(direct))
        assert direct.check().agrees
        assert keys_with(direct, EVERYWHERE) == set(documents)
        assert keys_with(direct, f"alpha{int(removed[:4])}") == set()
        assert keys_with(direct, f"omega{int(changed[:4])}") == {changed}


def assert_questions_fail_in_time(library):
    began = time.monotonic()
    with pytest.raises(SearchUnavailableError, match="FOOTNOTE_SEARCH_"):
        library.active.words().search(EVERYWHERE, 10)
    assert time.monotonic() - began < LIMIT_S + SLACK_S


def assert_only_committed_documents_are_found(library, minimum):
    committed = library.texts()
    assert len(committed) >= minimum
    assert keys_with(library, EVERYWHERE) == set(committed)


class TestAFullDisk:
    def test_writes_are_postponed_until_the_server_removes_its_block(self, three, library_at):
        library = library_at()
        library.load(DictLoader(texts(40)))
        stored, *_ = library.active.passages.ids()
        run = queued(library)
        with full_disks(three, index_of(library)):
            began = time.monotonic()
            error = attempt(library, texts(100))
            assert "disks of the OpenSearch nodes are almost full" in str(error)
            assert "free disk space" in str(error)
            assert time.monotonic() - began < AMPLE_S
            assert run_of(library, run).state is ImportState.INTERRUPTED
            assert_only_committed_documents_are_found(library, 40)
            with pytest.raises(SearchUnavailableError, match="almost full"):
                library.active.delete([stored])
            assert stored in library.active.passages.ids()
            again = library_at()
            again.maintenance.recover()
            assert again.maintenance.status(LOCAL_USER).problem == ""
        assert attempt(library, texts(100)) is None
        assert library.check().agrees
        assert keys_with(library, EVERYWHERE) == set(texts(100))

    def test_a_removed_document_disappears_although_its_passages_stay(self, three, library_at):
        library = library_at()
        library.load(DictLoader(texts(40)))
        left = texts(39)
        queued(library)
        with full_disks(three, index_of(library)):
            assert "almost full" in str(attempt(library, left))
            assert keys_with(library, EVERYWHERE) == set(left)
        assert attempt(library, left) is None
        assert library.check().agrees


@contextmanager
def full_disks(three, index):
    """Raise the flood-stage watermark above the free space, and wait for the server's reactions."""
    client = three.client()

    def is_blocked():
        settings = client.indices.get_settings(index=index, flat_settings=True)[index]["settings"]
        return settings.get("index.blocks.read_only_allow_delete") == "true"

    def is_free():
        settings = client.cluster.get_settings(flat_settings=True)
        forbidden = [one.get("cluster.blocks.create_index") for one in settings.values()]
        return "true" not in forbidden and not is_blocked()

    try:
        client.cluster.put_settings(body={"transient": watermarks(PETABYTE)})
        wait_until(is_blocked)
        yield
        client.cluster.put_settings(body={"transient": watermarks("1b")})
        wait_until(is_free)
    finally:
        client.cluster.put_settings(body={"transient": dict.fromkeys(watermarks(""))})


def watermarks(free):
    names = ("low", "high", "flood_stage")
    return {
        **{f"{DISK}.watermark.{name}": free for name in names},
        f"{DISK}.threshold_enabled": True,
        "cluster.info.update.interval": "10s",
    }


class TestALostShard:
    def test_an_import_that_one_shard_refuses_shows_nothing(self, three, library_at):
        library = library_at(options=IndexOptions(shards=3, replicas=0))
        library.load(DictLoader(texts(40)))
        lost = next(node for node in three.nodes if node is not three.elected())
        assert lost.name in {one["node"] for one in shards(three, index_of(library))}
        run = queued(library)
        lost.kill()
        error = attempt(library_at(limit_s=LIMIT_S), texts(100))
        assert "unavailable" in str(error)
        assert set(library.texts()) == set(texts(40))
        for use in (
            partial(keys_with, library, EVERYWHERE),
            library.check,
            library.active.words().__len__,
        ):
            with pytest.raises(SearchUnavailableError, match="unavailable"):
                use()
        three.start()
        three.wait(status="green")
        assert attempt(library, texts(100)) is None
        assert run_of(library, run).state is ImportState.COMPLETED
        assert library.check().agrees
        assert keys_with(library, EVERYWHERE) == set(texts(100))


class TestReindex:
    def test_a_cut_after_the_activation_does_not_fail_it(self, three, library_at, monkeypatch):
        direct = library_at()
        direct.load(DictLoader(texts(40)))
        direct.maintenance.recover()
        old = index_of(direct)
        with proxied(three.url) as proxy:
            moved = library_at(proxy.url, limit_s=LIMIT_S)
            moved.maintenance._configured = Library(
                moved.data_dir, size=120, cluster=moved.stores._cluster
            ).index_spec
            activate = moved.indexes.activate

            def activate_and_cut(index_id):
                activate(index_id)
                proxy.cut()

            monkeypatch.setattr(moved.maintenance._indexes, "activate", activate_and_cut)
            moved.reindex()
        client = three.client()
        assert set(client.indices.get_alias(name=direct.stores._cluster.alias)) == {old}
        library_at().maintenance.recover()
        assert index_of(direct) != old
        assert set(client.indices.get_alias(name=direct.stores._cluster.alias)) == {
            index_of(direct)
        }
        assert direct.indexes.retired_indexes() == []
        assert library_at().check().agrees
