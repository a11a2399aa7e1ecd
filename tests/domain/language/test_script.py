import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.language.script import script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("How many days of leave do I get?", "latin"),
        ("Où est le café déjà réservé ?", "latin"),
        ("연차는 며칠인가요?", "korean"),
        ("Kubernetes에 배포하는 방법", "korean"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "korean"),
        ("有給休暇は何日ですか", "japanese"),
        ("VPNの設定", "japanese"),
        ("ﾈｯﾄﾜｰｸ", "japanese"),
        ("年假有多少天？", "chinese"),
        ("Сколько дней отпуска?", "other"),
        ("كم يوما", "other"),
        ("", "none"),
        ("2026-11-21, 15 %", "none"),
    ],
)
def test_the_script_of_a_text_is_recognized(text, script):
    assert script_of(text) == script


def test_a_name_in_another_script_does_not_change_the_script_of_a_page():
    page = "The Busan office (부산) and the Yokohama office (横浜) follow the same policy. " * 3
    assert script_of(page) == "latin"


def test_a_chinese_page_that_quotes_a_japanese_word_stays_chinese():
    assert (
        script_of("我们公司的年假政策规定每位员工每年可以享受十五天带薪假期" * 2 + "の")
        == "chinese"
    )


@settings(deadline=None)
@given(st.text())
def test_every_text_has_one_of_the_known_scripts(text):
    known = {"latin", "korean", "japanese", "chinese", "other", "none"}
    assert script_of(text) in known
    assert (script_of(text) == "none") == (not any(letter.isalpha() for letter in text))
