import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.requests.request_kinds import document_request


@pytest.mark.parametrize(
    ("text", "topic", "language"),
    [
        ("Which document says that new employees get 25 days?",
         "new employees get 25 days", "english"),
        ("Which document is about VPN?", "VPN", "english"),
        ("What documents mention parental leave?", "parental leave", "english"),
        ("In which document can I find the expense limits?", "the expense limits", "english"),
        ("Where is the VPN setup documented?", "the VPN setup", "english"),
        ("Find documents about travel expenses", "travel expenses", "english"),
        ("Is there a document about remote work?", "remote work", "english"),
        ("I'm looking for the document about parental leave", "parental leave", "english"),
        ("Where can I read about parental leave?", "parental leave", "english"),
        ("Where can I look up the travel rates?", "the travel rates", "english"),
        ("Where's it written down that visitors sign in?", "visitors sign in", "english"),
        ("I'm after the file that explains the new badge", "the new badge", "english"),
        ("Which guide has the gate codes?", "the gate codes", "english"),
        ("어느 문서에 연차가 나와?", "연차", "korean"),
        ("연차 이월은 어느 문서에 나와 있나요?", "연차 이월", "korean"),
        ("원격근무에 대한 문서 찾아줘", "원격근무", "korean"),
        ("경조사 때 며칠 쉬는지 나온 문서가 뭐죠?", "경조사 때 며칠 쉬는지", "korean"),
        ("어느 문서에서 비밀번호 규칙을 확인할 수 있나요?", "비밀번호 규칙", "korean"),
        ("どの文書に有給休暇が書かれていますか？", "有給休暇", "japanese"),
        ("VPNの設定はどの資料に載っていますか", "VPNの設定", "japanese"),
        ("障害対応について書かれた文書はどれですか？", "障害対応", "japanese"),
        ("ごみの分け方が載ってるファイル", "ごみの分け方", "japanese"),
        ("どの文書を見れば経費の上限がわかりますか？", "経費の上限", "japanese"),
    ],
)  # fmt: skip
def test_the_topic_and_language_of_a_request_are_recognized(text, topic, language):
    assert document_request(text) == (topic, language)


@pytest.mark.parametrize(
    "text",
    [
        "Which documents do I need to submit for reimbursement?",
        "Which file formats are supported?",
        "What documents are required for a visa?",
        "What report must I file after an incident?",
        "Which page is missing?",
        "Which manual has been replaced?",
        "What the page says about citations",
        "What does the handbook say about parental leave?",
        "Where can I find the printer?",
        "어떤 문서를 제출해야 하나요?",
        "무슨 파일 형식을 지원하나요?",
        "육아휴직에 관한 규정이 있나요?",
        "서버에 있는 파일 목록 보여줘",
        "기밀이 적힌 문서는 어떻게 폐기하나요?",
        "문서에 대한 접근 권한은 누가 관리하나요?",
        "どの書類を提出しますか？",
        "どのファイル形式に対応していますか",
        "個人情報が書かれた資料は印刷できますか？",
        "ファイルを添付できますか",
        "",
    ],
)
def test_a_question_that_only_mentions_documents_is_not_a_request(text):
    assert document_request(text) is None


@given(st.text(max_size=400))
def test_arbitrary_input_has_a_result(text):
    request = document_request(text)
    assert request is None or request.language in {"english", "korean", "japanese"}
