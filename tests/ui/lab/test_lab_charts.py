from dataclasses import replace

from langchain_core.documents import Document

from domain import Explanation, SearchMode
from services.evaluation.label_sets import ModeFigures
from services.evaluation.metrics import Estimate
from services.search.lab_service import Comparison, LabHit, ModeResult
from ui.lab import lab_charts
from ui.text import words

BM25, CONVEX = SearchMode.BM25, SearchMode.CONVEX


def hit(id_, rank, score):
    return LabHit(id_, rank, Document("", metadata={"title": id_}), Explanation(score, ()))


def comparison():
    bm25 = ModeResult(BM25, (hit("a", 1, 8.0), hit("b", 2, 2.0)))
    convex = ModeResult(CONVEX, (hit("b", 1, 0.5), hit("a", 2, 0.4), hit("c", 3, -0.1)))
    return Comparison("leave", 3, (bm25, convex))


def data_rows(chart):
    """The data rows of a chart."""
    return chart["data"]["values"]


def test_shared_passages_are_named_by_letters_in_order_and_by_numbers_after_z():
    assert lab_charts.letters_of(["x", "y"]) == {"x": "A", "y": "B"}
    assert list(lab_charts.letters_of([str(n) for n in range(27)]).values())[-2:] == ["Z", "27"]


def test_the_rank_chart_contains_the_rank_of_each_passage_in_each_mode():
    result = comparison()
    chart = lab_charts.rank_chart(result, lab_charts.letters_of(result.shared)).to_dict()
    points = {(row["mode"], row["id"], row["rank"], row["letter"]) for row in data_rows(chart)}
    bm25, convex = words.SHORT_MODES[BM25], words.SHORT_MODES[CONVEX]
    assert points == {
        (bm25, "a", 1, "A"),
        (bm25, "b", 2, "B"),
        (convex, "b", 1, "B"),
        (convex, "a", 2, "A"),
        (convex, "c", 3, ""),
    }


def test_scores_are_relative_to_the_best_score_of_their_mode():
    chart = lab_charts.score_chart(comparison(), {}).to_dict()
    assert [round(row["share"], 3) for row in data_rows(chart)] == [1, 0.25, 1, 0.8, -0.2]


def test_relative_scores_are_zero_in_a_mode_without_a_positive_score():
    result = replace(comparison(), results=(ModeResult(BM25, (hit("a", 1, 0.0),)),))
    assert [row["share"] for row in data_rows(lab_charts.score_chart(result, {}).to_dict())] == [0]


def test_a_bar_has_a_mean_and_an_interval():
    mean = Estimate(0.5, 0.3, 0.7)
    row = ModeFigures(BM25, 40, 10, mean, Estimate(0.9, 0.8, 1.0), mean, 4.0)
    [bar] = data_rows(lab_charts.quality_chart([row], "recall").to_dict())
    assert bar == {"mode": words.SHORT_MODES[BM25], "mean": 0.9, "low": 0.8, "high": 1.0}
