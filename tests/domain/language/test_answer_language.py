import pytest

from domain.language.script import answer_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How many days?", "english"),
        ("며칠인가요?", "korean"),
        ("何日ですか？", "japanese"),
        ("有給休暇", "japanese"),
        ("WireGuard設定は？", "japanese"),
        ("Confluence 연동은?", "korean"),
        ("Сколько дней?", "english"),
        ("???", "english"),
    ],
)
def test_a_question_is_answered_in_its_own_language(question, language):
    assert answer_language(question) == language
