"""The cache returns the same vectors and computes each once."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import StorageError
from models.cached import BATCH, KEYS_PER_QUERY, CachedEmbeddings
from tests.fakes.models import HashingEmbeddings
from tests.quick import examples

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "embeddings.sqlite3"


def as_float32(vectors):
    return np.array(vectors, np.float32).tolist()


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), max_size=20))
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_cached_vectors_equal_those_of_the_embedding_in_order(path, texts):
    inner = HashingEmbeddings()
    cached = CachedEmbeddings(inner, path, "hashing")
    expected = as_float32(HashingEmbeddings().embed_documents(texts))
    assert cached.embed_documents(texts) == expected
    inner.texts = 0
    assert cached.embed_documents(texts[::-1]) == expected[::-1]
    assert inner.texts == 0


def test_another_cache_object_finds_the_vectors(path):
    CachedEmbeddings(HashingEmbeddings(), path, "hashing").embed_documents(["a b", "c"])
    inner = HashingEmbeddings()
    CachedEmbeddings(inner, path, "hashing").embed_documents(["c", "new", "a b"])
    assert inner.texts == 1


def test_a_repeated_text_is_embedded_once(path):
    inner = HashingEmbeddings()
    vectors = CachedEmbeddings(inner, path, "hashing").embed_documents(["a", "b", "a"])
    assert inner.texts == 2
    assert vectors[0] == vectors[2] != vectors[1]


def test_more_texts_than_one_batch_and_one_query_are_cached(path):
    texts = [f"text {n}" for n in range(2 * KEYS_PER_QUERY + BATCH + 1)]
    inner = HashingEmbeddings()
    cached = CachedEmbeddings(inner, path, "hashing")
    first = cached.embed_documents(texts)
    assert inner.calls == -(-len(texts) // BATCH)
    assert cached.embed_documents(texts) == first
    assert inner.texts == len(texts)


class AsymmetricEmbeddings(HashingEmbeddings):
    """Embeds questions and passages with the same words differently."""

    def embed_query(self, text):
        self.texts += 1
        return self._embed("question " + text)


def test_questions_are_not_cached_or_confused_with_passages(path):
    inner = AsymmetricEmbeddings()
    cached = CachedEmbeddings(inner, path, "asymmetric")
    cached.embed_documents(["leave"])
    assert cached.embed_query("leave") == AsymmetricEmbeddings().embed_query("leave")
    cached.embed_query("leave")
    assert inner.texts == 3


def test_vectors_are_cached_per_fingerprint(path):
    CachedEmbeddings(HashingEmbeddings(4), path, "four").embed_documents(["a"])
    (vector,) = CachedEmbeddings(HashingEmbeddings(8), path, "eight").embed_documents(["a"])
    assert len(vector) == 8


class Failing(HashingEmbeddings):
    def embed_documents(self, texts):
        if self.calls == 2:
            raise RuntimeError("power cut")
        return super().embed_documents(texts)


def test_an_interruption_costs_at_most_a_batch(path):
    texts = [f"text {n}" for n in range(3 * BATCH)]
    with pytest.raises(RuntimeError, match="power cut"):
        CachedEmbeddings(Failing(), path, "hashing").embed_documents(texts)
    inner = HashingEmbeddings()
    CachedEmbeddings(inner, path, "hashing").embed_documents(texts)
    assert inner.texts == BATCH


WORK = """
import sys
from pathlib import Path
from models.cached import CachedEmbeddings
from tests.fakes.models import HashingEmbeddings
cached = CachedEmbeddings(HashingEmbeddings(), Path(sys.argv[1]), "hashing")
start = int(sys.argv[2])
for n in range(start, start + 30):
    cached.embed_documents([f"text {m}" for m in range(10 * n, 10 * n + 30)])
"""


def test_several_processes_can_write_concurrently(path):
    workers = [
        subprocess.Popen([sys.executable, "-c", WORK, path, str(start)], cwd=ROOT)
        for start in (0, 10, 20)
    ]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    inner = HashingEmbeddings()
    texts = [f"text {n}" for n in range(10 * 49 + 30)]
    vectors = CachedEmbeddings(inner, path, "hashing").embed_documents(texts)
    assert inner.texts == 0
    assert vectors == as_float32(HashingEmbeddings().embed_documents(texts))


def test_a_file_that_is_not_a_cache_is_reported(tmp_path):
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StorageError, match=f"{path}.*delete"):
        CachedEmbeddings(HashingEmbeddings(), path, "x").embed_documents(["a"])
