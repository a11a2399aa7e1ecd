import pytest
import streamlit as st

from ui.catalog.quote_language import language_note
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
