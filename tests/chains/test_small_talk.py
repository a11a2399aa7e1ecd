import pytest

from chains.requests.request_kinds import is_small_talk
from chains.requests.small_talk import LibraryFacts, SmallTalkAnswerer


def answer(question, documents=25, questions=()):
    by_question = {one: f"d{n}" for n, one in enumerate(questions)}
    answerer = SmallTalkAnswerer(lambda: LibraryFacts(documents, by_question))
    return answerer.invoke({"question": question, "chat_history": []})


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Hi!", "Hello!"),
        ("안녕하세요", "안녕하세요!"),
        ("こんにちは", "こんにちは。"),
        ("Thank you!", "Glad to help."),
        ("고마워요", "도움이 되어"),
        ("ありがとう", "お役に立てて"),
        ("Bye", "Goodbye!"),
        ("안녕히 계세요", "안녕히 가세요!"),
        ("さようなら", "ではまた。"),
        ("Who are you?", "I am Footnote."),
        ("너 누구야?", "저는 Footnote입니다."),
        ("何ができますか？", "Footnoteです。"),
    ],
)
def test_a_reply_is_in_the_language_of_the_message(question, begins):
    assert answer(question)["answer"].startswith(begins)


def test_small_talk_needs_no_search():
    pieces = answer("What can you do?")
    assert set(pieces) == {"answer", "answer_citations", "answer_message"}
    assert pieces["answer_citations"] == []


def test_an_introduction_has_the_number_of_documents_and_example_questions():
    text = answer("What can you do?", 1_234, ["What does “A_B” say?"])["answer"]
    assert "The library holds 1,234 documents." in text
    assert text.endswith("For example:\n\n- What does “A_B” say?")
    assert "The library holds 1 document." in answer("What can you do?", 1)["answer"]
    assert "For example" not in answer("What can you do?")["answer"]


def test_example_questions_in_the_language_of_the_reply_come_first():
    questions = ["What is A?", "무엇인가요?", "何ですか？", "What is B?", "What is C?"]
    pieces = answer("뭘 할 수 있어?", 9, questions)
    assert pieces["answer"].endswith("- 무엇인가요?\n- What is A?\n- 何ですか？")
    assert pieces["basis"] == ["d1", "d0", "d2"]


def test_an_introduction_says_that_the_library_is_empty():
    assert "import documents first" in answer("What can you do?", 0)["answer"]
    assert "비어 있으니" in answer("뭘 할 수 있어?", 0)["answer"]
    assert "まだ空です" in answer("何ができますか？", 0)["answer"]


def test_the_library_is_queried_only_for_an_introduction():
    def unexpected():
        raise AssertionError("unexpected query")

    assert SmallTalkAnswerer(unexpected).invoke({"question": "Hi"})["answer"]


def test_a_standalone_question_takes_precedence():
    assert is_small_talk({"question": "Hello"})
    assert not is_small_talk({"question": "Hello", "standalone_question": "hello endpoint"})
    assert not is_small_talk({"question": "How do I say hello in the API?"})
