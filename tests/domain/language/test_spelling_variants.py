from hypothesis import given
from hypothesis import strategies as st

from domain.language.spelling import variants, words_to_check


def variants_of(text):
    (word,) = words_to_check(text)
    return set(variants(word))


def test_korean_vowels_that_sound_alike_are_swapped():
    assert "택배" in variants_of("택베")
    assert "엑세스" in variants_of("액세스")


def test_other_korean_letters_are_swapped_only_well_before_the_end_of_a_word():
    assert "마일리지적립" in variants_of("나일리지적립")
    assert "사고" not in variants_of("사과")
    assert "김민수" not in variants_of("김민주")
    assert not any(one.endswith("다") for one in variants_of("태어났나"))


def test_typos_in_katakana_are_corrected():
    assert "パスワード" in variants_of("パスワド")
    assert "アカウント" in variants_of("アカンウト")
    assert "セキュリティ" in variants_of("セキュリテー")
    assert "バッテリー" in variants_of("パッテリー")


def test_english_words_have_no_variants():
    assert variants_of("mielage") == set()


@given(st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=2))
def test_variants_of_a_korean_word_have_its_length(text):
    for word in words_to_check(text):
        for one in variants(word):
            assert len(one) == len(word.folded)
            assert one != word.folded
            assert all("가" <= syllable <= "힣" for syllable in one)
