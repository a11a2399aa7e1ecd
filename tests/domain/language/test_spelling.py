import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.language.spelling import (
    likely_beginnings,
    likely_stems,
    max_typos,
    share_required,
    splits,
    typos_between,
    words_to_check,
)

WORDS = st.text(alphabet="aeimprst", min_size=3, max_size=12)


def folded_words(text):
    return [word.folded for word in words_to_check(text)]


def test_words_to_check_have_their_position_in_the_text():
    text = "How many Weks of leav?"
    assert [text[word.start : word.end] for word in words_to_check(text)] == ["Weks", "leav"]
    assert folded_words("무인함 택베는 어디에?") == ["무인함", "택베", "어디"]
    assert folded_words("新しいセキュリテー研修") == ["セキュリテー"]


@pytest.mark.parametrize(
    "name", ["NATO", "iPhone", "v2beta", "foo_bar", "e-mail", "a.conf", "/usr/share", "don't"]
)
def test_names_and_identifiers_are_not_checked(name):
    assert folded_words(name) == []


def test_function_words_short_words_numbers_and_decomposed_letters_are_not_checked():
    assert folded_words("which of the teh 2026?") == []
    assert folded_words("cafe\u0301teria") == []


def test_a_capitalized_word_may_be_a_name_and_allows_fewer_typos():
    first, name = words_to_check("Expences of Mielage")
    assert (first.may_be_name, name.may_be_name) == (False, True)
    assert (max_typos(first), max_typos(name)) == (2, 1)


@pytest.mark.parametrize(
    ("typed", "known", "typos"),
    [
        ("mielage", "mileage", 1),
        ("expences", "expenses", 1),
        ("calibrtion", "calibration", 1),
        ("headfones", "headphones", 2),
        ("weks", "weeks", 1),
        ("limt", "limit", 1),
        ("polciy", "policy", 1),
        ("sensers", "sensor", 1),
        ("leave", "leave", 0),
    ],
)
def test_mistyped_and_misheard_letters_are_counted(typed, known, typos):
    assert typos_between(typed, known) == typos


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("viral", "vital"),
        ("genetic", "generic"),
        ("auditory", "auditor"),
        ("chat", "chart"),
        ("carbon", "carton"),
        ("wifi", "wife"),
        ("lite", "late"),
        ("chronic", "chrony"),
    ],
)
def test_different_words_are_too_far_apart_for_a_typo(typed, known):
    assert typos_between(typed, known) > 2


@given(word=WORDS)
def test_a_word_has_no_distance_to_itself(word):
    assert typos_between(word, word) == 0


@given(word=st.text(alphabet="aeimprt", min_size=7, max_size=12), data=st.data())
def test_one_typo_within_a_long_word_counts_at_most_once(word, data):
    place = data.draw(st.integers(1, len(word) - 3))
    swapped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    omitted = word[:place] + word[place + 1 :]
    assert typos_between(swapped, word) <= 1
    assert typos_between(omitted, word) <= 1


def test_the_most_similar_stems_come_first():
    stems = {"calibr": 3, "calendar": 9, "call": 5, "cat": 2, "callback": 1, "2calibr": 7}
    assert likely_stems("calibrtion", stems, 2, 2)[0] == "calibr"
    assert likely_stems("polciy", {"polici": 4, "police": 1}, 1, 5) == ["polici"]
    assert likely_stems("polciy", {}, 1, 5) == []


def test_likely_beginnings_resemble_that_of_the_typed_word():
    assert {"mi", "me", "mo"} <= likely_beginnings("mielage")
    assert "he" in likely_beginnings("ehadphones") or likely_beginnings("ehadphones") >= {
        "eh",
        "ea",
    }
    assert all(one.startswith("m") for one in likely_beginnings("mielage"))


def test_a_short_word_is_only_corrected_to_a_common_one():
    short, long = words_to_check("limt headfones")
    assert share_required(short) > share_required(long) == 0


def test_a_word_is_split_where_a_space_may_be_missing():
    assert "annual leave" in splits("annualleave")
    assert list(splits("leave")) == []
