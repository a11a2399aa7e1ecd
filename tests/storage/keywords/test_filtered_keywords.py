"""Keyword search with a filter over the metadata of the passages."""

import pytest

from domain.errors import DamagedIndexError
from storage.filters import checks_of, matches
from storage.keywords.filtered_keywords import FilteredKeywords
from storage.keywords.keyword_index import KeywordIndex

TEXTS = {"travel": "mileage is paid", "leave": "leave is paid", "sensor": "a sensor is paid"}
CONDITION = {"document_id": {"$in": ["travel", "leave"]}}


class Passages:
    """The metadata of the passages: the id of each is that of its document."""

    def __init__(self):
        self.conditions = []
        self.damage = None

    def allowed(self, condition):
        self.conditions.append(condition)
        if self.damage:
            raise DamagedIndexError(self.damage)
        checks = checks_of(condition)
        return lambda id_: matches(checks, {"document_id": id_})


@pytest.fixture
def passages():
    return Passages()


@pytest.fixture
def index(tmp_path):
    index = KeywordIndex(tmp_path / "keywords")
    index.add(list(TEXTS.items()))
    return index


def found(words, condition):
    return {id_ for id_, _ in words.search("paid", 10, condition)}


def test_a_condition_is_evaluated_once(index, passages):
    words = FilteredKeywords(index, passages)
    (token,) = words.tokens_with_prefix("mile")
    for _ in range(3):
        assert found(words, dict(CONDITION)) == {"travel", "leave"}
        assert [id_ for id_, _ in words.search_tokens([token], 10, CONDITION)] == ["travel"]
    assert passages.conditions == [CONDITION]


def test_another_condition_is_evaluated(index, passages):
    words = FilteredKeywords(index, passages)
    other = {"document_id": {"$nin": ["travel"]}}
    assert found(words, CONDITION) == {"travel", "leave"}
    assert found(words, other) == {"leave", "sensor"}
    assert found(words, None) == set(TEXTS)
    assert found(words, CONDITION) == {"travel", "leave"}
    assert passages.conditions == [CONDITION, other, CONDITION]


def test_a_failed_evaluation_is_not_reused(index, passages):
    words = FilteredKeywords(index, passages)
    passages.damage = "the vector store is damaged"
    with pytest.raises(DamagedIndexError):
        words.search("paid", 10, CONDITION)
    passages.damage = None
    assert found(words, CONDITION) == {"travel", "leave"}


def test_the_next_request_sees_later_passages(index, passages):
    assert found(FilteredKeywords(index, passages), CONDITION) == {"travel", "leave"}
    assert found(FilteredKeywords(index, passages), CONDITION) == {"travel", "leave"}
    assert passages.conditions == [CONDITION, CONDITION]
