"""The sample questions: their file format, the grading of answers, and the committed set."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from chains.citations.visible_text import VisibleText
from domain.errors import InputError
from loaders.directory_loader import DirectoryLoader
from services.evaluation.sample_evaluation import (
    WITHOUT_ANSWER,
    WITHOUT_QUOTES,
    Kind,
    Quote,
    SampleQuestion,
    holds_questions,
    is_right,
    load_sample_questions,
)

ROOT = Path(__file__).parents[3]
COMMITTED = load_sample_questions(ROOT / "samples" / "questions")
ROW = {
    "id": "en-001",
    "kind": "fact",
    "split": "tune",
    "history": [],
    "question": "Where is the key?",
    "documents": ["a.md"],
    "needles": [["hook", "nail"], ["door"]],
}


def question(kind=Kind.FACT, documents=("a.md",), needles=(("hook", "nail"), ("door",))):
    return SampleQuestion("en-1", kind, "tune", (), "Where is the key?", documents, needles)


def write_lines(folder, *lines):
    (folder / "en.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_a_question_is_loaded_with_all_its_fields(tmp_path):
    [loaded] = load_sample_questions(write_lines(tmp_path, json.dumps(ROW), ""))
    assert loaded.language == "en"
    assert loaded.documents == ("a.md",)
    assert loaded.needles == (("hook", "nail"), ("door",))


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        json.dumps({**ROW, "kind": "riddle"}),
        json.dumps({**ROW, "needles": ["hook"]}),
        json.dumps({**ROW, "documents": "a.md"}),
        json.dumps({**ROW, "history": [1]}),
        json.dumps({name: value for name, value in ROW.items() if name != "split"}),
    ],
)
def test_an_invalid_line_is_reported(tmp_path, line):
    with pytest.raises(InputError, match=r"Line 2 of .*en\.jsonl is not a question"):
        load_sample_questions(write_lines(tmp_path, json.dumps(ROW), line))


def test_a_labeled_set_is_distinguished_from_a_folder_of_questions(tmp_path):
    assert not holds_questions(tmp_path)
    write_lines(tmp_path, json.dumps(ROW))
    assert holds_questions(tmp_path)
    (tmp_path / "corpus.jsonl").touch()
    assert not holds_questions(tmp_path)


def test_an_answer_is_right_if_it_quotes_a_needle_of_each_group_from_the_document():
    quotes = [Quote("a.md", "It hangs on a na\nil"), Quote("a.md", "beside the door.")]
    assert is_right(question(), quotes)
    assert not is_right(question(), quotes[:1])
    assert not is_right(question(), [Quote("b.md", one.text) for one in quotes])
    assert not is_right(question(), [])


@pytest.mark.parametrize("kind", sorted(WITHOUT_QUOTES))
def test_an_answer_without_quotes_is_right_if_there_is_no_answer(kind):
    assert is_right(question(kind), [])
    assert not is_right(question(kind), [Quote("a.md", "a nail at the door")])


def test_a_question_for_a_document_requires_it_in_first_place():
    which_document = question(Kind.WHICH_DOCUMENT, ("a.md", "b.md"), ())
    assert is_right(which_document, [Quote("b.md", "x"), Quote("c.md", "y")])
    assert not is_right(which_document, [Quote("c.md", "y"), Quote("b.md", "x")])
    assert not is_right(which_document, [])


def test_the_committed_set_has_enough_questions_of_each_language_and_kind():
    assert min(Counter(one.language for one in COMMITTED).values()) >= 100
    assert len({one.language for one in COMMITTED}) == 3
    kinds = Counter(one.kind for one in COMMITTED)
    assert set(kinds) == set(Kind)
    assert kinds[Kind.CROSS_LANGUAGE] >= 40
    assert sum(kinds[kind] for kind in WITHOUT_ANSWER) >= 90
    assert kinds[Kind.UNANSWERABLE_NEAR] >= 45


def test_each_kind_and_language_is_split_into_equal_halves():
    for language in ("en", "ja", "ko"):
        for kind in Kind:
            split = Counter(
                one.split for one in COMMITTED if (one.language, one.kind) == (language, kind)
            )
            assert set(split) == {"tune", "test"}
            assert abs(split["tune"] - split["test"]) <= 1


def test_questions_are_unique():
    assert len({one.id for one in COMMITTED}) == len(COMMITTED)
    assert len({(one.history, one.question) for one in COMMITTED}) == len(COMMITTED)


def plain(text):
    return "".join(VisibleText(text).form.split())


@cache
def sample_texts():
    """The text of each sample document by its file name, without white space."""
    files = DirectoryLoader(ROOT / "samples" / "documents")
    return {Path(ref.location).name: plain(files.read(ref).page_content) for ref in files.list()}


@pytest.mark.parametrize(
    "one", [one for one in COMMITTED if one.kind not in WITHOUT_QUOTES], ids=lambda one: one.id
)
def test_each_needle_occurs_in_a_document_of_its_question(one):
    texts = [sample_texts()[name] for name in one.documents]
    for group in one.needles:
        assert any(plain(needle) in text for needle in group for text in texts), group
