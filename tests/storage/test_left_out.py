import pytest

from errors import NotFoundError
from storage.database import open_database
from storage.left_out import LeftOut
from storage.sources import Sources


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


def test_documents_are_left_out_and_taken_back_beside_the_sources_other_options(database):
    options = {"include": ["**/*"]}
    source = Sources(database).ensure("directory", "/docs", name="docs", options=options)
    left_out = LeftOut(database)
    assert left_out.keys(source.id) == []
    left_out.add(source.id, ["b.md", "a.md"])
    left_out.add(source.id, ["a.md", "c.md"])
    assert left_out.keys(source.id) == ["a.md", "b.md", "c.md"]
    left_out.remove(source.id, ["b.md", "never"])
    assert Sources(database).get(source.id).options == {**options, "left_out": ["a.md", "c.md"]}


@pytest.mark.parametrize("call", ["keys", "add", "remove"])
def test_a_source_that_is_gone_is_named(database, call):
    arguments = ["gone"] if call == "keys" else ["gone", ["a.md"]]
    with pytest.raises(NotFoundError, match="there is no source gone"):
        getattr(LeftOut(database), call)(*arguments)
