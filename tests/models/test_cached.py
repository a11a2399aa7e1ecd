"""Remembered vectors: the same ones, computed once."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errors import StorageError
from models.cached import BATCH, KEYS_PER_QUERY, CachedEmbeddings
from tests.fakes.models import HashingEmbeddings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "embeddings.sqlite3"


def as_float32(vectors):
    return np.array(vectors, np.float32).tolist()


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), max_size=20))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_vectors_are_those_of_the_embedding_in_the_order_of_the_texts(path, texts):
    inner = HashingEmbeddings()
    cached = CachedEmbeddings(inner, path, "hashing")
    want = as_float32(HashingEmbeddings().embed_documents(texts))
    assert cached.embed_documents(texts) == want
    inner.texts = 0
    assert cached.embed_documents(texts[::-1]) == want[::-1]
    assert inner.texts == 0


def test_another_process_finds_them_too(path):
    CachedEmbeddings(HashingEmbeddings(), path, "hashing").embed_documents(["a b", "c"])
    inner = HashingEmbeddings()
    CachedEmbeddings(inner, path, "hashing").embed_documents(["c", "new", "a b"])
    assert inner.texts == 1


def test_a_text_given_twice_is_embedded_once(path):
    inner = HashingEmbeddings()
    vectors = CachedEmbeddings(inner, path, "hashing").embed_documents(["a", "b", "a"])
    assert inner.texts == 2
    assert vectors[0] == vectors[2] != vectors[1]


def test_more_texts_than_a_batch_and_a_query_hold(path):
    texts = [f"text {n}" for n in range(2 * KEYS_PER_QUERY + BATCH + 1)]
    inner = HashingEmbeddings()
    cached = CachedEmbeddings(inner, path, "hashing")
    first = cached.embed_documents(texts)
    assert inner.calls == -(-len(texts) // BATCH)
    assert cached.embed_documents(texts) == first
    assert inner.texts == len(texts)


class OneWay(HashingEmbeddings):
    """Embeds a question otherwise than the same words in a passage."""

    def embed_query(self, text):
        self.texts += 1
        return self._embed("question " + text)


def test_a_question_is_embedded_each_time_and_not_taken_for_a_passage(path):
    inner = OneWay()
    cached = CachedEmbeddings(inner, path, "one way")
    cached.embed_documents(["leave"])
    assert cached.embed_query("leave") == OneWay().embed_query("leave")
    cached.embed_query("leave")
    assert inner.texts == 3


def test_another_fingerprint_is_another_vector(path):
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


def test_several_processes_write_at_once(path):
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


def test_a_file_that_is_no_cache_is_named(tmp_path):
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StorageError, match=f"{path}.*delete"):
        CachedEmbeddings(HashingEmbeddings(), path, "x").embed_documents(["a"])
