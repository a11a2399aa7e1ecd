"""The permissions in docs/opensearch.md, given to two users of a node with the security plugin."""

import re
import secrets

import numpy as np
import pytest

from services.search.opensearch_retrievers import OpenSearchLexicalSearchRetriever
from storage.opensearch.connection import (
    SearchServer,
    SearchServerError,
    connect,
    require_suitable,
)
from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from tests.fakes.command_line import ROOT
from tests.storage.vectors.random_vectors import TextVectors, as_text

pytestmark = pytest.mark.opensearch

INDEX = "permissions-test"


def listed_permissions():
    """The permissions by row of the table: of the cluster, to read, and to write."""
    text = (ROOT / "docs" / "opensearch.md").read_text("utf-8")
    rows = re.findall(r"^\| on the [^|]*", text.partition("## Permissions")[2], re.MULTILINE)
    return [re.findall("`([^`]+)`", row) for row in rows]


def user_with(cluster, name, cluster_permissions, index_permissions):
    """A client of a new user with these permissions only."""
    password, admin = secrets.token_urlsafe(16), cluster.client().transport
    allowed = {"index_patterns": [INDEX], "allowed_actions": index_permissions}
    for kind, body in {
        "roles": {"cluster_permissions": cluster_permissions, "index_permissions": [allowed]},
        "internalusers": {"password": password},
        "rolesmapping": {"users": [name]},
    }.items():
        admin.perform_request("PUT", f"/_plugins/_security/api/{kind}/{name}", body=body)
    return connect(SearchServer((cluster.url,), name, password, cluster.security.ca_file))


@pytest.fixture(scope="module")
def clients(secure_opensearch):
    """Clients of a writer and a reader."""
    cluster, read, write = listed_permissions()
    yield (
        user_with(secure_opensearch, "footnote-writer", cluster, [*read, *write]),
        user_with(secure_opensearch, "footnote-reader", cluster, read),
    )
    secure_opensearch.client().indices.delete(index=INDEX, ignore_unavailable=True)


def test_the_listed_permissions_suffice_to_write_and_to_read(clients):
    writer, reader = clients
    require_suitable(writer)
    require_suitable(reader)
    store = OpenSearchVectorStore(writer, INDEX, TextVectors())
    store.add_vectors(["a", "b"], ["leave", "days"], np.array([[1, 0], [0, 1]]), [{}, {}])
    store.delete(["b"])
    read = OpenSearchVectorStore(reader, INDEX, TextVectors())
    assert read.ids() == ["a"]
    assert len(read) == 1
    assert [one.id for one in read.get_by_ids(["a"])] == ["a"]
    assert [one.id for one in read.similarity_search(as_text([1, 0], "question"))] == ["a"]
    words = OpenSearchLexicalSearchRetriever(reader, INDEX)
    assert [one.id for one in words.invoke("leave")] == ["a"]
    with pytest.raises(SearchServerError, match="the permissions in docs/opensearch.md"):
        read.delete(["a"])
    store.delete()
    assert len(read) == 0
