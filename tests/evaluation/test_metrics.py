from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import holds_answer, ndcg, recall

ranking = st.lists(st.sampled_from("abcdefgh"), unique=True)
relevance = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3))


def test_ndcg_of_one_relevant_passage_at_rank_2():
    assert ndcg(["x", "a"], {"a": 1}, 10) == pytest.approx(1 / log2(3))


def test_the_ideal_order_scores_1():
    assert ndcg(["a", "b", "c"], {"a": 3, "b": 2, "c": 1}, 10) == pytest.approx(1)


@given(ranking, relevance, st.integers(1, 10))
def test_both_figures_lie_between_0_and_1(order, grades, k):
    assert 0 <= ndcg(order, grades, k) <= 1 + 1e-9
    assert 0 <= recall(order, grades, k) <= 1


@given(ranking, relevance)
def test_recall_never_falls_with_depth(order, grades):
    found = [recall(order, grades, k) for k in range(1, 10)]
    assert found == sorted(found)


def test_an_answer_is_found_whatever_its_white_space_and_width():
    assert holds_answer("価格は１２ 円です", ["12円"])
    assert not holds_answer("価格は13円です", ["12円"])


def test_an_empty_answer_is_never_found():
    assert not holds_answer("anything", ["", " "])
