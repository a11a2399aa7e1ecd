import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.language.sentences import MAX_CHARS, split_sentences
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
    "text", [".", "(", "()", "「", '. "', "a\n", "\n ", "```\n", "a,", "。", " "]
)
def test_sentences_are_split_in_linear_time(text):
    def split(chars):
        split_sentences(text * (chars // len(text)))

    require_linear_time(split, 200_000)
