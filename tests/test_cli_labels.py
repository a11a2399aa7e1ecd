import json
import os

import pytest

from domain import LOCAL_USER, SearchMode
from services.evaluation.label_service import LabelOrigin

pytestmark = pytest.mark.slow

QUESTION = "How many days of leave?"


@pytest.fixture
def labeled(imported):
    """A library with one passage labeled as right for a question."""
    services = imported()
    [passage] = services.search.search(LOCAL_USER, "annual", mode=SearchMode.BM25)
    services.labels.label(LOCAL_USER, QUESTION, passage.id, 1, LabelOrigin.LAB)
    return services


def test_labels_are_exported_and_imported(line, labeled, tmp_path):
    assert "1 labels of 1 questions" in line.run("labels", "export", tmp_path / "set").stdout
    [saved] = labeled.labels.list(LOCAL_USER)
    labeled.labels.remove(LOCAL_USER, QUESTION, saved.passage_id)
    counts = json.loads(line.run("labels", "import", tmp_path / "set", "--json").stdout)
    assert counts == {"questions": 1, "labels": 1, "unmatched": 0}
    assert [label.question for label in labeled.labels.list(LOCAL_USER)] == [QUESTION]


def test_exported_files_follow_the_umask(line, labeled, tmp_path):
    os.umask(0o027)
    line.run("labels", "export", tmp_path / "set")
    line.run("evaluate", "--labels", "--mode", "bm25", "--json", tmp_path / "figures.json")
    exported = [*(tmp_path / "set").iterdir(), tmp_path / "figures.json"]
    assert {path.stat().st_mode & 0o777 for path in exported} == {0o640}


def test_skipped_labels_are_counted_with_their_own_exit_code(line, labeled, handbook, tmp_path):
    line.run("labels", "export", tmp_path / "set")
    (handbook / "leave.md").write_text("# Leave policy\n\nLeave is unlimited now.\n")
    labeled.directories.import_directory(LOCAL_USER, handbook)
    assert (
        "Skipped 1 labels of passages"
        in line.run("labels", "import", tmp_path / "set", code=3).stdout
    )


def test_search_is_evaluated_with_the_users_labels(line, labeled, tmp_path):
    figures = tmp_path / "figures.json"
    result = line.run("evaluate", "--labels", "--mode", "bm25", "--json", figures)
    [row] = json.loads(figures.read_text())
    assert row["mode"] == "bm25"
    assert row["ndcg_at_10_low"] <= row["ndcg_at_10"] <= row["ndcg_at_10_high"]
    assert "mrr_at_10 1.000 (1.000 to 1.000)" in result.stdout
    assert "Few labels" in result.stderr


def test_without_labels_there_is_nothing_to_evaluate_or_export(line, tmp_path):
    for command in (["evaluate", "--labels"], ["labels", "export", tmp_path / "set"]):
        assert "mark one" in line.run(*command, code=1).stderr


@pytest.mark.parametrize("arguments", [["evaluate"], ["evaluate", ".", "--labels"]])
def test_a_folder_and_labels_cannot_be_combined(line, arguments):
    line.run(*arguments, code=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "--labels", "--sweep"],
        ["evaluate", "--labels", "--sample", "3"],
        ["evaluate", ".", "--answers", "--sweep"],
    ],
)
def test_options_without_effect_are_rejected(line, arguments):
    line.run(*arguments, code=2)
