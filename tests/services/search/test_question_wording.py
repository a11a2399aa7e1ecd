import pytest

from services.search.question_wording import Subject
from storage.ledger.document_list_store import HeadedText

ENGLISH = "Employees get sick leave for up to ten days, and must tell the lead."


def questions(title, script, *passages):
    subject = Subject(title, script, [HeadedText(*one) for one in passages])
    return [one.question for one in subject.suggestions()]


def test_a_common_noun_of_the_text_is_written_in_lower_case():
    text = f"# Sick leave\n\n{ENGLISH}"
    first, *_ = questions("Leave policy", "latin", ("Sick leave", text))
    assert first == "What does “Leave policy” say about sick leave?"


def test_a_heading_that_may_be_a_proper_noun_stays_in_quotes():
    first, *_ = questions("Leave policy", "latin", ("Bristol", ENGLISH))
    assert first == "What does “Leave policy” say about “Bristol”?"


@pytest.mark.parametrize(
    ("title", "script", "heading", "text", "question"),
    [
        ("휴가 규정", "korean", "병가", "병가는 일 년에 열흘까지 쓸 수 있으며, 미리 신청합니다.",
         "‘휴가 규정’에는 ‘병가’에 대해 어떻게 나와 있나요?"),
        ("休暇規程", "japanese", "病気休暇", "病気のときは、一年に十日まで休むことができます。",
         "「休暇規程」には「病気休暇」について何と書かれていますか？"),
    ],
)  # fmt: skip
def test_questions_are_in_the_language_of_the_document(title, script, heading, text, question):
    assert questions(title, script, (heading, text))[0] == question


def test_a_document_without_headings_is_asked_about_as_a_whole():
    assert questions("Leave policy", "latin", ("", ENGLISH)) == ["What is “Leave policy” about?"]


def test_questions_of_an_faq_come_first_and_need_no_title():
    text = f"## Fees\n\n**Is there a free trial?**\nYes, {ENGLISH}\n"
    assert questions("faq_2026.md", "latin", ("Fees", text)) == ["Is there a free trial?"]
    assert questions("Trials", "latin", ("Fees", text))[0] == "Is there a free trial?"


def test_a_question_without_an_answer_is_not_suggested():
    text = f"**How do I cancel?**\n\n**Is there a free trial?**\n\n{ENGLISH}"
    assert questions("faq.md", "latin", ("", text)) == ["Is there a free trial?"]


def test_a_heading_without_text_is_not_suggested():
    contents = "Sick leave ........ 4\nAnnual leave ....... 7\nHolidays of the office ..... 12"
    found = questions("Leave policy", "latin", ("Sick leave", contents), ("", ENGLISH))
    assert found == ["What is “Leave policy” about?"]


def test_texts_in_other_languages_of_the_latin_script_have_no_questions():
    text = "Die Angestellten bekommen zehn Tage Urlaub, wenn sie krank sind, und melden sich an."
    assert questions("Urlaub", "latin", ("Krankheit", text)) == []


def test_documents_in_other_scripts_have_no_questions():
    assert questions("Отпуск", "other", ("Болезнь", "Сотрудники получают десять дней.")) == []


def test_quotes_and_markdown_are_removed_from_questions():
    found = questions("The “new” *rules*", "latin", ("`Code`  style", ENGLISH))
    assert found[0] == "What does “The new rules” say about “Code style”?"
