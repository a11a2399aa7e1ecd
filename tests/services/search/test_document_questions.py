import pytest

from services.search.question_wording import question_in


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("## How do I cancel my contract?", "How do I cancel my contract?"),
        ("**Is there a free trial?**", "Is there a free trial?"),
        ("Q3: When does the office open?", "When does the office open?"),
        ("### 2. How to get help", "How do I get help?"),
        ("# What is a tide gauge", "What is a tide gauge?"),
        ("**노트북을 잃어버리면 어떻게 하나요?**", "노트북을 잃어버리면 어떻게 하나요?"),
        ("질문: 환불은 언제 되나요", "환불은 언제 되나요"),
        ("**予測は何時間先まで見られますか。**", "予測は何時間先まで見られますか。"),
        ("## 支払いの方法を教えてください。", "支払いの方法を教えてください。"),
    ],
)
def test_questions_of_a_document_are_used_as_they_are(line, question):
    assert question_in(line) == question


@pytest.mark.parametrize(
    "line",
    [
        "How do I cancel my contract?",  # running text, perhaps rhetorical
        "**How good are they?**",
        "**Why?**",
        "## Have you ever had a fever?",
        "## Are we there yet?!",
        "## Fees",
        "**What is your name?**",
        "## 06：過去の新着情報一覧を見たいのですが。",
        "**それは何ですか？**",
        "## DVDに収録されれば便利?",
        "## 미국 대통령. 누가 될까?",
        "## 99년 드라마의 노래를 아시나요?",
        "## 그것은 무엇인가요?",
    ],
)
def test_questions_that_need_their_context_are_not_used(line):
    assert question_in(line) == ""
