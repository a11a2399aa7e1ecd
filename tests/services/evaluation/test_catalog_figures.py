import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import CatalogFilters, CatalogQuery
from services.evaluation.catalog_figures import CatalogQuestion, Outcome, figures_by_language

FIELDS = ("borough_en",)
QUEENS = CatalogFilters({"borough_en": "Queens"})


def outcome(language="en", *, meant=None, found=None, aspects=None, weights=None, **rankings):
    question = CatalogQuestion(
        "q", language, "?", meant or CatalogFilters(), aspects or {}, (), ("a", "b")
    )
    query = CatalogQuery("?", "?", found or CatalogFilters(), weights or {})
    return Outcome(question, query, rankings or {"hybrid": ["a", "b"]})


def test_each_language_has_a_row_and_all_of_them_the_last():
    rows = figures_by_language([outcome("ko"), outcome("en"), outcome("ko")], FIELDS)
    assert [(row.language, row.questions) for row in rows] == [("ko", 2), ("en", 1), ("all", 3)]


def test_a_filter_in_three_that_is_wrong_leaves_two_thirds():
    (row, _) = figures_by_language([outcome(meant=QUEENS)], FIELDS)
    assert row.filters.mean == pytest.approx(2 / 3)


def test_a_language_without_any_mention_of_an_aspect_has_no_such_figures():
    (row, _) = figures_by_language([outcome()], FIELDS)
    assert (row.aspects_found, row.aspects_right) == (None, None)
    assert "aspects_found" not in row.as_row()


def test_aspects_are_counted_over_all_questions_together():
    one = outcome(aspects={"food": "wanted", "price": "hedged"}, weights={"food": 0.9})
    other = outcome(aspects={"food": "wanted"}, weights={"food": 0.1, "service": 0.9})
    (row, _) = figures_by_language([one, other], FIELDS)
    assert row.aspects_found.mean == pytest.approx(1 / 3)
    assert row.aspects_right.mean == pytest.approx(1 / 3)


def test_the_gain_is_over_the_first_way_question_by_question():
    found = [outcome(hybrid=[], full=["a", "b"]), outcome(hybrid=["a", "b"], full=["a", "b"])]
    (row, _) = figures_by_language(found, FIELDS)
    assert row.ndcg["hybrid"].mean == pytest.approx(0.5)
    assert row.gains == {"full": pytest.approx((0.5, 0.0, 1.0))}


def test_a_question_that_no_place_answers_has_no_ndcg():
    asked = CatalogQuestion("q", "en", "?", CatalogFilters())
    unanswered = Outcome(asked, CatalogQuery("?", "?"), {"hybrid": ["a"]})
    (row, _) = figures_by_language([outcome(hybrid=["a", "b"]), unanswered], FIELDS)
    assert row.ndcg["hybrid"].mean == pytest.approx(1)
    (row, _) = figures_by_language([unanswered], FIELDS)
    assert row.ndcg == row.gains == {}


@settings(max_examples=10, deadline=None)  # each is thousands of draws
@given(st.lists(st.permutations("abcd"), min_size=1, max_size=4))
def test_every_figure_of_a_row_is_between_its_bounds(orders):
    found = [outcome(hybrid=order, full=order[::-1]) for order in orders]
    row = figures_by_language(found, FIELDS)[-1].as_row()
    for name in ("filters_right", "ndcg_hybrid", "ndcg_full", "gain_full"):
        assert row[f"{name}_low"] - 1e-9 <= row[name] <= row[f"{name}_high"] + 1e-9
