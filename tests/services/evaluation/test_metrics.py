from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.evaluation.metrics import estimate, holds_answer, ndcg, recall, reciprocal_rank

ranking = st.lists(st.sampled_from("abcdefgh"), unique=True)
relevance = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3))


def test_ndcg_of_one_relevant_passage_at_rank_2():
    assert ndcg(["x", "a"], {"a": 1}, 10) == pytest.approx(1 / log2(3))


def test_the_ideal_order_scores_1():
    assert ndcg(["a", "b", "c"], {"a": 3, "b": 2, "c": 1}, 10) == pytest.approx(1)


@given(ranking, relevance, st.integers(1, 10))
def test_ndcg_and_recall_are_between_0_and_1(order, grades, k):
    assert 0 <= ndcg(order, grades, k) <= 1 + 1e-9
    assert 0 <= recall(order, grades, k) <= 1


@given(ranking, relevance)
def test_recall_never_falls_with_depth(order, grades):
    recalls = [recall(order, grades, k) for k in range(1, 10)]
    assert recalls == sorted(recalls)


def test_an_answer_is_found_despite_different_white_space_and_width():
    assert holds_answer("価格は１２ 円です", ["12円"])
    assert not holds_answer("価格は13円です", ["12円"])


def test_an_empty_answer_is_never_found():
    assert not holds_answer("anything", ["", " "])


def test_the_reciprocal_rank_uses_the_first_relevant_passage():
    assert reciprocal_rank(["x", "a", "b"], {"a": 1, "b": 1, "x": 0}, 10) == 1 / 2
    assert reciprocal_rank(["x", "a"], {"a": 1}, 1) == 0


figures = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(figures)
def test_an_interval_lies_within_its_values_and_is_deterministic(values):
    first = estimate(values, resamples=50)
    assert min(values) - 1e-9 <= first.low <= first.high <= max(values) + 1e-9
    assert estimate(values, resamples=50) == first


def test_an_interval_has_the_width_of_the_standard_error():
    values = [0.0, 1.0] * 200  # standard error of the mean: 0.5 / sqrt(400) = 0.025
    interval = estimate(values)
    assert interval.mean == 0.5
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.025, rel=0.1)


def test_equal_values_have_an_empty_interval_and_no_values_are_an_error():
    assert estimate([0.5] * 9) == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError):
        estimate([])
