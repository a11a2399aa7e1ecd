import pytest

from domain import SearchMode
from services.evaluation.evaluation_service import fusion_settings
from services.long_work import ignore
from tests.services.evaluation.test_evaluation_service import evaluation, folder

__all__ = ["evaluation", "folder"]


def test_every_setting_has_a_unique_name():
    names = [name for name, _ in fusion_settings()]
    assert len(names) == len(set(names))
    assert {"similarity", "bm25"} < set(names)


def test_a_parameter_sweep_agrees_with_the_measurements_of_the_modes(evaluation, folder):
    by_setting = {
        row["setting"]: row
        for row in evaluation.measure_parameter_sweep(folder, on_progress=ignore)
    }
    rows = evaluation.measure_search(folder, None, on_progress=ignore)
    by_mode = {row["mode"]: row["ndcg_at_10"] for row in rows}
    same = {
        SearchMode.SIMILARITY: "similarity",
        SearchMode.BM25: "bm25",
        SearchMode.ENSEMBLE: "ensemble depth=100 dense_weight=0.5",
        SearchMode.CONVEX: "convex min-max depth=100 dense_weight=0.5",
    }
    for mode, setting in same.items():
        assert by_setting[setting]["ndcg_at_10"] == pytest.approx(by_mode[mode])


def test_a_parameter_sweep_lists_the_best_setting_first(evaluation, folder):
    figures = [
        row["ndcg_at_10"] for row in evaluation.measure_parameter_sweep(folder, on_progress=ignore)
    ]
    assert figures == sorted(figures, reverse=True)
