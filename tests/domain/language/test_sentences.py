import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.language.sentences import MAX_CHARS, blocks, split_sentences
from tests.linear_time import require_linear_time
from tests.quick import examples

PARTS = [
    "- item",
    "1. ",
    "```",
    "~~~",
    ". ",
    "。",
    "「はい。」",
    "다. ",
    "e.g. ",
    "(See p. 3.) ",
    "「",
    "”",
    "# Title",
    "2025. 3. 1. ",
    "３．５％",
    "１．",
    "・",
]
LINE_ENDS = ["\n", "\r\n", "\r", "\n\n", "\u2028", "\x0b", "\x0c", "\x85"]
LONG = ["| a | b |", "long " * 150, "あ" * 700]
MARKDOWN = st.lists(
    st.one_of(st.text(max_size=30), st.sampled_from([*PARTS, *LINE_ENDS, *LONG])), max_size=30
).map("".join)


def sentences(text):
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mr. J. K. Lee at St. Paul's, e.g. on Mon. morning.",
        "It costs $3.50 (approx. 2.9 EUR) in v1.2.3 of config.yaml, see https://a.example/b.c?d=e.",
        "The U.S. Army bought No. 5 and Fig. 3.",
        "Wait... there is more.",
        "He said (it was late. very late.) nothing.",
        "「はい。行きます。」と言った。",
        '"간다."라고 말했다.',
        "『東京。大阪』という本です。",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["It works.", "Does it?", "It does!", '"Good."', "Then go on."],
        ["We met at 5 p.m.", "The door was open."],
        ["I say no.", "She says yes."],
        ["연차는 15일입니다.", "이월되지 않아요.", "왜 그런가요?", "꼭 쓰세요!"],
        ["(Nothing is sent.)", "Everything stays here."],
        ["**Is it open?**", "Yes, _every day._", "Good."],
        ["**점검은 언제인가요?**", "매월 셋째 화요일입니다."],
        ["**いつですか？**", "毎月第3火曜日です。", "**重要**な日です。"],
    ],
)
def test_sentences_end_at_their_final_punctuation(parts):
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["休暇は15日です。", "繰り越せますか？", "できません！", "「いいえ。」", "終わり。"],
        ["他来了。", "你呢？", "好！"],
        ["이월되지 않아요.", "그래서 쓰세요."],
    ],
)
def test_sentences_without_spaces_between_them_are_split(parts):
    assert sentences("".join(parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "이 규정은 2025. 3. 1.부터 시행한다.",
        "신청서는 2025. 11. 28.까지 총무과에 낸다.",
        "접수 기간은 2025. 3. 4.(화) ~ 2025. 3. 15.(토) 18:00까지이다.",
        "접수 기간은 2025. 3. 4. ~ 3. 15.까지이다.",
        "회의는 2025. 11. 3. 오후 2시에 열린다.",
        "회의는 2025. 11. 3. 14:00에 Zoom으로 열린다.",
        "설명회는 2025. 11. 3. Zoom으로 연다.",
        "설명회는 2025. 11. 3(월) 본관에서 연다.",
        "새 건물은 2025. 3. 착공한다.",
        "새 건물은 '25. 3. 착공하고 ’26. 10. 준공한다.",
        "이 규정은 25. 3. 1. 시행한다.",
        "이 규정은 2025.  3.  1.  시행한다.",
        "이 규정은 2025.3.1. 시행한다.",
        "이 규정은\n2025. 3. 1.\n시행한다.",
        "The rule of 2025. 3. 1. applies to everyone.",
    ],
)
def test_a_date_in_the_korean_form_does_not_end_a_sentence(text):
    assert sentences(text) == [text]


