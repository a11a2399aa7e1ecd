"""The ledger filters exactly as the vector store does; see also `test_search_filters`."""

import pytest

from storage.ledger.passage_finder import LedgerFilter
from tests.fakes.library import DictLoader, Library

pytestmark = pytest.mark.usefixtures("ledger_kind")

CONDITIONS = [
    {},
    {"key": "a.txt"},
    {"key": {"$in": ["a.txt", "b.txt"]}, "script": "latin"},
    {"script": "korean"},
    {"source_id": {"$nin": ["nobody"]}},
    {"page": {"$gte": 1}},
    {"$or": [{"key": "b.txt"}, {"script": "korean"}]},
    {"modified_at": {"$gt": "2000"}},
    {"$and": [{"key": {"$ne": "a.txt"}}, {"$not": {"script": "korean"}}]},
    {"page": {"$exists": False}, "key": {"$not": {"$in": ["b.txt"]}}},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory, ledger_kind):
    library = Library(tmp_path_factory.mktemp("data"))
    texts = {"a.txt": "one word after another. " * 40, "b.txt": "short", "휴가.txt": "휴가 규정"}
    library.load(DictLoader(texts))
    return library


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_ledger_allows_the_same_passages_as_the_vector_store(library, condition):
    ids = library.active.passages.ids()
    ledger_allows = LedgerFilter(library.database).allowed(library.indexes.active().id, condition)
    store_allows = library.active.passages.allowed(condition)
    assert {id_ for id_ in ids if ledger_allows(id_)} == {id_ for id_ in ids if store_allows(id_)}
    assert not ledger_allows("nobody")


def test_passages_of_other_indexes_are_not_allowed(library):
    ledger_allows = LedgerFilter(library.database).allowed("another", {})
    assert not any(map(ledger_allows, library.active.passages.ids()))


def test_invalid_filters_are_rejected(library):
    with pytest.raises(ValueError, match="unknown operator"):
        LedgerFilter(library.database).allowed("any", {"key": {"$like": "a"}})
