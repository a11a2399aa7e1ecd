import pytest

from errors import NotFoundError
from storage.ledger.database import open_database
from storage.ledger.source_store import Sources


def test_the_same_place_is_the_same_source_with_the_options_of_the_last_call(tmp_path):
    sources = Sources(open_database(tmp_path))
    first = sources.ensure("directory", "/docs", name="docs", options={"include": ["*.md"]})
    again = sources.ensure("directory", "/docs", name="Handbook")

    assert (again.id, again.created_at) == (first.id, first.created_at)
    assert (again.name, again.options) == ("Handbook", {})
    assert sources.list() == [again] == [sources.get(first.id)]


def test_another_folder_or_another_data_folder(tmp_path):
    sources = Sources(open_database(tmp_path / "one"))
    here = sources.ensure("directory", "/docs", name="docs")
    elsewhere = Sources(open_database(tmp_path / "two")).ensure("directory", "/docs", name="x")

    assert sources.ensure("directory", "/other", name="docs").id != here.id
    assert elsewhere.id == here.id, "links to documents outlive the data folder"


def test_an_unknown_source_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="nothing"):
        Sources(open_database(tmp_path)).get("nothing")


def test_other_options_leave_the_name_alone_and_have_all_listed_anew(tmp_path):
    sources = Sources(open_database(tmp_path))
    source = sources.ensure("directory", "/docs", name="docs", options={"a": 1, "b": 2})
    sources.set_cursor(source.id, {"page": 9})
    sources.set_options(source.id, {"a": 1})
    assert sources.get(source.id).cursor == {"page": 9}
    sources.set_options(source.id, {"a": 3})
    kept = sources.get(source.id)
    assert (kept.name, kept.options, kept.cursor) == ("docs", {"a": 3, "b": 2}, {})


def test_options_of_a_source_that_is_gone_are_not_kept(tmp_path):
    sources = Sources(open_database(tmp_path))
    sources.set_options("gone", {"a": 1})
    assert sources.list() == []
