"""The measures to which the answer decision is fitted."""

from benchmarks.fitting.answer_measures import labeled_rows
from chains.extractive.answer_decision import Measures
from tests.services.evaluation.test_evaluation_service import folder

__all__ = ["folder"]


def test_each_question_has_a_row_with_its_answer_and_two_without(build_services, folder):
    rows = list(labeled_rows(build_services(), folder))
    assert [row["kind"] for row in rows] == ["nothing", "article", "paragraph"] * 2
    assert [row["answerable"] for row in rows] == [True, False, False] * 2
    assert {row["language"] for row in rows} == {"latin", "korean"}
    answerable = [row["measures"] for row in rows if row["answerable"]]
    assert all(one.keys() == Measures.__dataclass_fields__.keys() for one in answerable)
