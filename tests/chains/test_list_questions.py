"""Which questions ask for a whole list."""

import pytest

from chains.extractive.extractive_answerer import asks_for_all


@pytest.mark.parametrize(
    "question",
    [
        "How do I put a new buoy into the water?",
        "Walk me through the release.",
        "everything we removed in 6.0",
        "Which rooms have a screen?",
        "하루 쉬려면 절차가 어떻게 되나요?",
        "경보 단계를 각각 정리해 줘",
        "領収書のお金を返してもらうにはどうすればいいですか",
        "ビデオ会議ができる部屋をぜんぶ教えて",
    ],
)
def test_a_question_for_steps_or_all_items_asks_for_all(question):
    assert asks_for_all(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do new employees get?",
        "Which port does the gateway use?",
        "Who approves it?",
        "연차는 며칠인가요?",
        "有給休暇は何日ですか。",
    ],
)
def test_a_question_for_one_fact_does_not_ask_for_all(question):
    assert not asks_for_all(question)
