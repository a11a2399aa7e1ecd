import pytest

from errors import NotFoundError
from storage.ledger.database import open_database
from storage.ledger.source_store import Exclusions, Sources, excluded_keys


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


def test_documents_are_left_out_and_taken_back_beside_the_sources_other_options(database):
    options = {"include": ["**/*"]}
    source = Sources(database).ensure("directory", "/docs", name="docs", options=options)
    left_out = Exclusions(database)
    assert excluded_keys(source.options) == []
    left_out.add(source.id, ["b.md", "a.md"])
    left_out.add(source.id, ["a.md", "c.md"])
    assert excluded_keys(Sources(database).get(source.id).options) == ["a.md", "b.md", "c.md"]
    left_out.remove(source.id, ["b.md", "never"])
    assert Sources(database).get(source.id).options == {**options, "left_out": ["a.md", "c.md"]}


@pytest.mark.parametrize("call", ["add", "remove"])
def test_a_source_that_is_gone_is_named(database, call):
    with pytest.raises(NotFoundError, match="there is no source gone"):
        getattr(Exclusions(database), call)("gone", ["a.md"])
