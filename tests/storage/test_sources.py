import pytest

from errors import NotFoundError
from storage.database import open_database
from storage.sources import Sources


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
