"""Places are ranked with the undamaged part of an index, and a notice names the damaged one."""

import pytest

from domain.errors import DamagedIndexError
from tests.fakes.damage import damage
from tests.fakes.library import Library
from tests.services.catalog import test_place_search as engine

pytestmark = pytest.mark.slow


@pytest.fixture
def ledger_filter(monkeypatch):
    """Open the index as the application does, with the filter of the ledger."""
    monkeypatch.setattr(engine.Indexes, "open_index", open_index)


def open_index(indexes):
    from tests.fakes.damage import open_search

    return open_search(indexes.library).library.open_index()


@pytest.fixture
def data_dir(tmp_path):
    library = Library(tmp_path)
    library.load(engine.Loader())
    library.database.close()
    return tmp_path


def damage_store(data_dir, store, pattern):
    for file in data_dir.glob(f"indexes/*/{store}/{pattern}"):
        damage(file, "zeroed")


@pytest.mark.parametrize(
    ("store", "pattern"), [("passages", "rows/[!_]*/*/*"), ("keywords", "index/*.idx")]
)
def test_one_list_ranks_the_places_and_a_notice_names_the_damaged_one(
    data_dir, ledger_filter, store, pattern
):
    damage_store(data_dir, store, pattern)
    result = engine.search(Library(data_dir), engine.make_query("pasta"))
    assert set(engine.ids(result)) >= {"trattoria", "osteria", "pizzeria"}
    assert engine.parts(result.places[0])["hybrid"] == 1.0
    assert f"/{store} can't be used" in result.notices[0]


def test_with_both_lists_damaged_the_error_explains_how_to_rebuild(data_dir, ledger_filter):
    damage_store(data_dir, "passages", "rows/[!_]*/*/*")
    damage_store(data_dir, "keywords", "index/*.term")
    with pytest.raises(DamagedIndexError, match=r"python cli.py reindex"):
        engine.search(Library(data_dir), engine.make_query("pasta"))
