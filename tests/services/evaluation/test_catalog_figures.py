import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import CatalogFilters, CatalogQuery
from services.evaluation.catalog_figures import CatalogQuestion, Outcome, figures_by_language

pytestmark = pytest.mark.slow

FIELDS = ("borough_en",)
QUEENS = CatalogFilters({"borough_en": "Queens"})


def outcome(
    language="en", *, expected=None, understood=None, aspects=None, weights=None, **rankings
):
    question = CatalogQuestion(
        "q", language, "?", expected or CatalogFilters(), aspects or {}, (), ("a", "b")
    )
    query = CatalogQuery("?", "?", understood or CatalogFilters(), weights or {})
    return Outcome(question, query, rankings or {"hybrid": ["a", "b"]})


def test_each_language_has_a_row_and_the_last_row_covers_all():
    rows = figures_by_language([outcome("ko"), outcome("en"), outcome("ko")], FIELDS)
    assert [(row.language, row.questions) for row in rows] == [("ko", 2), ("en", 1), ("all", 3)]


def test_one_wrong_filter_of_three_scores_two_thirds():
    (row, _) = figures_by_language([outcome(expected=QUEENS)], FIELDS)
    assert row.filters.mean == pytest.approx(2 / 3)


def test_a_language_without_mentioned_aspects_has_no_aspect_figures():
    (row, _) = figures_by_language([outcome()], FIELDS)
    assert (row.aspects_found, row.aspects_right) == (None, None)
    assert "aspects_found" not in row.as_row()


def test_aspect_figures_are_computed_over_all_questions_together():
    one = outcome(aspects={"food": "wanted", "price": "hedged"}, weights={"food": 0.9})
    other = outcome(aspects={"food": "wanted"}, weights={"food": 0.1, "service": 0.9})
    (row, _) = figures_by_language([one, other], FIELDS)
    assert row.aspects_found.mean == pytest.approx(1 / 3)
    assert row.aspects_right.mean == pytest.approx(1 / 3)


def test_the_gain_is_the_mean_difference_from_the_first_method():
    outcomes = [outcome(hybrid=[], full=["a", "b"]), outcome(hybrid=["a", "b"], full=["a", "b"])]
    (row, _) = figures_by_language(outcomes, FIELDS)
    assert row.ndcg["hybrid"].mean == pytest.approx(0.5)
    assert row.gains == {"full": pytest.approx((0.5, 0.0, 1.0))}


def test_a_question_without_acceptable_places_is_excluded_from_ndcg():
    question = CatalogQuestion("q", "en", "?", CatalogFilters())
    unanswered = Outcome(question, CatalogQuery("?", "?"), {"hybrid": ["a"]})
    (row, _) = figures_by_language([outcome(hybrid=["a", "b"]), unanswered], FIELDS)
    assert row.ndcg["hybrid"].mean == pytest.approx(1)
    (row, _) = figures_by_language([unanswered], FIELDS)
    assert row.ndcg == row.gains == {}


@settings(max_examples=10, deadline=None)  # each example draws thousands of resamples
@given(st.lists(st.permutations("abcd"), min_size=1, max_size=4))
def test_every_figure_lies_within_its_interval(orders):
    outcomes = [outcome(hybrid=order, full=order[::-1]) for order in orders]
    row = figures_by_language(outcomes, FIELDS)[-1].as_row()
    for name in ("filters_right", "ndcg_hybrid", "ndcg_full", "gain_full"):
        assert row[f"{name}_low"] - 1e-9 <= row[name] <= row[f"{name}_high"] + 1e-9
