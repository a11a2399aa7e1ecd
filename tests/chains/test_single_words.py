import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.requests.request_kinds import (
    ask_for_definition,
    definition_question,
    is_single_word,
    single_word,
)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("VPN", "What is VPN?"),
        ("“deployment”", "What is deployment?"),
        ("C++", "What is C++?"),
        ("연차", "연차란 무엇인가요?"),
        ("병가?", "병가란 무엇인가요?"),
        ("퇴사일", "퇴사일이란 무엇인가요?"),
        ("有給休暇", "有給休暇とは何ですか？"),
        ("リモートワーク", "リモートワークとは何ですか？"),
    ],
)
def test_a_single_word_asks_what_it_means(text, question):
    inputs = {"question": text, "chat_history": []}
    assert is_single_word(inputs)
    assert definition_question(single_word(text)) == question
    assert ask_for_definition.invoke(inputs)["standalone_question"] == question


@pytest.mark.parametrize(
    "text",
    [
        "two words",
        "Why?",
        "왜?",
        "언제",
        "휴가는?",
        "있나요",
        "有給休暇は何日ですか",
        "15",
        "?",
        "",
    ],
)
def test_a_question_or_no_word_at_all_is_no_single_word(text):
    assert single_word(text) == ""


def test_a_word_later_in_a_conversation_may_be_a_follow_up():
    assert not is_single_word({"question": "Japan?", "chat_history": [("Leave?", "25 days.")]})


def test_a_question_to_search_for_takes_precedence():
    assert not is_single_word({"question": "VPN", "standalone_question": "VPN gateways"})


@given(st.text(max_size=60))
def test_whatever_is_typed_has_an_outcome(text):
    word = single_word(text)
    assert not word or word in definition_question(word)
