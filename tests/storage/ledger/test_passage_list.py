import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Passage
from storage.ledger.document_store import document_id
from storage.ledger.passage_finder import PassageList, shared
from tests.fakes.library import filled_library

pytestmark = pytest.mark.usefixtures("ledger_kind")

TEXT = "A long sentence about the leave of new employees. " * 40


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path, {"leave.md": TEXT, "short.md": "short"})


def pages_of(library, limit):
    index_id, id_ = library.indexes.active().id, document_id(library.source.id, "leave.md")
    passages = library.documents.passages(id_, index_id)
    entries = PassageList(library.database)
    pages = [
        entries.page(id_, index_id, limit=limit, offset=offset)
        for offset in range(0, len(passages), limit)
    ]
    return passages, [entry for page in pages for entry in page]


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_overlaps_do_not_depend_on_the_page_size(library, limit):
    passages, entries = pages_of(library, limit)
    assert [entry.passage for entry in entries] == passages
    assert entries == pages_of(library, 1000)[1]
    assert entries[0].shared_before == 0
    assert entries[-1].shared_after == 0


def test_shared_text_ends_one_passage_and_begins_the_next(library):
    _, entries = pages_of(library, 4)
    assert any(entry.shared_after for entry in entries)
    for entry, following in zip(entries, entries[1:], strict=False):
        assert entry.shared_after == following.shared_before
        tail = entry.passage.text[len(entry.passage.text) - entry.shared_after :]
        assert tail == following.passage.text[: following.shared_before]


def passage(start, end):
    return Passage("p", "d", 0, start, end, "x" * (end - start))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=6))
def test_an_overlap_is_never_longer_than_either_passage(spans):
    passages = [passage(start, start + length) for start, length in sorted(spans)]
    entries = shared(passages)
    assert [entry.passage for entry in entries] == passages
    for entry in entries:
        assert 0 <= entry.shared_before <= len(entry.passage.text)
        assert 0 <= entry.shared_after <= len(entry.passage.text)
