import pytest

from services.search.question_wording import is_generic, is_name, is_topic, without_numbering


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("6.2 Widgets", "Widgets"),
        ("6 Baz", "Baz"),
        ("3. Sick leave", "Sick leave"),
        ("IV. Fees", "Fees"),
        ("A) Refunds", "Refunds"),
        ("Chapter 3: Safety at sea", "Safety at sea"),
        ("Appendix B - Forms", "Forms"),
        ("제3조 연차 휴가", "연차 휴가"),
        ("第２章 病気休暇", "病気休暇"),
        ("① 신청 절차", "신청 절차"),
        ("■ 料金", "料金"),
        ("## **Annual leave**", "Annual leave"),
        ("__Annual leave__", "Annual leave"),
        ("인사_규정", "인사 규정"),
        ("2026 budget", "2026 budget"),
        ("24 hour support", "24 hour support"),
        ("Vitamin C", "Vitamin C"),
        ("A.1 Forms", "Forms"),
        ("Part II Safety", "Safety"),
        ("Section 2a", "Section 2a"),
        ("Parts Catalog", "Parts Catalog"),
        ("Rules for visitors", "Rules for visitors"),
        ("Unit Civil Code", "Unit Civil Code"),
        ("Step by step", "Step by step"),
        ("U.S. tax rules", "U.S. tax rules"),
        ("X.509 certificates", "X.509 certificates"),
        ("3.5.2 Fees", "Fees"),
        ("2:30 pm meeting", "2:30 pm meeting"),
    ],
)
def test_the_number_of_a_heading_is_removed(heading, plain):
    assert without_numbering(heading) == plain


@pytest.mark.parametrize(
    "heading",
    ["Contents", "TABLE OF CONTENTS", "Introduction:", "Overview", "References", "Appendix",
     "목차", "개요", "참고 문헌", "目次", "はじめに", "概要", "参考文献"],
)  # fmt: skip
def test_headings_that_every_document_may_have_are_generic(heading):
    assert is_generic(heading)


@pytest.mark.parametrize(
    ("topic", "script"),
    [
        ("Sick leave", "latin"),
        ("VPN", "latin"),
        ("Installing the gateway", "latin"),
        ("병가", "korean"),
        ("노트북 분실 신고", "korean"),
        ("病気休暇", "japanese"),
        ("支払いの方法", "japanese"),
        ("VPN接続", "japanese"),
    ],
)
def test_phrases_are_topics(topic, script):
    assert is_topic(topic, script)


@pytest.mark.parametrize(
    ("heading", "script"),
    [
        ("Baz", "latin"),
        ("4.2.1", "latin"),
        ("setup.sh", "latin"),
        ("get_user_name", "latin"),
        ("std::vector<int>", "latin"),
        ("TERMS AND CONDITIONS", "latin"),
        ("continued from the", "latin"),
        ("Three aktív PHP verzió", "latin"),
        ("This page is about fees", "latin"),
        ("Example document", "latin"),
        ("Fees (in euros", "latin"),
        ("Microsoft - Wikipedia", "latin"),
        ("Explore more", "latin"),
        ("살살 다뤄 주세요!", "korean"),
        ("윈도우를 다시 설치했다", "korean"),
        ("과", "korean"),
        ("考えても答えはでない", "japanese"),
        ("【診断】テスト", "japanese"),
        ("ステーキであって", "japanese"),
    ],
)
def test_numbers_code_sentences_and_fragments_are_no_topics(heading, script):
    assert not is_topic(heading, script)


def test_file_names_are_not_names_of_documents():
    titles = ["scan_0012.pdf", "20261121", "docs/readme_old", "4.2.1", "x", "a" * 200, "leave-x"]
    assert not [title for title in titles if is_name(title, "latin")]


def test_documents_in_other_scripts_have_no_names():
    assert not is_name("Отпуск", "other")
