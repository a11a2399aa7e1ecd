"""Which words carry a question, and whether they are enough."""

import pytest

from chains.follow_ups import leans_on_history, salient_terms, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I reset the VPN-client's password?", ["reset", "VPN-client's", "password"]),
        ("신입사원에게는 연차 휴가를 며칠 주나요?", ["신입사원", "연차", "휴가"]),
        ("회의는 평가 회의에서 정합니까?", ["회의", "평가", "회의"]),
        ("出張の宿泊費はいくらまでですか?", ["出張", "宿泊費"]),
        ("有給休暇は何日ありますか?", ["有給休暇"]),
        ("ｶﾞｲﾄﾞﾗｲﾝ と ＶＰＮ", ["ガイドライン", "VPN"]),
        ("Sorry, I want to know that.", []),
        ("왜요? 언제 누구에게 어디에서 무엇을 하나요?", []),
        ("", []),
    ],
)
def test_terms_are_the_words_with_a_meaning_as_written(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Why?",
        "How much does it cost?",
        "Who approves them in Germany?",
        "What about security?",
        "and new employees in Japan?",
        "data volume",
        "Which one protects more from vulnerabilities?",
        "그럼 일본에서는요?",
        "그 비밀번호는 누가 바꾸나요?",
        "왜요?",
        "신청 방법",
        "それはいつまでですか?",
        "では、ドイツは?",
        "申請方法は?",
        "どうしてですか?",
    ],
)
def test_pronouns_openings_and_fragments_lean_on_the_conversation(question):
    assert leans_on_history(question)


def test_the_word_it_and_the_department_it_are_told_apart():
    assert leans_on_history("Who runs it in the Berlin office?")
    assert leans_on_history("It runs in the Berlin office?")
    assert not leans_on_history("Who runs IT in the Berlin office?")


def test_no_more_terms_are_given_than_asked_for():
    history = [("Annual leave, parental leave, insurance and pension in Japan?", "")]
    for limit in range(5):
        given = salient_terms("And then?", history, limit)
        assert len(" ".join(given).split()) == limit


def rarity(**of):
    return lambda tokens: {token: of[token] for token in tokens if token in of}


def test_a_term_counts_half_as_much_with_every_turn_that_passes():
    history = [("Pension?", ""), ("Insurance?", "")]
    idf = rarity(pension=3.0, insur=2.0)
    assert salient_terms("And then?", history, 1, idf) == ["Insurance"]
    assert salient_terms("And then?", history[::-1], 1, idf) == ["Pension"]
    assert salient_terms("And then?", history, 1, rarity(pension=5.0, insur=2.0)) == ["Pension"]


def test_a_term_that_the_last_answer_takes_up_counts_double():
    history = [("Pension or insurance?", "The insurance.")]
    idf = rarity(pension=3.0, insur=2.0)
    assert salient_terms("And then?", history, 1, idf) == ["insurance"]


def test_numbers_and_quotes_of_citations_are_no_terms():
    answer = 'The VPN runs WireGuard [12: "Kim set up WireGuard"] 【3】 ［4, 5］ today.'
    assert salient_terms("And then?", [("VPN?", answer)], 9) == ["VPN", "runs WireGuard", "today"]


def test_terms_that_idf_does_not_know_are_left_out():
    history = [("Gremlinish VPN?", "")]
    assert salient_terms("And then?", history, 9, rarity(vpn=1.0)) == ["VPN"]


def test_of_terms_that_weigh_the_same_the_first_are_taken():
    asked = "Alpha beta gamma delta epsilon zeta theta kappa lambda?"
    assert salient_terms("And?", [(asked, "")], 3) == ["Alpha beta gamma"]
