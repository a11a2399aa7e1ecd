"""A process that moves an index is killed at each phase of the move, and the next one resumes."""

import uuid

import numpy as np
import pytest

from storage.ledger.index_store import Engine
from storage.opensearch.connection import SearchServer
from storage.opensearch.search_cluster import SearchCluster
from tests.fakes.library import Library, filled_library
from tests.fakes.moving import KILLED, Point, mover

pytestmark = pytest.mark.opensearch

TEXTS = {f"{n:02}.txt": f"Rule {n}: the door of room {n} stays shut. " * 12 for n in range(9)}
_WRITER = "services.imports.index_writer:"
COPYING = [
    Point(_WRITER + "ActiveIndex.create", is_end=True),  # an empty index
    Point(_WRITER + "IndexWriter.add"),
    Point("storage.ledger.ledger:Ledger.commit_passages"),  # written, not committed
    Point(_WRITER + "IndexWriter.add", 2),
    Point("services.migration.index_migration:IndexMigration._require_equal"),
    Point("storage.ledger.index_store:Indexes.activate"),  # compared
]
AFTER_THE_SWITCH = [
    Point("storage.ledger.index_store:Indexes.activate", is_end=True),
    Point(_WRITER + "ActiveIndex.delete_retired"),  # the alias is moved
    Point("storage.index_stores:IndexStores.delete", is_end=True),  # deleted, but still recorded
    Point("storage.index_stores:IndexStores.delete", is_end=True),
]
"""One for each move, there and back."""


@pytest.fixture
def alias(os_client):
    alias = f"library-{uuid.uuid4().hex[:12]}"
    yield alias
    os_client.indices.delete(index=f"{alias}-*", ignore_unavailable=True)


@pytest.fixture
def open_library(tmp_path, opensearch, alias):
    def open_library():
        return Library(tmp_path, cluster=SearchCluster(SearchServer((opensearch.url,)), alias))

    return open_library


def vectors_of(library):
    passages = library.active.passages
    return passages.vectors_of(sorted(passages.ids()))


def equal(one, other):
    return one.keys() == other.keys() and all(
        np.allclose(one[id_], other[id_], atol=1e-6) for id_ in one
    )


def test_a_move_that_is_killed_at_each_phase_is_resumed_there_and_back(
    tmp_path, opensearch, os_client, alias, open_library
):
    filled_library(tmp_path, TEXTS).database.close()
    before = vectors_of(open_library())
    engines = (Engine.OPENSEARCH, Engine.EMBEDDED)
    with mover(tmp_path) as moves:
        for number, last in enumerate(AFTER_THE_SWITCH):
            engine = engines[number % 2]
            active = open_library().indexes.active()
            for point in COPYING if number < len(engines) else ():
                assert moves.move_index(engine, opensearch.url, alias, point) == KILLED, point
                assert open_library().indexes.active() == active, point
                assert equal(vectors_of(open_library()), before), point
            assert moves.move_index(engine, opensearch.url, alias, last) == KILLED, last
            assert open_library().indexes.active().spec.engine == engine
            assert moves.move_index(engine, opensearch.url, alias) == 0
            library = open_library()
            library.maintenance.recover()
            assert equal(vectors_of(library), before)
            assert library.check().agrees
            assert [one.spec.engine for one in library.indexes.all()] == [engine]
    assert len(os_client.indices.get(index=f"{alias}-*")) == len(AFTER_THE_SWITCH) % 2
