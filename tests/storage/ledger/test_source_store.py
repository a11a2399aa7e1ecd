import pytest

from domain.errors import NotFoundError
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")


def test_the_same_location_is_the_same_source_with_the_latest_options(tmp_path):
    sources = Sources(open_ledger(tmp_path))
    first = sources.ensure("directory", "/docs", name="docs", options={"include": ["*.md"]})
    again = sources.ensure("directory", "/docs", name="Handbook")

    assert (again.id, again.created_at) == (first.id, first.created_at)
    assert (again.name, again.options) == ("Handbook", {})
    assert sources.list() == [again] == [sources.get(first.id)]


def test_source_ids_depend_on_the_location_and_not_on_the_data_folder(tmp_path):
    sources = Sources(open_ledger(tmp_path / "one"))
    here = sources.ensure("directory", "/docs", name="docs")
    elsewhere = Sources(open_ledger(tmp_path / "two")).ensure("directory", "/docs", name="x")

    assert sources.ensure("directory", "/other", name="docs").id != here.id
    assert elsewhere.id == here.id, "links to documents do not depend on the data folder"


def test_unknown_sources_raise_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="nothing"):
        Sources(open_ledger(tmp_path)).get("nothing")


def test_changed_options_reset_the_cursor_but_not_the_name(tmp_path):
    sources = Sources(open_ledger(tmp_path))
    source = sources.ensure("directory", "/docs", name="docs", options={"a": 1, "b": 2})
    sources.set_cursor(source.id, {"page": 9})
    sources.set_options(source.id, {"a": 1})
    assert sources.get(source.id).cursor == {"page": 9}
    sources.set_options(source.id, {"a": 3})
    stored = sources.get(source.id)
    assert (stored.name, stored.options, stored.cursor) == ("docs", {"a": 3, "b": 2}, {})


def test_options_of_missing_sources_are_ignored(tmp_path):
    sources = Sources(open_ledger(tmp_path))
    sources.set_options("missing", {"a": 1})
    assert sources.list() == []
