import pytest
import streamlit as st

from ui.catalog.place_cards import language_note
from ui.text.reader_language import LANGUAGE

KOREAN, ENGLISH, SHORT, JAPANESE = (
    "분위기가 좋아요.",
    "The staff is kind.",
    "Magnifique!",
    "静かです。",
)


@pytest.mark.parametrize(
    ("page", "text", "note"),
    [
        ("en", KOREAN, "in Korean"),
        ("en", JAPANESE, "in Japanese"),
        ("en", ENGLISH, ""),
        ("ko", KOREAN, ""),
        ("ko", ENGLISH, "영어 원문"),
        ("ko", SHORT, "다른 언어 원문"),
        ("ja", KOREAN, "韓国語の原文"),
        ("ja", "4.5", ""),
    ],
)
def test_a_quote_in_another_language_than_the_page_is_marked(page, text, note, monkeypatch):
    monkeypatch.setitem(st.session_state, LANGUAGE, page)
    assert language_note(text) == note


def test_a_translation_names_the_language_of_the_original():
    assert language_note(KOREAN, is_translated=True) == "translated from Korean"


@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        (ENGLISH, True),
        ("It was great.", True),
        ("I loved my dinner in Brooklyn so much!", True),
        ("The Smith es excelente.", False),
        ("No me gusta The Smith a la hora de comer.", False),
        ("Was will man mehr, so an der Bar!", False),
        ("On a adoré, surtout le brunch and drinks du dimanche.", False),
        ("직원이 정말 the best of the best.", False),
    ],
)
def test_a_few_english_words_do_not_make_a_text_english(text, is_english, monkeypatch):
    monkeypatch.setitem(st.session_state, LANGUAGE, "ja")
    assert (language_note(text) == "英語の原文") is is_english
