"""Misspelled words are replaced by words of the library."""

import pytest

from services.search.spelling_correction import Spelling
from storage.filters import checks_of, matches
from storage.keywords.filtered_keywords import FilteredKeywords
from storage.keywords.keyword_index import KeywordIndex

TEXTS = {
    "travel": "Travel\nMileage is paid at 0.45 per mile. Expenses are claimed within 30 days.",
    "leave": "Leave policy\nAnnual leave: 25 days. Parental leave takes 20 weeks.",
    "sensor": "Price list\nThe calibration of one sensor costs 260. Headphones: limit 150.",
    "box": "부산 사무실\n무인 택배함에 택배는 48시간 보관됩니다. 마일리지는 적립됩니다.",
    "guide": "案内\n社内パスワードは90日ごとに変更します。",
    "other": "Names\nJensen and Jansson work here. The advisory board and the config of the yard.",
}


@pytest.fixture
def index(tmp_path):
    index = KeywordIndex(tmp_path / "keywords")
    index.add(list(TEXTS.items()))
    return index


@pytest.fixture
def spelling(index):
    return Spelling(index, texts_of)


class Passages:
    """The metadata of the passages: the id of each is that of its document."""

    def allowed(self, condition):
        checks = checks_of(condition)
        return lambda id_: matches(checks, {"document_id": id_})


def texts_of(ids):
    return [TEXTS[id_] for id_ in ids]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the mielage rate?", "What is the mileage rate?"),
        ("headfones limt expences", "headphones limit expenses"),
        ("calibrtion of one senser", "calibration of one sensor"),
        ("how many weks of parentel leave", "how many weeks of parental leave"),
        ("annualleave", "annual leave"),
        ("Anual leave polciy?", "annual leave policy?"),
        ("택베 보관", "택배 보관"),
        ("社内パスワドの変更", "社内パスワードの変更"),
    ],
)
def test_a_misspelled_word_is_replaced_by_a_word_of_the_library(spelling, text, expected):
    assert spelling.correct(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What is paid per mile?",
        "What does NATO pay for MIELAGE?",
        "foo_mielage v2mielage",
        "Which advisor has contacts?",
        "carbon emissions of the canteen",
        "김민주는 누구인가?",
        "",
        "\0\ud800 mile",
    ],
)
def test_known_words_names_and_words_without_a_near_match_are_unchanged(spelling, text):
    assert spelling.correct(text) == text


def test_a_question_in_an_unknown_language_is_unchanged(spelling):
    text = "Welche milage wirdd bezahltt jederr reisee"
    assert spelling.correct(text) == text


def test_no_word_is_chosen_between_two_equally_near_and_common_ones(tmp_path):
    index = KeywordIndex(tmp_path / "keywords")
    texts = {"a": "the sensation", "b": "the sansotion"}
    index.add(list(texts.items()))
    spelling = Spelling(index, lambda ids: [texts[id_] for id_ in ids])
    assert spelling.correct("the sansation") == "the sansation"


def test_the_more_common_of_two_equally_near_words_is_chosen(tmp_path):
    index = KeywordIndex(tmp_path / "keywords")
    texts = {"a": "the sensation", "b": "the sansotion", "c": "sansotion again"}
    index.add(list(texts.items()))
    spelling = Spelling(index, lambda ids: [texts[id_] for id_ in ids])
    assert spelling.correct("the sansation") == "the sansotion"


def test_words_of_inaccessible_passages_are_not_used(index):
    condition = {"document_id": {"$nin": ["travel"]}}
    spelling = Spelling(FilteredKeywords(index, Passages()), texts_of, condition)
    assert spelling.correct("the mielage rate") == "the mielage rate"


def test_words_added_by_another_process_are_known_immediately(index, tmp_path):
    text = "A reimbursement takes a week."
    spelling = Spelling(index, lambda _ids: [text])
    assert spelling.correct("reimbursemnet") == "reimbursemnet"
    KeywordIndex(tmp_path / "keywords").add([("new", text)])
    assert spelling.correct("reimbursemnet") == "reimbursement"


def test_nothing_is_replaced_before_anything_was_imported(tmp_path):
    empty = Spelling(KeywordIndex(tmp_path / "none"), texts_of)
    assert empty.correct("the mielage rate") == "the mielage rate"


@pytest.mark.parametrize(
    ("text", "hidden", "expected"),
    [
        ("What is the mielage rate?", "other", "What is the mileage rate?"),
        ("calibrtion of one senser", "leave", "calibration of one sensor"),
        ("annualleave", "guide", "annual leave"),
        ("택베 보관", "guide", "택배 보관"),
        ("社内パスワドの変更", "box", "社内パスワードの変更"),
        ("The milage", "travel", "The milage"),
        ("jensen", "other", "jensen"),
        ("advisor", "other", "advisor"),
    ],
)
def test_a_question_is_corrected_as_if_hidden_passages_did_not_exist(
    tmp_path, index, text, hidden, expected
):
    condition = {"document_id": {"$nin": [hidden]}}
    words = FilteredKeywords(index, Passages())
    assert Spelling(words, texts_of, condition, hides=True).correct(text) == expected
    without = KeywordIndex(tmp_path / "without")
    without.add([(id_, one) for id_, one in TEXTS.items() if id_ != hidden])
    assert Spelling(without, texts_of).correct(text) == expected


def test_a_word_that_only_a_hidden_passage_contains_is_not_known(tmp_path):
    texts = {"open": "The mileage is paid.", "hidden": "The project Mielage is secret."}
    index = KeywordIndex(tmp_path / "keywords")
    index.add(list(texts.items()))
    words, condition = FilteredKeywords(index, Passages()), {"document_id": {"$nin": ["hidden"]}}
    spelling = Spelling(words, lambda ids: [texts[id_] for id_ in ids], condition, hides=True)
    assert spelling.correct("what mielage is paid") == "what mileage is paid"
