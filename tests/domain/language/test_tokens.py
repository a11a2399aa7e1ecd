from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.language import tokens
from domain.language.tokens import content_tokens, keyword_tokens
from tests.linear_time import require_linear_time


def shared(one, other):
    return set(keyword_tokens(one)) & set(keyword_tokens(other))


def test_forms_of_an_english_word_share_a_stem():
    assert keyword_tokens("Deploying deployed DEPLOYS") == ["deploy"] * 3


def test_forms_of_a_russian_word_share_a_stem():
    assert len(set(keyword_tokens("отпуска отпуском отпуск"))) == 1


def test_english_function_words_are_omitted():
    assert keyword_tokens("What is the cost of it, and can't they tell us?") == ["cost", "tell"]


def test_a_function_word_in_capitals_is_a_name():
    assert keyword_tokens("the IT team in the US") == ["it", "team", "us"]


def test_a_possessive_has_the_token_of_its_word():
    assert keyword_tokens("the company's lead’s phone") == keyword_tokens("company lead phone")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("서버 배포", "서버를 배포하려면"),
        ("약", "약을 먹는다"),
        ("有給休暇", "年次有給休暇の日数"),
        ("猫", "黒猫を飼う"),
        ("サーバー", "ｻｰﾊﾞｰの設定"),
        ("한글 문서", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("email", "e-mail"),
        ("E-Mails", "an email"),
        ("bar", "foo_bar"),
        ("1000", "1,000원"),
        ("HTTP", "HTTP/2"),
        ("ＶＰＮ", "vpn을"),
    ],
)
def test_spelling_variants_share_a_token(question, text):
    assert shared(question, text)


def test_a_compound_identifier_matches_as_a_whole_and_in_parts():
    assert keyword_tokens("max_tokens") == ["max", "token", "max_token"]
    assert "v1.2.3" in shared("v1.2.3", "since v1.2.3.")
    assert "v1.2.3" not in keyword_tokens("v1.2.4")


def test_scripts_without_spaces_are_split_into_bigrams():
    assert keyword_tokens("東京タワー") == ["東", "京", "東京", "京タ", "タワ", "ワー"]
    assert keyword_tokens("배포하다") == ["배", "배포", "포하", "하다"]


def test_a_single_character_is_its_own_token():
    assert keyword_tokens("水 약 ツ") == ["水", "약", "ツ"]


def test_iteration_and_prolonged_sound_marks_belong_to_their_word():
    assert "人々" in keyword_tokens("人々")
    assert "ター" in keyword_tokens("サーバーセンター")


def test_words_of_two_scripts_are_separate_tokens():
    assert keyword_tokens("VPN을") == ["vpn", "을"]
    assert "국東" not in keyword_tokens("한국東京")


def test_a_middle_dot_separates_words():
    assert "ムセ" not in keyword_tokens("ホーム・センター")


def test_content_tokens_omit_words_without_content():
    assert content_tokens("Please tell me about the deployment") == ["deploy"]
    assert "에서" not in content_tokens("회사에서")
    assert content_tokens("それについて") == []
    assert "휴가" in content_tokens("휴가는 며칠인가요?")
    assert "休暇" in content_tokens("休暇はありますか")
    assert content_tokens("신입 사원의") == ["신", "신입", "사", "사원"]
    assert content_tokens("회의") == ["회", "회의"]


@settings(deadline=None)
@given(st.text())
def test_content_tokens_are_keyword_tokens_in_the_same_order(text):
    rest = iter(keyword_tokens(text))
    assert all(token in rest for token in content_tokens(text))


@settings(deadline=None)
@given(st.text(), st.text())
def test_the_tokens_of_two_lines_are_those_of_each_line(one, other):
    both = keyword_tokens(f"{one}\n{other}")
    assert both == keyword_tokens(one) + keyword_tokens(other)


@settings(deadline=None)
@given(st.text())
def test_no_token_contains_white_space(text):
    tokens = keyword_tokens(text)
    assert all(tokens)
    assert not any(character.isspace() for token in tokens for character in token)


def test_stemming_is_thread_safe():
    words = [f"{stem}{end}" for stem in ("deploy", "connect", "import") for end in ("ing", "ed")]
    text = " ".join(f"{word} {word}{n}ing" for n in range(300) for word in words)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(keyword_tokens, [text] * 16))
    assert all(result == results[0] for result in results)
    assert "deploy" in results[0]


@pytest.mark.parametrize("text", ["배포 ", "abc_", "東京", "a'", "x" * 9 + "-"])
def test_keywords_are_extracted_in_linear_time(text):
    def tokenize(chars):
        keyword_tokens(text * (chars // len(text)))

    require_linear_time(tokenize, 500_000)


def test_of_many_different_words_only_recent_ones_stay_in_memory():
    content_tokens(" ".join(f"word{number}" for number in range(10_000)))
    for cached in (tokens._cached_tokens, tokens._is_function_word):
        assert cached.cache_info().currsize <= 4096
