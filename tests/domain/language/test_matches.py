import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.language.tokens import keyword_tokens, matched_words


@pytest.mark.parametrize(
    ("query", "text", "matched"),
    [
        ("annual leaves", "Leave is granted. Annual leave: 15 days.", ["Leave", "Annual", "leave"]),
        ("휴가 며칠", "휴가를 신청하면 휴가는 며칠입니까", ["휴가", "며칠"]),
        ("有給休暇", "年次有給休暇の取得", ["有給休暇"]),
        ("ＷｉｒｅＧｕａｒｄ", "Install WireGuard.", ["WireGuard"]),
        ("e-mail", "Send an email by e-mail", ["email", "e-mail"]),
        ("zebra", "annual leave", []),
        ("", "annual leave", []),
        ("annual leave", "", []),
    ],
)
def test_matched_words_are_those_a_reader_would_highlight(query, text, matched):
    assert matched_words(query, text) == matched


@given(st.text(), st.text())
def test_words_match_exactly_when_query_and_text_share_a_token(query, text):
    shared = set(keyword_tokens(query)) & set(keyword_tokens(text))
    assert bool(matched_words(query, text)) is bool(shared)


texts = st.text("ab 가나다年暇の・", max_size=12)


@given(texts, texts)
def test_words_match_exactly_when_tokens_are_shared_in_similar_texts(query, text):
    shared = set(keyword_tokens(query)) & set(keyword_tokens(text))
    assert bool(matched_words(query, text)) is bool(shared)


@given(texts)
def test_matched_words_occur_in_the_text(text):
    for word in matched_words(text, text):
        assert word in text
