import pytest

from domain.errors import NotFoundError
from storage.ledger.source_store import Exclusions, Sources, excluded_keys
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


def test_exclusions_are_added_and_removed_without_changing_other_options(database):
    options = {"include": ["**/*"]}
    source = Sources(database).ensure("directory", "/docs", name="docs", options=options)
    exclusions = Exclusions(database)
    assert excluded_keys(source.options) == []
    exclusions.add(source.id, ["b.md", "a.md"])
    exclusions.add(source.id, ["a.md", "c.md"])
    assert excluded_keys(Sources(database).get(source.id).options) == ["a.md", "b.md", "c.md"]
    exclusions.remove(source.id, ["b.md", "never"])
    assert Sources(database).get(source.id).options == {**options, "left_out": ["a.md", "c.md"]}


@pytest.mark.parametrize("call", ["add", "remove"])
def test_the_error_for_a_missing_source_names_it(database, call):
    with pytest.raises(NotFoundError, match="there is no source missing"):
        getattr(Exclusions(database), call)("missing", ["a.md"])
