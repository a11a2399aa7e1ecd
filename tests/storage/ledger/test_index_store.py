from dataclasses import replace

import pytest

from storage.ledger.document_store import document_id
from storage.ledger.index_store import Indexes, IndexSpec, IndexState, new_index
from storage.ledger.ledger import Ledger
from tests.fakes.library import DictLoader, Library
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

SPEC = IndexSpec({"provider": "builtin", "name": "m"}, "m 384 normalised", "1", 1000, 150)


@pytest.fixture
def indexes(tmp_path):
    return Indexes(open_ledger(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"embedding_fingerprint": "m 768 normalised"},
        {"splitter_version": "2"},
        {"size": 900},
        {"overlap": 0},
    ],
    ids=str,
)
def test_the_fingerprint_depends_on_embedding_splitter_and_sizes(change):
    assert replace(SPEC, **change).fingerprint != SPEC.fingerprint


def test_the_fingerprint_does_not_depend_on_the_address_of_the_model():
    moved = replace(SPEC, embedding=dict(SPEC.embedding, base_url="http://elsewhere"))
    assert moved.fingerprint == SPEC.fingerprint


def test_activating_an_index_retires_the_active_one(indexes):
    old, new = new_index(SPEC, IndexState.ACTIVE), new_index(SPEC, IndexState.BUILDING)
    assert indexes.active() is None
    indexes.add(old)
    indexes.add(new)
    assert (indexes.active(), indexes.building()) == (old, new)

    indexes.activate(new.id)
    assert indexes.active() == replace(new, state=IndexState.ACTIVE)
    assert indexes.building() is None
    assert indexes.retired_indexes() == [replace(old, state=IndexState.RETIRED)]
    indexes.drop(old.id)
    assert indexes.retired_indexes() == []


def test_passages_are_counted_per_index(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"leave.md": "A sentence about the leave. " * 200}))
    active = library.indexes.active()
    id_ = document_id(library.source.id, "leave.md")
    passages = library.documents.passages(id_, active.id)
    assert library.indexes.passages(active.id) == len(passages) > 2
    for other, count in (("0", 1), ("z", 2)):  # ids that sort before and after the active index
        library.indexes.add(replace(new_index(SPEC, IndexState.BUILDING), id=other))
        Ledger(library.database).commit_passages(other, passages[:count])
        assert library.indexes.passages(other) == count
    assert library.indexes.passages(active.id) == len(passages)
    assert library.indexes.passages("no such index") == 0
