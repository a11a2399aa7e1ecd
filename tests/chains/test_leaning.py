"""Which questions depend on the conversation before them."""

import pytest

from chains.condensing.follow_ups import leans_on_history


@pytest.mark.parametrize(
    "question",
    [
        "Why?",
        "How much does it cost?",
        "How do I turn on plugins in it?",
        "Who approves them in Germany?",
        "Does that need approval?",
        "What if there is no handshake?",
        "What about security?",
        "and new employees in Japan?",
        "data volume",
        "How many blocks?",
        "When is the deadline?",
        "Who approves?",
        "Where do I apply?",
        "By when must I send the receipt?",
        "Which one protects more from vulnerabilities?",
        "그럼 일본에서는요?",
        "그럼 계약직은?",
        "그 비밀번호는 누가 바꾸나요?",
        "그 기한은?",
        "그래서 목표는 바뀌었나요?",
        "왜요?",
        "신청 방법",
        "신청 기한은 언제까지인가요?",
        "이월할 수 있나요?",
        "누가 승인해요?",
        "언제까지 써야 해요?",
        "주말은요?",
        "보통 등급은 어떻게 돼?",
        "それはいつまでですか?",
        "その期限は？",
        "では、ドイツは?",
        "じゃあ契約社員は？",
        "申請方法は?",
        "申請期限はいつですか？",
        "いつまでに申請すればいいですか？",
        "更新できますか？",
        "旧型はどうでしたか",
        "どうしてですか?",
        "誰が決めますか？",
    ],
)
def test_pronouns_openings_attributes_and_fragments_depend_on_the_conversation(question):
    assert leans_on_history(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many public holidays are there?",
        "Is there a limit on the file size?",
        "What is Kubernetes?",
        "How do I reset my VPN password?",
        "How often are secrets rotated?",
        "Can I extend the web chat widget, and is it secure?",
        "Is it possible to carry over annual leave?",
        "Who approves annual leave?",
        "연차 휴가는 며칠인가요?",
        "연차는 며칠인가요?",
        "보안 교육은 입사하고 언제까지 들어야 하나요",
        "프린터 몇 층에 있는지 알려 주세요",
        "VPN 비밀번호를 어떻게 바꾸나요?",
        "有給休暇は何日ですか?",
        "過去のデータは何年分落とせますか？",
        "育児休業はいつまで取れますか？",
        "それぞれの部署の責任者は誰ですか?",
    ],
)
def test_a_complete_question_does_not_depend_on_the_conversation(question):
    assert not leans_on_history(question)


def test_the_pronoun_it_and_the_department_it_are_distinguished():
    assert leans_on_history("Who runs it in the Berlin office?")
    assert leans_on_history("It runs in the Berlin office?")
    assert not leans_on_history("Who runs IT in the Berlin office?")
