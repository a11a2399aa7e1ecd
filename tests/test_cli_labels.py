import json
import os

import pytest

from domain import LOCAL_USER, SearchMode
from services.labels import LabelOrigin

ASKED = "How many days of leave?"


@pytest.fixture
def labelled(build_services, handbook):
    """A library in which one passage is right for a question."""
    services = build_services()
    services.directories.import_directory(LOCAL_USER, handbook)
    [found] = services.search.search(LOCAL_USER, "annual", mode=SearchMode.BM25)
    services.labels.label(LOCAL_USER, ASKED, found.id, 1, LabelOrigin.LAB)
    return services


def test_labels_go_out_and_come_in_again(line, labelled, tmp_path):
    assert "1 labels of 1 questions" in line.run("labels", "export", tmp_path / "set").stdout
    [kept] = labelled.labels.list(LOCAL_USER)
    labelled.labels.remove(LOCAL_USER, ASKED, kept.passage_id)
    read = json.loads(line.run("labels", "import", tmp_path / "set", "--json").stdout)
    assert read == {"questions": 1, "labels": 1, "unmatched": 0}
    assert [label.question for label in labelled.labels.list(LOCAL_USER)] == [ASKED]


def test_what_is_exported_is_as_open_as_the_shell_makes_files(line, labelled, tmp_path):
    os.umask(0o027)
    line.run("labels", "export", tmp_path / "set")
    line.run("evaluate", "--labels", "--mode", "bm25", "--json", tmp_path / "figures.json")
    exported = [*(tmp_path / "set").iterdir(), tmp_path / "figures.json"]
    assert {path.stat().st_mode & 0o777 for path in exported} == {0o640}


def test_labels_that_do_not_come_along_are_counted_with_a_code_of_their_own(
    line, labelled, handbook, tmp_path
):
    line.run("labels", "export", tmp_path / "set")
    (handbook / "leave.md").write_text("# Leave policy\n\nLeave is unlimited now.\n")
    labelled.directories.import_directory(LOCAL_USER, handbook)
    assert "1 are of passages" in line.run("labels", "import", tmp_path / "set", code=3).stdout


def test_search_is_measured_by_own_labels(line, labelled, tmp_path):
    figures = tmp_path / "figures.json"
    done = line.run("evaluate", "--labels", "--mode", "bm25", "--json", figures)
    [row] = json.loads(figures.read_text())
    assert row["mode"] == "bm25"
    assert row["ndcg_at_10_low"] <= row["ndcg_at_10"] <= row["ndcg_at_10_high"]
    assert "mrr_at_10 1.000 (1.000 to 1.000)" in done.stdout
    assert "Few labels" in done.stderr


def test_without_labels_there_is_nothing_to_measure_or_export(line, tmp_path):
    for command in (["evaluate", "--labels"], ["labels", "export", tmp_path / "set"]):
        assert "mark one" in line.run(*command, code=1).stderr


@pytest.mark.parametrize("arguments", [["evaluate"], ["evaluate", ".", "--labels"]])
def test_a_folder_or_own_labels_but_not_both(line, arguments):
    line.run(*arguments, code=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "--labels", "--sweep"],
        ["evaluate", "--labels", "--sample", "3"],
        ["evaluate", ".", "--answers", "--sweep"],
    ],
)
def test_options_that_would_have_no_effect_are_refused(line, arguments):
    line.run(*arguments, code=2)
