"""A search whose index another process replaces and deletes meanwhile uses the replacement."""

import shutil

import pytest

from domain import LOCAL_USER, SearchMode
from domain.errors import StorageError
from tests.fakes.damage import make_library, open_search
from tests.fakes.library import Library


@pytest.fixture
def data_dir(tmp_path):
    make_library(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def search(data_dir):
    return open_search(Library(data_dir))


def ranks(search, mode):
    """The ranks of the passages in the lists of the mode; several passages are equally good."""
    return [
        {part["ranker"]: part["rank"] for part in one.metadata["parts"]}
        for one in search.search(LOCAL_USER, "number 3 leave", mode=mode)
    ]


@pytest.mark.parametrize("mode", SearchMode)
@pytest.mark.parametrize("has_searched", [True, False])
def test_a_reindex_between_opening_and_searching_changes_no_result(
    search, data_dir, monkeypatch, mode, has_searched
):
    expected = ranks(search if has_searched else open_search(Library(data_dir)), mode)
    open_index, opened = search.library.open_index, []

    def open_then_reindex(_library):
        opened.append(open_index())
        if len(opened) == 1:
            Library(data_dir).reindex()
        return opened[-1]

    monkeypatch.setattr(type(search.library), "open_index", open_then_reindex)
    assert ranks(search, mode) == expected


def test_an_index_that_was_deleted_before_it_is_opened_is_not_opened(search, data_dir, monkeypatch):
    indexes = search.library.indexes
    read_active, previous = indexes.active, indexes.active()
    Library(data_dir).reindex()
    answers = iter([previous])
    monkeypatch.setattr(indexes, "active", lambda: next(answers, None) or read_active())
    assert ranks(search, SearchMode.CONVEX)


def test_an_index_whose_folder_is_missing_is_an_error(search, data_dir):
    shutil.rmtree(data_dir / "indexes")
    with pytest.raises(StorageError, match="reindex"):
        ranks(search, SearchMode.CONVEX)
