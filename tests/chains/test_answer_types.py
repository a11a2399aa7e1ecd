"""Whether a text contains the type of answer that a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.extractive.answer_decision import lacks_answer_type


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many days of leave are there?", "Leave is booked in the portal."),
        ("What is the e-mail address of the help desk?", "The help desk is on the third floor."),
        ("When does the contract end?", "The contract covers repairs."),
        ("How large was the credit in 2025?", "The credit of 2025 was discussed."),
        ("회의실 내선 번호가 뭐예요?", "회의실은 8층에 있습니다."),
        ("화면은 몇 인치까지 지원해요?", "화면은 가로로 두는 것이 좋습니다."),
        ("팀장님은 언제 입사하셨어요?", "팀장은 서류를 확인합니다."),
        ("値下げは何％ですか。", "先方は値下げを求めている。"),
        ("いつから使えますか。", "申し込みは窓口で受け付けます。"),
    ],
)
def test_a_text_without_the_requested_type_lacks_it(question, text):
    assert lacks_answer_type(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many days of leave are there?", "There are fifteen days of leave."),
        ("How often is the filter changed?", "The filter is changed twice a year."),
        ("What is the e-mail address of the help desk?", "Write to help@harbor.example."),
        ("When does the contract end?", "It ends in March."),
        ("Who approves a trip?", "A trip is approved by the team lead."),
        ("Why is the lamp yellow?", "The battery is low."),
        ("화면은 몇 인치까지 지원해요?", "화면은 32인치까지 지원합니다."),
        ("몇 명이 탈 수 있어요?", "배에는 여섯 명이 탑니다."),
        ("値下げは何％ですか。", "値下げは5％です。"),
        ("何人まで使えますか。", "6名まで使えます。"),
    ],
)
def test_a_text_with_the_requested_type_does_not_lack_it(question, text):
    assert not lacks_answer_type(question, text)


@given(st.text(), st.text())
def test_arbitrary_questions_and_texts_have_a_result(question, text):
    assert lacks_answer_type(question, text) in (True, False)


@given(st.sampled_from(["How many?", "언제?", "いつ？", "Who is it?"]), st.text())
def test_repeating_the_question_is_not_an_answer(question, extra):
    assert lacks_answer_type(question + extra, question + extra)
