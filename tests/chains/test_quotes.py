import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chains.citations.quotes import QuoteFinder, find_quote, proves_something
from chains.citations.visible_text import VisibleText, shown
from tests.linear_time import require_linear_time

POLICY = """# Leave policy

Employees get **15 days** of *paid leave* per [calendar year](http://x.example/z_(a)). They may
not carry over more than 5 days — see `max_tokens` and max\\_tokens; it costs 1,500 won.

| Grade | Days |
|-------|------|
| A     | 20   |

- 연차 휴가는 **15일**입니다. 이월할 수
  없습니다. 재택근무는 불가능합니다.
- 有給休暇は「15日」とす
る。ﾊﾟｿｺﾝは不可能。 10² m, e\u0301t\u00e9, exam\u00adple,
don\u2019t say \u201cnever\u201d, 3\u20135 days, 5`11 or 1*１
"""


@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        ("15 days of paid leave", "15 days** of *paid leave"),
        ("paid leave per calendar year", "paid leave* per [calendar year"),
        ("may not carry over more than 5 days - see", None),
        ("max_tokens and max_tokens", "max_tokens` and max\\_tokens"),
        ("costs 1,500 won.", "costs 1,500 won."),
        ("it costs 1,500 won!", "it costs 1,500 won"),
        ("| A | 20 |", "| A     | 20   |"),
        ("A 20", "A     | 20"),
        ("연차휴가는 15일 입니다", "연차 휴가는 **15일**입니다"),
        (unicodedata.normalize("NFD", "이월할 수 없습니다"), "이월할 수\n  없습니다"),
        ("15일", "15일"),
        ("5'11 or 1*1", "5`11 or 1*１"),
        ("5`11 or 1*１", "5`11 or 1*１"),
        ("『15日』とする", "「15日」とす\nる"),
        ("パソコンは不可能", "ﾊﾟｿｺﾝは不可能"),
        ("１０² m, été, example", "10² m, e\u0301t\u00e9, exam\u00adple"),
        ("don't say 'never', 3-5 days", None),
        (r"get \*\*15 days\*\* of \*paid leave\*", "get **15 days** of *paid leave"),
        (r"per \[calendar year\]\(http://x.example/z_\(a\)\)", None),
        (r"see \`max_tokens\` and max\_tokens", "see `max_tokens` and max\\_tokens"),
        ("“Employees get 15 days”", "Employees get **15 days"),
    ],
)
def test_a_faithful_quote_is_found_in_any_form(quote, stored):
    span = find_quote(POLICY, quote)
    assert span is not None
    if stored:
        assert POLICY[slice(*span)].strip("| ") == stored.strip("| ")


@pytest.mark.parametrize(
    "quote",
    [
        "25 days of paid leave",
        "5 days of paid leave",
        "may carry over more than 5 days",
        "They may carry over",
        "employees get 15 days",
        "500 won. Grade",
        "이월할 수 있습니다",
        "재택근무는 가능합니다",
        "가능합니다.",
        "可能。 10² m",
        "102 m, été",
        "Employees get 15 day",
        "tokens and max_tokens",
        "say 'never', 3",
    ],
)
def test_an_altered_or_cut_quote_is_not_found(quote):
    assert find_quote(POLICY, quote) is None


@pytest.mark.parametrize(
    ("stored", "quote"),
    [
        ("Visitors cannot enter the site.", "Visitors can"),
        ("Visitors can't enter the site.", "Visitors can"),
        ("It must stay above -5 degrees today.", "5 degrees today"),
        ("A rate of 0.5 percent applies.", "5 percent applies"),
        ("The fee is 15만 원입니다.", "The fee is 15"),
        ("二十五日以内に提出", "五日以内に提出"),
        ("A non-refundable deposit is due.", "refundable deposit"),
        ("Wait 10:30 minutes.", "Wait 10"),
        ("Wait 10:30 minutes.", "30 minutes"),
        ("It takes 1/2 of the pay.", "2 of the pay"),
        ("It is 1`1 long today.", "It is 11 long today"),
        ("It is 11 long today.", r"It is 1\`1 long today"),
        ("It is 11 long today.", r"It is 1\*\*1 long today"),
        ("It is 1*\u200b１ long today.", "It is 11 long today"),
    ],
)
def test_a_quote_must_not_begin_or_end_inside_a_word_or_number(stored, quote):
    assert find_quote(stored, quote) is None


