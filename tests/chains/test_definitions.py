"""Questions for a definition, and sentences that define a term."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.extractive.sentence_scores import defined_term, defines


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a bearing buoy?", "bearing buoy"),
        ("In the API, what is meant by surge?", "surge"),
        ("what does SEV1 mean", "SEV1"),
        ("What does ECDIS stand for?", "ECDIS"),
        ("Definition of “spring tide”", "spring tide"),
        ("물길 보고서가 뭐예요? 처음 들어 봐서요.", "물길 보고서"),
        ("해일편차가 무슨 뜻이에요?", "해일편차"),
        ("적중률이라는 게 정확히 뭘 말하는 거야", "적중률"),
        ("안식 휴가의 정의", "안식 휴가"),
        ("省電力モードって何？", "省電力モード"),
        ("防火責任者とは", "防火責任者"),
        ("「平均誤差」の意味を教えて", "平均誤差"),
    ],
)
def test_the_term_of_a_definition_question_is_recognized(question, term):
    assert defined_term(question) == term


@pytest.mark.parametrize(
    "question",
    [
        "How many days of leave do I have?",
        "What does it mean when a station is black on the map?",
        "What is it?",
        "몇 시에 문을 여나요?",
        "誰に連絡しますか",
        "",
    ],
)
def test_other_questions_have_no_term_to_define(question):
    assert defined_term(question) is None


@pytest.mark.parametrize(
    ("sentence", "term"),
    [
        ("A bearing buoy is a buoy that knows where it points.", "bearing buoy"),
        ("Bearing buoys are anchored twice.", "bearing buoy"),
        ("- **Surge**: the part of the level that weather makes.", "surge"),
        ("| SEV2 | 一部の港で予測が止まっている |", "SEV2"),
        ("ECDIS (electronic chart display) describes the screen on the bridge.", "ECDIS"),
        ("해일편차는 관측한 조위에서 천문 조석을 뺀 값입니다.", "해일편차"),
        ("省電力モードとは、送信間隔が延びる状態です。", "省電力モード"),
    ],
)
def test_a_sentence_that_begins_with_the_term_and_explains_it_defines_it(sentence, term):
    assert defines(sentence, term)


@pytest.mark.parametrize(
    ("sentence", "term"),
    [
        ("Look at the surge before you sail.", "surge"),
        ("Surges of more than a metre were seen in 2019.", "surge"),
        ("Surge isolation takes an hour.", "surge"),
        ("해일편차를 다시 계산합니다.", "해일편차"),
    ],
)
def test_a_sentence_that_only_mentions_the_term_does_not_define_it(sentence, term):
    assert not defines(sentence, term)


@given(st.text(max_size=80), st.text(min_size=1, max_size=20))
def test_arbitrary_questions_and_sentences_have_a_result(text, term):
    assert defined_term(text) is None or len(defined_term(text)) > 1
    assert defines(text, term) in (True, False)
