from hypothesis import given
from hypothesis import strategies as st

from domain.language.spelling import variants, words_to_check


def made(text):
    (word,) = words_to_check(text)
    return set(variants(word))


def test_korean_vowels_that_sound_alike_are_exchanged():
    assert "택배" in made("택베")
    assert "엑세스" in made("액세스")


def test_another_korean_letter_is_undone_only_well_before_the_end_of_a_word():
    assert "마일리지적립" in made("나일리지적립")
    assert "사고" not in made("사과")
    assert "김민수" not in made("김민주")
    assert not any(one.endswith("다") for one in made("태어났나"))


def test_slips_in_katakana_are_undone():
    assert "パスワード" in made("パスワド")
    assert "アカウント" in made("アカンウト")
    assert "セキュリティ" in made("セキュリテー")
    assert "バッテリー" in made("パッテリー")


def test_english_words_have_none():
    assert made("mielage") == set()


@given(st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=2))
def test_variants_of_a_korean_word_are_words_of_its_length(text):
    for word in words_to_check(text):
        for one in variants(word):
            assert len(one) == len(word.folded)
            assert one != word.folded
            assert all("가" <= syllable <= "힣" for syllable in one)
