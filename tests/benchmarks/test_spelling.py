import random

from benchmarks.afresh import EVAL_DATA
from benchmarks.spelling import main, tell, with_typo
from domain.language.spelling import words_to_check
from services.search.spelling_correction import Spelling
from storage.keywords.keyword_index import KeywordIndex

TEXT = "Headphones and keyboards are paid for by the company."


def test_corrected_and_unchanged_words_are_counted(tmp_path, capsys):
    index = KeywordIndex(tmp_path / "keywords")
    index.add([("0", TEXT)])
    spelling = Spelling(index, lambda _ids: [TEXT])
    tell("all", spelling, [("headfones?", "headphones?"), ("keyboards?", "keyboards?")])
    assert "2 questions, 2 as they were meant, 1 left alone" in capsys.readouterr().out


def test_a_typo_changes_one_position_within_the_word():
    (word,) = words_to_check("headphones")
    typos = {with_typo(word, random.Random(seed)) for seed in range(50)}
    assert len(typos) > 10
    assert all(typo[0] == "h" for typo in typos)
    assert all(abs(len(typo) - len("headphones")) <= 1 for typo in typos)


def test_a_missing_labeled_set_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(EVAL_DATA, str(tmp_path))
    main(50)
    assert "is not there" in capsys.readouterr().out
