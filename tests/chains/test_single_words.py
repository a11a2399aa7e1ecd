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
def test_a_single_word_becomes_a_definition_question(text, question):
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
def test_questions_and_texts_without_a_word_are_not_single_words(text):
    assert single_word(text) == ""


def test_a_word_later_in_a_conversation_is_not_a_single_word():
    assert not is_single_word({"question": "Japan?", "chat_history": [("Leave?", "25 days.")]})


def test_a_standalone_question_takes_precedence():
    assert not is_single_word({"question": "VPN", "standalone_question": "VPN gateways"})


@given(st.text(max_size=60))
def test_arbitrary_input_has_a_result(text):
    word = single_word(text)
    assert not word or word in definition_question(word)
