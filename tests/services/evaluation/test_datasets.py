import gzip
import json

import pytest

from domain.errors import InputError
from services.evaluation.datasets import load_labeled_set


def write_beir(folder, opener=open, suffix=""):
    rows = {
        "corpus.jsonl": [{"_id": "d1", "title": "T", "text": "휴가"}, {"_id": "d2", "text": "b"}],
        "queries.jsonl": [
            {"_id": "q1", "text": "a?", "history": [{"role": "user", "text": "h"}], "rewrite": "r"},
            {"_id": "unjudged", "text": "b?"},
        ],
    }
    for name, lines in rows.items():
        with opener(folder / (name + suffix), "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")


@pytest.mark.parametrize(("opener", "suffix"), [(open, ""), (gzip.open, ".gz")])
def test_the_beir_layout_is_read_with_and_without_gzip(tmp_path, opener, suffix):
    write_beir(tmp_path, opener, suffix)
    labeled = load_labeled_set(tmp_path)
    assert labeled.corpus == {"d1": ("T", "휴가"), "d2": ("", "b")}
    [question] = labeled.questions
    assert question.relevance == {"d1": 2, "d2": 0}
    assert (question.history, question.rewrite) == ((("user", "h"),), "r")


def test_equal_paragraphs_of_the_squad_layout_become_one_passage(tmp_path):
    def paragraph(number):
        question = {"id": f"q{number}", "question": "?", "answers": [{"text": "x"}, {"text": "x"}]}
        return {"context": "same", "qas": [question]}

    data = {"data": [{"title": "T", "paragraphs": [paragraph(1), paragraph(2)]}]}
    (tmp_path / "dev.json").write_text(json.dumps(data))
    labeled = load_labeled_set(tmp_path)
    assert labeled.corpus == {"p0": ("T", "same")}
    assert [question.relevance for question in labeled.questions] == [{"p0": 1}, {"p0": 1}]
    assert labeled.questions[0].answers == ("x",)


def test_the_error_for_a_folder_without_a_set_names_the_required_files(tmp_path):
    with pytest.raises(InputError, match="corpus.jsonl"):
        load_labeled_set(tmp_path)


def test_the_error_for_a_damaged_set_names_the_missing_file(tmp_path):
    write_beir(tmp_path)
    (tmp_path / "qrels.tsv").unlink()
    with pytest.raises(InputError, match="qrels.tsv is missing"):
        load_labeled_set(tmp_path)
