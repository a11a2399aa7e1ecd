import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Passage
from storage.ledger.document_store import document_id
from storage.ledger.passage_finder import PassageList, shared
from tests.fakes.library import DictLoader, Library

TEXT = "A long sentence about the leave of new employees. " * 40


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"leave.md": TEXT, "short.md": "short"}))
    return library


def pages_of(library, limit):
    index_id, id_ = library.indexes.active().id, document_id(library.source.id, "leave.md")
    whole = library.documents.passages(id_, index_id)
    listed = PassageList(library.database)
    pages = [
        listed.page(id_, index_id, limit=limit, offset=offset)
        for offset in range(0, len(whole), limit)
    ]
    return whole, [one for page in pages for one in page]


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_pages_of_any_length_hold_every_passage_with_the_same_overlaps(library, limit):
    whole, listed = pages_of(library, limit)
    assert [one.passage for one in listed] == whole
    assert listed == pages_of(library, 1000)[1]
    assert listed[0].shared_before == 0
    assert listed[-1].shared_after == 0


def test_what_is_shared_is_the_same_text_at_the_end_of_one_and_the_start_of_the_next(library):
    _, listed = pages_of(library, 4)
    assert any(one.shared_after for one in listed)
    for one, following in zip(listed, listed[1:], strict=False):
        assert one.shared_after == following.shared_before
        tail = one.passage.text[len(one.passage.text) - one.shared_after :]
        assert tail == following.passage.text[: following.shared_before]


def passage(start, end):
    return Passage("p", "d", 0, start, end, "x" * (end - start))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=6))
def test_an_overlap_is_never_longer_than_either_passage(spans):
    passages = [passage(start, start + length) for start, length in sorted(spans)]
    listed = shared(passages)
    assert [one.passage for one in listed] == passages
    for one in listed:
        assert 0 <= one.shared_before <= len(one.passage.text)
        assert 0 <= one.shared_after <= len(one.passage.text)