def test_a_korean_date_is_not_told_from_the_end_of_a_sentence_before_an_ordinary_word():
    """`다음` continues `2025. 3. 1. 다음 날` just as well: half a date would be the worse quote."""
    text = "기한은 2025. 3. 1. 다음 문장입니다."
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["시행일은 2025. 3. 1.이다.", "다음 문장."],
        ["기한은 2025. 3. 1. 이후입니다.", "다음 문장입니다."],
        ["시행일은 2025. 3. 1.", "다만, 제5조는 예외이다."],
        ["시행일은 2025. 3.", "그러나 제5조는 예외이다."],
        ["It starts on 2025. 3. 1.", "Please apply soon."],
        ["It starts on 2025. 3. 1.", "However, it's late."],
        ["It starts on 2025. 3. 1.", "A new rule follows."],
        ["It starts on 2025. 3. 1.", "“It is late.”"],
        ["The year was 2024.", "15 people came."],
        ["The year was 2024.", "3.5 million people came."],
        ["The year was 2024.", "3 people came."],
        ["I am 25.", "3 of us came."],
        ["We sold 12.", "7.", "Next."],
    ],
)
def test_a_sentence_that_ends_with_a_number_or_date_ends_before_a_new_one(parts):
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["金利は年３．５％です。", "期間は35年です。"],
        ["結果を示す．", "次に述べる．", "３．５％である．"],
        ["版は２．１．３である．", "値は３．", "次に述べる．"],
        ["温度は3．5度だ．", "終わり．"],
    ],
)
def test_a_full_width_dot_ends_a_sentence_unless_it_is_a_decimal_point(parts):
    assert sentences("".join(parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Call the desk at tel. 555-1234 or Tel. +82 2 555 1234.",
        "The allowance is Rs. 500 per day.",
        "See p. 3, Art. 5, para. 2, and Rm. 204.",
        "Acme Ltd. is small.",
        "Samuel P. Huntington and J. P. Morgan read P. 5.",
        "詳しくは第2条\n（3）を参照する。",
        "その数は\n10）である。",
    ],
)
def test_abbreviations_and_numbers_in_brackets_do_not_end_a_sentence(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "parts",
    [
        ["She paints for the sake of art.", "He reads."],
        ["It costs 500 Rs.", "The price is fair."],
        ["He works for Acme Ltd.", "The firm is small."],
        ["This is John Smith Jr.", "He is late."],
    ],
)
def test_a_word_that_is_an_abbreviation_elsewhere_ends_a_sentence(parts):
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "marks",
    [
        ["（1）", "（2）", "（10）"],
        ["（１）", "（２）", "（３）"],
        ["１．", "２．", "１０．"],
        ["１）", "２）", "３）"],
        ["1）", "2）", "3）"],
        ["１．　", "２．　", "３．　"],
        ["①", "② ", "③"],
        *([mark] * 3 for mark in "・●■○◆◇□※▶▪•"),
        *([f"{mark} "] * 3 for mark in "・●■○◆◇□※▶▪•"),
    ],
)
def test_each_japanese_or_korean_list_item_is_a_sentence(marks):
    items = ["領収書を集める", "영수증을 모은다", "Zoomを開く"]
    lines = [mark + item for mark, item in zip(marks, items, strict=True)]
    text = "手順は次の通りです。\n" + "\n".join(lines)
    assert sentences(text) == ["手順は次の通りです。", *lines]
    assert [text[block.prose_start : block.end].strip() for block in blocks(text)][1:] == items


@pytest.mark.parametrize(
    "text",
    [
        "講師はジョン・スミスと\nメアリー・リーです。",
        "金利は前の年より\n３．５％高い。",
        "続きは\n・・・また来週です。",
        "契約の相手は\n○○商事です。",
        "年は\n２０２５．３です。",
    ],
)
def test_a_line_that_begins_like_a_list_item_continues_its_sentence(text):
    assert sentences(text) == [text]


def test_headings_items_rows_and_code_are_split_separately():
    text = (
        "# Leave. Policy\nEveryone has\nfifteen days. More later.\n- first item\n  goes on\n"
        "- second\n1. Open it. Close it.\n| a. b | c |\n|---|---|\n```py\nx = 1. + y\n\nz\n```\nEnd"
    )
    assert sentences(text) == [
        "# Leave. Policy",
        "Everyone has\nfifteen days.",
        "More later.",
        "- first item\n  goes on",
        "- second",
        "1. Open it.",
        "Close it.",
        "| a. b | c |",
        "|---|---|",
        "```py",
        "x = 1. + y",
        "z",
        "```",
        "End",
    ]


def test_a_blank_line_ends_a_sentence_but_a_line_break_does_not():
    assert sentences("one\ntwo\n\nthree\r\nfour\r\n\r\nfive") == [
        "one\ntwo",
        "three\r\nfour",
        "five",
    ]


def test_a_heading_mark_inside_code_is_code():
    assert sentences("```\n# not a heading. no\n```") == ["```", "# not a heading. no", "```"]


def test_a_long_sentence_is_split_after_a_clause():
    clause = "and so it goes on and on without an end in sight, "
    pieces = sentences(clause * 30)
    assert len(pieces) > 1
    assert all(piece.endswith(",") for piece in pieces)


def test_a_long_sentence_without_clauses_is_split_at_a_space():
    assert all(set(piece.split()) == {"word"} for piece in sentences("word " * 400))


def test_an_unmatched_bracket_does_not_swallow_the_rest():
    assert sentences("A (note. Then more. And more.") == ["A (note.", "Then more.", "And more."]


@settings(max_examples=examples(300), deadline=None)
@given(MARKDOWN)
def test_spans_are_ordered_stripped_and_cover_the_text(text):
    spans = split_sentences(text)
    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert text[covered:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        assert end - start <= MAX_CHARS
        covered = end
    assert text[covered:].strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        *[".", "(", "()", "「", '. "', "a\n", "\n ", "```\n", "a,", "。", " "],
        *["2025. 3. 1. ", f"2025. 3. 1.{' ' * 20}", "2025. ", "25. ", "3. 1.", "9", "p. 3 "],
        *["３．", "１．\n", "（1）\n", "・\n"],
    ],
)
def test_sentences_are_split_in_linear_time(text):
    def split(chars):
        split_sentences(text * (chars // len(text)))

    require_linear_time(split, 200_000)
