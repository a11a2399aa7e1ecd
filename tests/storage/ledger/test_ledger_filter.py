"""The ledger filters exactly as the vector store does; see also `test_search_filters`."""

import pytest

from storage.ledger.passage_finder import LedgerFilter
from tests.fakes.library import DictLoader, Library

CONDITIONS = [
    {},
    {"key": "a.txt"},
    {"key": {"$in": ["a.txt", "b.txt"]}, "script": "latin"},
    {"script": "korean"},
    {"source_id": {"$nin": ["nobody"]}},
    {"page": {"$gte": 1}},
    {"$or": [{"key": "b.txt"}, {"script": "korean"}]},
    {"modified_at": {"$gt": "2000"}},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("data"))
    texts = {"a.txt": "one word after another. " * 40, "b.txt": "short", "휴가.txt": "휴가 규정"}
    library.load(DictLoader(texts))
    return library


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_same_passages_pass(library, condition):
    ids = library.active.passages.ids()
    passes = LedgerFilter(library.database).allowed(library.indexes.active().id, condition)
    allowed = library.active.passages.allowed(condition)
    assert {id_ for id_ in ids if passes(id_)} == {id_ for id_ in ids if allowed(id_)}
    assert not passes("nobody")


def test_of_another_index_nothing_passes(library):
    passes = LedgerFilter(library.database).allowed("another", {})
    assert not any(map(passes, library.active.passages.ids()))


def test_a_filter_that_can_not_be_understood_is_refused(library):
    with pytest.raises(ValueError, match="unknown operator"):
        LedgerFilter(library.database).allowed("any", {"key": {"$like": "a"}})
