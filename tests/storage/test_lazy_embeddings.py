"""The model is loaded lazily, and embeddings of recent questions are cached."""

import pytest

from storage.vectors.passage_store import RECENT_QUESTIONS, LazyEmbeddings
from tests.storage.vectors.random_vectors import TextVectors


class CountingVectors(TextVectors):
    """Records each question; fails for empty ones."""

    def __init__(self):
        self.questions = []

    def embed_query(self, text):
        self.questions.append(text)
        if not text:
            raise ValueError(text)
        return super().embed_query(text)


@pytest.fixture
def model():
    return CountingVectors()


@pytest.fixture
def embeddings(model):
    return LazyEmbeddings(lambda: model)


def test_the_model_is_loaded_with_the_first_text(model):
    loaded_models = []
    embeddings = LazyEmbeddings(lambda: loaded_models.append(model) or model)
    assert loaded_models == []
    embeddings.embed_query("1 0")
    embeddings.embed_documents(["0 1"])
    assert loaded_models == [model]


def test_a_recent_question_is_embedded_once(embeddings, model):
    assert embeddings.embed_query("1 0") == embeddings.embed_query("1 0") == [1.0, 0.0]
    assert model.questions == ["1 0"]


def test_changing_a_returned_vector_does_not_affect_the_cache(embeddings):
    embeddings.embed_query("1 0").clear()
    assert embeddings.embed_query("1 0") == [1.0, 0.0]


def test_the_number_of_cached_questions_is_limited(embeddings, model):
    for number in range(RECENT_QUESTIONS + 1):
        embeddings.embed_query(f"{number} 1")
    embeddings.embed_query("0 1")
    assert model.questions.count("0 1") == 2


def test_failed_questions_are_not_cached(embeddings, model):
    for _ in range(2):
        with pytest.raises(ValueError, match="^$"):
            embeddings.embed_query("")
    assert len(model.questions) == 2
