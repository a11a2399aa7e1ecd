import socket

import pytest

from storage.opensearch.connection import (
    SearchServer,
    SearchServerError,
    SearchUnavailableError,
    connect,
)
from storage.opensearch.search_cluster import delete_index, own_targets, point_alias

pytestmark = pytest.mark.opensearch

FOREIGN = "belongs to another library or program .*choose another FOOTNOTE_SEARCH_INDEX"


@pytest.fixture
def indexes(os_client, index_name):
    """Three empty indexes whose names begin with that of the alias, `index_name`."""
    names = [f"{index_name}-{n}" for n in range(3)]
    for name in names:
        os_client.indices.create(index=name)
    yield names
    os_client.indices.delete(index=names, ignore_unavailable=True)


def targets(client, alias):
    return set(client.indices.get_alias(index=alias, ignore_unavailable=True))


class TestOwnTargets:
    def test_a_name_that_does_not_exist_is_usable(self, os_client, index_name):
        own_targets(os_client, index_name, [])

    def test_an_alias_of_own_indexes_is_usable(self, os_client, index_name, indexes):
        os_client.indices.put_alias(index=indexes[:2], name=index_name)
        own_targets(os_client, index_name, indexes)

    def test_the_name_of_an_index_is_not_usable(self, os_client, index_name):
        os_client.indices.create(index=index_name)
        with pytest.raises(SearchServerError, match="the name of an index.*FOOTNOTE_SEARCH_INDEX"):
            own_targets(os_client, index_name, [])
        with pytest.raises(SearchServerError, match="the name of an index"):
            own_targets(os_client, index_name, [index_name])

    def test_an_alias_of_another_index_is_not_usable(self, os_client, index_name, indexes):
        os_client.indices.put_alias(index=indexes[:2], name=index_name)
        with pytest.raises(SearchServerError, match=f"{indexes[1]}.*FOOTNOTE_SEARCH_INDEX"):
            own_targets(os_client, index_name, indexes[:1])


class TestPointAlias:
    def test_it_creates_the_alias(self, os_client, index_name, indexes):
        point_alias(os_client, index_name, indexes[0], [])
        assert targets(os_client, index_name) == {indexes[0]}

    def test_it_moves_the_alias(self, os_client, index_name, indexes):
        os_client.indices.put_alias(index=indexes[:2], name=index_name)
        os_client.indices.put_alias(index=indexes[0], name=f"{index_name}-other")
        point_alias(os_client, index_name, indexes[2], indexes)
        assert targets(os_client, index_name) == {indexes[2]}
        assert targets(os_client, f"{index_name}-other") == {indexes[0]}

    def test_it_removes_the_alias_from_other_indexes_only(self, os_client, index_name, indexes):
        os_client.indices.put_alias(index=indexes, name=index_name)
        point_alias(os_client, index_name, indexes[1], indexes)
        assert targets(os_client, index_name) == {indexes[1]}

    def test_it_writes_nothing_if_the_alias_is_right(
        self, os_client, index_name, indexes, monkeypatch
    ):
        point_alias(os_client, index_name, indexes[0], indexes)
        monkeypatch.delattr(type(os_client.indices), "update_aliases")
        point_alias(os_client, index_name, indexes[0], indexes)

    def test_it_takes_no_alias_of_another_program(self, os_client, index_name, indexes):
        os_client.indices.put_alias(index=indexes[0], name=index_name)
        with pytest.raises(SearchServerError, match=FOREIGN):
            point_alias(os_client, index_name, indexes[1], indexes[1:])
        assert targets(os_client, index_name) == {indexes[0]}

    def test_a_missing_index_leaves_the_alias_unchanged(self, os_client, index_name, indexes):
        point_alias(os_client, index_name, indexes[0], indexes)
        with pytest.raises(SearchServerError, match="no such index"):
            point_alias(os_client, index_name, f"{index_name}-missing", indexes)
        assert targets(os_client, index_name) == {indexes[0]}


class TestDeleteIndex:
    def test_it_deletes_the_index_and_its_alias(self, os_client, index_name, indexes):
        point_alias(os_client, index_name, indexes[0], indexes)
        delete_index(os_client, indexes[0])
        assert not os_client.indices.exists(index=indexes[0])
        assert targets(os_client, index_name) == set()
        assert os_client.indices.exists(index=indexes[1])

    def test_a_missing_index_is_ignored(self, os_client, index_name):
        delete_index(os_client, index_name)

    def test_an_alias_is_not_an_index(self, os_client, index_name, indexes):
        point_alias(os_client, index_name, indexes[0], indexes)
        delete_index(os_client, index_name)
        assert os_client.indices.exists(index=indexes[0])


def test_an_unreachable_server_is_reported():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        client = connect(SearchServer((f"http://127.0.0.1:{free.getsockname()[1]}",)))
    for action in (
        lambda: own_targets(client, "a", []),
        lambda: point_alias(client, "a", "a-1", []),
        lambda: delete_index(client, "a-1"),
    ):
        with pytest.raises(SearchUnavailableError, match="FOOTNOTE_SEARCH_URL"):
            action()