@pytest.mark.parametrize(
    ("stored", "cut", "whole"),
    [
        ("売上は3億2000万円増えた。", "2000万円増えた", "3億2000万円増えた"),
        ("手当は月1万5000円です。", "手当は月1万", "手当は月1万5000円です"),
        ("手当は月1万5000円です。", "5000円です", "手当は月1万5000円です"),
        ("수당은 월 1만5000원입니다.", "5000원입니다", "월 1만5000원입니다"),
        ("매출은 3억 2,000만 원 늘었다.", "2,000만 원 늘었다", "3억 2,000만 원 늘었다"),
        ("매출은 3억 2,000만 원 늘었다.", "매출은 3억", "매출은 3억 2,000만 원"),
        ("이익은 3조 2천억 원이다.", "2천억 원이다", "이익은 3조 2천억 원"),
        ("수당은 월 1만 5천 원입니다.", "5천 원입니다", "월 1만 5천 원입니다"),
        ("手当は月1万 5,000円です。", "5,000円です", "1万 5,000円です"),
        ("It costs 1\u202f200 euros in May.", "200 euros in May", "costs 1 200 euros"),
        ("It costs 1\u00a0200 euros in May.", "It costs 1", "It costs 1 200 euros"),
        ("It holds 10^6 cells per dish.", "6 cells per dish", "10^6 cells per dish"),
    ],
)
def test_a_quote_must_contain_all_parts_of_a_number(stored, cut, whole):
    assert find_quote(stored, cut) is None
    assert find_quote(stored, whole) is not None


@pytest.mark.parametrize(
    ("stored", "quote"),
    [
        ("제3조 5만 원 이상의 선물은 받지 않는다.", "5만 원 이상의 선물"),
        ("제12조 5억 원 이하의 과제만 심사한다.", "5억 원 이하의 과제"),
        ("회원은 1만 2024년 기준이다.", "2024년 기준이다"),
        ("지원금은 3만 5만 7만 원이다.", "5만 7만 원이다"),
        ("| 3억 | 2,000만 원 증가 |", "2,000만 원 증가"),
        ("合計3億\n2,000万円の増加", "2,000万円の増加"),
        ("We hired, in 2024 200 people and more.", "200 people and more"),
        ("We hired, in 2024\u00a0200 people and more.", "200 people and more"),
        ("이것만 5일 안에 제출한다.", "5일 안에 제출한다"),
    ],
)
def test_a_quote_may_begin_with_a_number_that_follows_another_number(stored, quote):
    assert find_quote(stored, quote) is not None


@pytest.mark.parametrize(
    ("stored", "cut", "whole"),
    [
        ("제품은 부적합 판정을 받았다", "적합 판정을 받았다", "부적합 판정을 받았다"),
        ("표시가 부정확한 경우 반품한다", "정확한 경우 반품한다", "부정확한 경우 반품한다"),
        ("부도덕한 행위를 금한다", "도덕한 행위를 금한다", "부도덕한 행위를 금한다"),
    ],
)
def test_a_quote_must_not_leave_out_the_korean_prefix_bu(stored, cut, whole):
    assert find_quote(stored, cut) is None
    assert find_quote(stored, whole) is not None


@pytest.mark.parametrize(
    ("stored", "quote"),
    [
        ("모든 부장은 회의에 참석한다.", "부장은 회의에 참석한다"),
        ("부동산 계약은 법무팀이 검토한다.", "부동산 계약은 법무팀이"),
        ("외부 직원은 출입증이 필요하다.", "직원은 출입증이 필요"),
        ("일부 제품은 반품할 수 없다.", "제품은 반품할 수 없다"),
        ("담당 부\n정책은 매년 바뀐다.", "정책은 매년 바뀐다"),
        ("본부에서 승인한다.", "에서 승인한다"),
    ],
)
def test_words_that_contain_or_follow_the_syllable_bu_can_be_quoted(stored, quote):
    assert find_quote(stored, quote) is not None


def test_an_ellipsis_matches_omitted_words_nearby_and_in_order():
    text = "New staff get 15 days of leave, which HR books, in the first year. Filler."
    assert find_quote(text, "New staff get 15 days … in the first year") == (0, text.index("."))
    assert find_quote(text, "New staff get 15 days [...] in the first year.") == (
        0,
        text.index("."),
    )
    assert find_quote(text, "in the first year ... New staff get") is None
    assert (
        find_quote(
            "Some words here " + "x " * 400 + "more words there",
            "Some words here ... more words there",
        )
        is None
    )


def test_an_ellipsis_must_not_hide_a_negation():
    assert (
        find_quote("Staff may, if new, not carry leave over.", "Staff may ... carry leave over")
        is None
    )


def test_an_ellipsis_in_the_document_is_matched_literally():
    assert find_quote("もう少し……待ってください", "もう少し…待ってください") is not None


@pytest.mark.parametrize("quote", ["", " ", "a", "15", "VPN", "the", "…", "[]", "...", "휴가"])
def test_a_quote_too_short_to_prove_anything_is_not_found(quote):
    assert find_quote(f"x {quote} y", quote) is None


