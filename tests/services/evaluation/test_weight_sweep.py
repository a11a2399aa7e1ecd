import pytest

from domain import SearchMode
from services.evaluation.evaluation_service import fusion_settings
from services.long_work import ignore
from tests.services.evaluation.test_evaluation_service import evaluation, folder

__all__ = ["evaluation", "folder"]


def test_every_setting_has_a_name_of_its_own():
    names = [name for name, _ in fusion_settings()]
    assert len(names) == len(set(names))
    assert {"similarity", "bm25"} < set(names)


def test_a_parameter_sweep_gives_each_setting_the_figure_that_the_mode_itself_has(
    evaluation, folder
):
    tried = {
        row["setting"]: row
        for row in evaluation.measure_parameter_sweep(folder, on_progress=ignore)
    }
    rows = evaluation.measure_search(folder, None, on_progress=ignore)
    known = {row["mode"]: row["ndcg_at_10"] for row in rows}
    same = {
        SearchMode.SIMILARITY: "similarity",
        SearchMode.BM25: "bm25",
        SearchMode.ENSEMBLE: "ensemble depth=100 dense_weight=0.5",
        SearchMode.CONVEX: "convex min-max depth=100 dense_weight=0.5",
    }
    for mode, setting in same.items():
        assert tried[setting]["ndcg_at_10"] == pytest.approx(known[mode])


def test_a_parameter_sweep_begins_with_the_best(evaluation, folder):
    figures = [
        row["ndcg_at_10"] for row in evaluation.measure_parameter_sweep(folder, on_progress=ignore)
    ]
    assert figures == sorted(figures, reverse=True)
