"""The model is loaded late, and asked once for a question that is embedded again soon."""

import pytest

from storage.vectors.passage_store import RECENT_QUESTIONS, LazyEmbeddings
from tests.storage.vectors.random_vectors import TextVectors


class CountingVectors(TextVectors):
    """Notes each question; fails for the empty one."""

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
    loaded = []
    embeddings = LazyEmbeddings(lambda: loaded.append(model) or model)
    assert loaded == []
    embeddings.embed_query("1 0")
    embeddings.embed_documents(["0 1"])
    assert loaded == [model]


def test_a_recent_question_is_embedded_once(embeddings, model):
    assert embeddings.embed_query("1 0") == embeddings.embed_query("1 0") == [1.0, 0.0]
    assert model.questions == ["1 0"]


def test_what_a_caller_does_to_a_vector_does_not_change_the_next_one(embeddings):
    embeddings.embed_query("1 0").clear()
    assert embeddings.embed_query("1 0") == [1.0, 0.0]


def test_only_so_many_questions_are_kept(embeddings, model):
    for number in range(RECENT_QUESTIONS + 1):
        embeddings.embed_query(f"{number} 1")
    embeddings.embed_query("0 1")
    assert model.questions.count("0 1") == 2


def test_a_question_that_failed_is_asked_again(embeddings, model):
    for _ in range(2):
        with pytest.raises(ValueError, match="^$"):
            embeddings.embed_query("")
    assert len(model.questions) == 2
