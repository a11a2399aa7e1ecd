import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.requests.request_kinds import summary_request


@pytest.mark.parametrize(
    ("text", "subject", "language"),
    [
        ("Summarize the leave policy", "leave policy", "english"),
        ("please summarise “VPN setup” for me in three sentences", "VPN setup", "english"),
        ("Give me a short summary of the security handbook", "security handbook", "english"),
        ("summary of leave-policy.md", "leave-policy.md", "english"),
        ("TL;DR of the deployment guide", "deployment guide", "english"),
        ("Sum up the meeting minutes of March", "meeting minutes of March", "english"),
        ("Can you summarize 휴가 규정?", "휴가 규정", "english"),
        ("휴가 규정 요약해줘", "휴가 규정", "korean"),
        ("휴가 규정을 요약해 주세요", "휴가 규정", "korean"),
        ("원격근무 안내를 세 줄로 요약해줘", "원격근무 안내", "korean"),
        ("원격 근무 규칙 핵심만 정리해 줘", "원격 근무 규칙", "korean"),
        ("휴가 규정의 내용을 요약해 줄 수 있나요?", "휴가 규정", "korean"),
        ("요약해줘: 휴가 규정", "휴가 규정", "korean"),
        ("VPN setup 요약 부탁해요", "VPN setup", "korean"),
        ("休暇規程を要約して", "休暇規程", "japanese"),
        ("休暇規程の要約をお願いします", "休暇規程", "japanese"),
        ("障害対応ガイドの内容を簡単にまとめて", "障害対応ガイド", "japanese"),
        ("休暇規程を3行で要約してください。", "休暇規程", "japanese"),
        ("横浜の休みの制度をざっくり教えて", "横浜の休みの制度", "japanese"),
        ("VPN setupを要約して", "VPN setup", "japanese"),
    ],
)
def test_the_subject_and_language_of_a_request_are_recognized(text, subject, language):
    assert summary_request(text) == (subject, language, False)


@pytest.mark.parametrize(
    "text",
    [
        "summarize", "Summarize it", "Can you summarize this?", "Give me a summary please",
        "Summarize the document", "요약해줘", "이 문서 요약해줘", "그거 요약해줘", "要約して",
        "この文書を要約して", "それを要約してください", "まとめて",
    ],
)  # fmt: skip
def test_a_request_with_a_pronoun_has_no_subject(text):
    request = summary_request(text)
    assert request is not None
    assert request.subject == ""


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What is “Leave policy” about?", "Leave policy"),
        ("What does the leave policy cover?", "the leave policy"),
        ("Leave policy summary", "Leave policy"),
        ("‘휴가 규정’에는 어떤 내용이 있나요?", "휴가 규정"),
        ("휴가 규정의 주요 내용을 알려줘", "휴가 규정"),
        ("「休暇規程」には何が書かれていますか？", "休暇規程"),
        ("休暇規程の概要を教えてください", "休暇規程"),
    ],
)
def test_an_ambiguous_question_is_a_request_only_if_it_names_a_document(text, subject):
    request = summary_request(text)
    assert request is not None
    assert (request.subject, request.only_if_named) == (subject, True)


@pytest.mark.parametrize(
    "text",
    [
        "How do I summarize logs in Splunk?",
        "Where is the summary of changes?",
        "Does the API return a summary?",
        "Who writes the meeting summary every week?",
        "회의록 요약 기능이 있나요?",
        "요약은 어떻게 하나요?",
        "연차를 정리하는 방법은?",
        "재고 정리",
        "휴가 규정에서 어떤 내용이 바뀌었나요?",
        "VPN의 개요도는 어디에 있나요?",
        "VPNの概要図はどこですか",
        "要約はどのように作りますか",
        "まとめ買いの割引はありますか",
        "2023年まとめ",
        "",
    ],
)
def test_a_question_that_only_mentions_summaries_is_not_a_request(text):
    assert summary_request(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "summarize the steps to reset my password",
        "Summarize how expenses are approved",
        "비밀번호 재설정 방법 요약해줘",
        "VPNの設定方法を要約して",
    ],
)
def test_a_request_can_be_for_a_part_of_a_document(text):
    request = summary_request(text)
    assert request is not None
    assert request.asks_for_a_part


@given(st.text(max_size=400))
def test_arbitrary_input_has_a_result(text):
    request = summary_request(text)
    assert request is None or request.language in {"english", "korean", "japanese"}