@pytest.mark.parametrize("quote", ["15 days", "15일", "연차휴가", "有給休暇", "VPN 접속"])
def test_short_quotes_with_content_are_sufficient(quote):
    assert proves_something(quote)


def test_a_few_words_can_be_looked_up_without_proving_anything():
    assert QuoteFinder("Use the VPN at home").find_words("VPN") == (8, 11)
    assert QuoteFinder("Use the VPN2 at home").find_words("VPN") is None


WORDS = [
    "Leave",
    "lasts",
    "15",
    "days",
    "café",
    "naïve",
    "휴가는",
    "15일",
    "입니다",
    "有給休暇",
    "が",
    "ない",
    "ﾊﾟｿｺﾝ",
    "ﬁle",
    "№",
    "10²",
    "e-mail",
    "**bold**",
    "`code`",
    "1,500",
]
GAPS = [" ", "\n", "  ", "\u3000", "\u00a0", " \r\n ", "\t", "\u200b "]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=4, max_size=14)


@given(TEXTS, st.data())
def test_white_space_and_unicode_form_do_not_matter(words, data):
    gaps = st.sampled_from(GAPS)
    text = "".join(word + data.draw(gaps) for word in words)
    first = data.draw(st.integers(0, len(words) - 4))
    last = data.draw(st.integers(first + 4, len(words)))
    form = data.draw(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
    plain = "".join(word + data.draw(gaps) for word in words[first:last])
    quote = plain if "²" in plain else unicodedata.normalize(form, plain)
    assume(proves_something(quote))
    span = find_quote(text, quote)
    assert span is not None
    assert VisibleText(text[slice(*span)]).form == VisibleText(quote).form


@given(TEXTS, st.data())
def test_a_changed_letter_is_not_found(words, data):
    text = " ".join(words)
    letters = [at for at, character in enumerate(text) if character.isalnum()]
    assume(letters)
    at = data.draw(st.sampled_from(letters))
    quote = f"{text[:at]}Q{text[at + 1 :]}"
    assert find_quote(text, quote) is None


@given(st.text(), st.text())
@example("|", "a|b c d")
def test_spans_of_arbitrary_texts_and_quotes_are_valid(text, quote):
    span = find_quote(f"{text} {quote} {text}", quote)
    if span:
        start, end = span
        assert 0 <= start < end <= len(text) * 2 + len(quote) + 2


LETTERS = st.characters(max_codepoint=0x2FFF, categories=["Lu", "Ll", "Lo"])


@given(st.text(alphabet=LETTERS))
def test_letters_are_normalized_to_nfkc(text):
    assert VisibleText(text).form == unicodedata.normalize("NFKC", text)


@given(TEXTS)
def test_the_displayed_text_has_the_same_normalized_form(words):
    text = "\n- ".join(words)
    assert VisibleText(shown(text)).form == VisibleText(text).form


@given(st.text("1２a가`｀*＊_\u200b", max_size=12))
def test_marks_next_to_digits_have_the_same_normalized_form(text):
    assert VisibleText(shown(text)).form == VisibleText(text).form


def test_the_displayed_text_has_no_markup():
    assert shown("| **A** | `20` |") == "A | 20"
    assert shown("- see [the *list*](http://x.example) for\n  `max_tokens` and a\\_b") == (
        "see the list for max_tokens and a_b"
    )
    assert shown("the [\\[Draft\\] Plan](http://x.example) of May") == "the [Draft] Plan of May"


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("5`11", "5`11"),
        ("5｀11", "5｀11"),
        ("1``1", "1``1"),
        ("1*１", "1*１"),
        ("１*1", "１*1"),
        ("1*`1", "1*`1"),
        ("1`\u200b1", "1`1"),
        ("1_`1", "1_`1"),
        ("1\u200b1", "11"),
        ("`1`1", "1`1"),
        ("`5`일", "5일"),
        ("the `Foo`s", "the Foos"),
    ],
)
def test_marks_between_digits_stay_visible(text, visible):
    assert shown(text) == visible
    assert VisibleText(visible).form == VisibleText(text).form


@pytest.mark.parametrize(
    "unit",
    [
        "a*",
        "[",
        "_",
        "-",
        "[a](",
        "\u0301",
        " ",
        "\n",
        "|",
        "a. ",
        "\u1100\u1161",
        "\\",
        "\n#",
        "가 ",
        "1만 5",
        "1억 1,",
    ],
)
def test_hostile_texts_are_searched_in_linear_time(unit):
    def find(chars):
        assert QuoteFinder("x" + unit * (chars // len(unit)) + "y").find("no such words") is None

    require_linear_time(find, 100_000)


def test_repeated_parts_of_numbers_are_searched_in_linear_time():
    def find(chars):
        assert QuoteFinder("1억 1111" * (chars // 7) + "만").find("1111만") is None

    require_linear_time(find, 100_000)
