import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.requests.request_kinds import MAX_SMALL_TALK_CHARS, SmallTalk, small_talk

PHRASES = {
    SmallTalk.GREETING: [
        "Hi", "hello!", "Hey there :)", "Good morning", "How are you?", "안녕하세요", "안녕!",
        "안녕하세요! 좋은 아침이에요", "반갑습니다", "こんにちは！", "おはようございます",
    ],
    SmallTalk.THANKS: [
        "Thanks!", "Thank you very much for your help.", "ok, thanks", "Great, thank you!",
        "Got it",
        "Thanks, that helps a lot", "감사합니다!", "고마워요 ㅎㅎ",
        "정말 고맙습니다", "답변 감사합니다.",
        "알려주셔서 감사합니다", "네, 감사합니다", "ありがとうございます。", "ありがとう〜", "はい",
        "教えてくれてありがとうございます", "助かりました、ありがとう！",
        "了解です。ありがとうございました。",
    ],
    SmallTalk.FAREWELL: ["Bye", "See you tomorrow!", "안녕히 계세요", "さようなら"],
    SmallTalk.INTRODUCTION: [
        "Who are you?", "what are you", "What can you do?", "What can I ask you?", "Help",
        "Can you help me?", "Are you ChatGPT?", "How do you work?", "Hi! What can you do?",
        "당신은 누구인가요?", "너 누구야?", "무엇을 할 수 있나요?", "뭘 도와줄 수 있어?",
        "안녕! 넌 누구야?", "어떤 질문을 할 수 있어?", "자기소개 해줘", "도와주세요",
        "あなたは誰ですか？", "何ができますか？", "あなたは何ができるの？", "自己紹介してください",
        "こんにちは、何ができますか", "どんな質問ができますか？",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"), [(text, kind) for kind, texts in PHRASES.items() for text in texts]
)
def test_small_talk_is_recognized(text, kind):
    assert small_talk(text) is kind


@pytest.mark.parametrize(
    "text",
    [
        "How do I say hello in the API?",
        "Who are the approvers?",
        "Hello in the API",
        "Hi, how many days of leave do I get?",
        "What can you do with a VPN?",
        "Can you help me reset my password?",
        "help desk",
        "Thanks to whom is the fund?",
        "Good morning meeting minutes",
        "What are your opening hours?",
        "How does it work?",
        "What is this?",
        "누구에게 승인을 받나요?",
        "안녕 프로젝트란?",
        "안녕하세요, 연차는 며칠인가요?",
        "감사 보고서는 누가 쓰나요?",
        "뭘 해야 하나요?",
        "何ができなくなりますか",
        "感謝祭はいつですか",
        "こんにちは、有給休暇は何日ですか？",
        "誰が承認しますか？",
        "",
        "?!",
        "👋",
    ],
)
def test_a_question_about_documents_is_not_small_talk(text):
    assert small_talk(text) is None


def test_an_overlong_text_of_greetings_is_not_small_talk():
    assert small_talk("hi " * MAX_SMALL_TALK_CHARS) is None


@given(st.text(max_size=200))
def test_arbitrary_input_has_a_result(text):
    assert small_talk(text) in {None, *SmallTalk}
