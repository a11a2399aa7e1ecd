"""The content words of a question."""

import pytest

from chains.condensing.follow_ups import find_terms, key_of, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I reset the VPN-client's password?", ["reset", "VPN-client's", "password"]),
        ("신입사원에게는 연차 휴가를 며칠 주나요?", ["신입사원", "연차", "휴가"]),
        ("회의는 평가 회의에서 정합니까?", ["회의", "평가", "회의"]),
        ("주말에는요?", ["주말"]),
        ("VPN은요?", ["VPN"]),
        ("몇 시까지 있을 수 있나요?", []),
        ("바다의 온도를 재나요?", ["바다의", "온도"]),
        ("역할은 무엇인가요?", ["역할"]),
        ("出張の宿泊費はいくらまでですか?", ["出張", "宿泊費"]),
        ("有給休暇は何日ありますか?", ["有給休暇"]),
        ("ｶﾞｲﾄﾞﾗｲﾝ と ＶＰＮ", ["ガイドライン", "VPN"]),
        ("Sorry, I want to know how long that is.", []),
        ("왜요? 언제 누구에게 어디에서 무엇을 하나요?", []),
        ("원래는 언제였어요?", []),
        ("", []),
    ],
)
def test_terms_are_the_content_words_as_written(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "noun", "verb"),
    [
        ("연차는 어떻게 신청하나요?", "연차", "신청"),
        ("통화 녹음은 얼마나 보관해요?", "녹음", "보관"),
        ("이름을 등록할 수 있나요?", "이름", "등록"),
        ("요금이 언제 변경됐나요?", "요금이", "변경"),
        ("有給休暇を申請したいです", "有給休暇", "申請"),
        ("契約は更新できますか?", "契約", "更新"),
    ],
)
def test_the_noun_in_a_verb_is_a_term_marked_as_a_verb(text, noun, verb):
    is_verb = {text[term.start : term.end]: term.is_verb for term in find_terms(text)}
    assert (is_verb[noun], is_verb[verb]) == (False, True)


def test_spellings_of_a_word_have_one_key():
    assert key_of("Passwords") == key_of("password")
    assert key_of("휴가를") == key_of("휴가")
