"""LangChain's indexing API keeps the stores exactly as it keeps LangChain's in-memory store."""

import random

import pytest
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_core.vectorstores import InMemoryVectorStore

from tests.storage.vectors.random_vectors import TextVectors, as_text

CLEANUPS = [None, "incremental", "full", "scoped_full"]


def loads(seed, number=6):
    """Loads of the documents of three sources; documents change, disappear, and are repeated."""
    rng = random.Random(seed)
    for _ in range(number):
        yield [
            Document(
                as_text([source + 1, part], f"version {rng.randrange(2)}"),
                metadata={"source": f"source {source}", "part": part},
            )
            for source in rng.sample(range(3), rng.randint(0, 3))
            for part in rng.choices(range(5), k=rng.randint(1, 6))
        ]


def contents(store, ids):
    return sorted((one.id, one.page_content, one.metadata) for one in store.get_by_ids(ids))


def assert_same_contents(store, oracle):
    assert sorted(store.ids()) == sorted(oracle.store)
    assert contents(store, store.ids()) == contents(oracle, store.ids())


@pytest.mark.parametrize("cleanup", CLEANUPS)
@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_index_leaves_the_same_passages_as_in_the_in_memory_store(store, cleanup, batch_size):
    oracle = InMemoryVectorStore(TextVectors())
    records = [InMemoryRecordManager("ours"), InMemoryRecordManager("theirs")]
    options = {
        "cleanup": cleanup,
        "batch_size": batch_size,
        "source_id_key": "source",
        "key_encoder": "sha256",
    }
    for number, documents in enumerate(loads(batch_size)):
        ours, theirs = (
            index(documents, record, one, force_update=number == 4, **options)
            for record, one in zip(records, [store, oracle], strict=True)
        )
        assert ours == theirs
        assert_same_contents(store, oracle)


@pytest.mark.parametrize("cleanup", CLEANUPS)
async def test_aindex_leaves_the_same_passages_as_in_the_in_memory_store(store, cleanup):
    oracle = InMemoryVectorStore(TextVectors())
    records = [InMemoryRecordManager("ours"), InMemoryRecordManager("theirs")]
    options = {
        "cleanup": cleanup,
        "batch_size": 4,
        "source_id_key": "source",
        "key_encoder": "sha256",
    }
    for documents in loads(11):
        ours = await aindex(documents, records[0], store, **options)
        assert ours == await aindex(documents, records[1], oracle, **options)
        assert_same_contents(store, oracle)
