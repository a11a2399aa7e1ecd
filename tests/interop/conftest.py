"""The vector stores, each over vectors that the texts contain."""

import pytest

from storage.opensearch.opensearch_vector_store import OpenSearchVectorStore
from storage.vectors.passage_store import DeepLakePassages
from tests.storage.vectors.random_vectors import TextVectors


@pytest.fixture(params=["deep lake", pytest.param("opensearch", marks=pytest.mark.opensearch)])
def open_store(request, tmp_path):
    """Opens a store of either kind with options."""
    if request.param == "deep lake":
        folder = tmp_path / "passages"
        return lambda **options: DeepLakePassages(folder, TextVectors(), **options)
    client, name = map(request.getfixturevalue, ("os_client", "index_name"))
    return lambda **options: OpenSearchVectorStore(client, name, TextVectors(), **options)


@pytest.fixture
def store(open_store):
    return open_store()
