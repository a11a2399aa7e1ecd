import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chains.citations.answer_check import AnswerCheck, check_answer
from chains.citations.answer_reader import AnswerReader
from chains.citations.markers import as_markdown
from chains.citations.support import contains_numbers, numbers
from domain import CitationState, RetrievedPassage
from tests.linear_time import require_linear_time

VERIFIED, NOT_FOUND, NO_SUCH = (
    CitationState.VERIFIED, CitationState.NOT_FOUND, CitationState.NO_SUCH_SOURCE,
)  # fmt: skip
TEXTS = {
    "en": """# Leave policy

Intro words come first.

New employees receive **15 days** of paid leave per year. Unused days cannot be carried over.
A doctor's note is needed after 3 days of sick leave.

| Grade | Days |
|---|---|
| Junior | 15 |
| Senior | 20 |

The last section is about parental leave of 90 days.
""",
    "ko": "# 휴가\n\n"
    "신입 직원은 연차 휴가 15일을 받습니다. 남은 휴가는 다음 해로 이월할 수 없습니다.\n",
    "ja": "# 休暇\n\n新入社員の有給休暇は年15日です。翌年に繰り越すことはできません。\n",
}


def source(n, document_id, end="\n\nThe last"):
    text = TEXTS[document_id]
    passage = text[text.index("\n\n") + 2 :].partition(end)[0]
    return RetrievedPassage(
        n, f"p{n}", document_id, "Handbook", "/handbook", passage, "v1", 3, ("Leave",)
    )


SOURCES = [source(1, "en"), source(2, "ko"), source(3, "ja")]


def check(answer, sources=SOURCES, texts=TEXTS):
    return check_answer(answer, sources, texts.get)


def states(answer):
    return [citation.state for citation in check(answer).citations]


def test_a_quote_in_a_marker_is_verified_and_located_in_the_stored_text():
    [citation] = check('You get 15 days [1: "15 days of paid  leave"].').citations
    assert citation.state is VERIFIED
    assert citation.quote == "15 days** of paid leave"
    assert TEXTS["en"][citation.start : citation.end] == citation.quote
    assert citation.quoted_by_answer


def test_a_citation_contains_the_evidence_of_its_source():
    [citation] = check('You get 15 days [1: "15 days of paid leave"].').citations
    shared = (
        "n",
        "title",
        "location",
        "document_id",
        "passage_id",
        "version",
        "page",
        "heading_path",
    )
    assert all(getattr(citation, name) == getattr(SOURCES[0], name) for name in shared)
    assert citation.passage_text == SOURCES[0].text


@pytest.mark.parametrize(
    "quote", ["25 days of paid leave", "Unused days can be carried over", "14 weeks of paid leave"]
)
def test_an_altered_quote_is_not_found_and_is_stored_as_claimed(quote):
    [citation] = check(f'It says so [1: "{quote}"].').citations
    assert (citation.state, citation.quote, citation.start) == (NOT_FOUND, quote, -1)


def test_a_quote_from_another_document_is_not_found():
    assert states('It is so [2: "15 days of paid leave"].') == [NOT_FOUND]


def test_an_invented_number_has_the_state_no_such_source():
    assert states("You get 15 days [9].") == [NO_SUCH]


def test_a_quote_elsewhere_in_the_document_is_verified_there():
    [citation] = check('Parents get 90 days [1: "parental leave of 90 days"].').citations
    assert citation.state is VERIFIED
    assert TEXTS["en"][citation.start : citation.end] == "parental leave of 90 days"


HEADED = """# Annual leave

## Rules for carrying days over to the next year

Unused days are lost. Nobody is carrying days over to the next year.
"""


@pytest.mark.parametrize("quote", ["Annual leave", "# Annual leave", "HR handbook 2026"])
def test_a_heading_or_title_is_no_proof_so_the_statement_is_checked(quote):
    one = RetrievedPassage(
        1, "p1", "en", "HR handbook 2026", "", HEADED, heading_path=("Annual leave",)
    )
    found = check(f'Unused days are lost [1: "{quote}"].', [one], {"en": HEADED}).citations
    made_up = check(f'You get 99 days a year [1: "{quote}"].', [one], {"en": HEADED}).citations
    assert [(one.state, one.quote) for one in found] == [(VERIFIED, "Unused days are lost.")]
    assert [one.state for one in made_up] == [NOT_FOUND]


def test_words_of_a_heading_are_quoted_from_a_sentence_that_repeats_them():
    one = replace(SOURCES[0], text=HEADED)
    answer = 'Days expire [1: "carrying days over to the next year"].'
    [citation] = check(answer, [one], {"en": HEADED}).citations
    assert citation.state is VERIFIED
    assert citation.start == HEADED.rindex("carrying")


def test_a_heading_elsewhere_in_the_document_is_no_proof():
    [citation] = check('You get 99 days [1: "Leave policy"].').citations
    assert citation.state is NOT_FOUND


def test_a_quote_of_a_heading_and_its_text_is_found():
    text = "# Sick leave\n\nA note is needed after 3 days."
    one = replace(SOURCES[0], text=text)
    answer = 'A note is needed [1: "Sick leave A note is needed after 3 days"].'
    [citation] = check(answer, [one], {"en": text}).citations
    assert (citation.state, citation.quote) == (VERIFIED, text[2:-1])


def test_a_repeated_sentence_is_cited_at_the_position_of_the_passage():
    text = f"Take 15 days of leave.\n\n{'x ' * 50}\n\nNow: Take 15 days of leave."
    passage = "Now: Take 15 days of leave."
    one = replace(SOURCES[0], text=passage)
    [citation] = check('So [1: "Take 15 days of leave"].', [one], {"en": text}).citations
    assert citation.start == text.rindex("Take 15")


def test_a_citation_of_a_deleted_document_is_checked_against_the_stored_passage():
    [citation] = check('You get 15 days [1: "15 days of paid leave"].', texts={}).citations
    assert (citation.state, citation.start, citation.end) == (VERIFIED, -1, -1)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("“New employees receive 15 days of paid leave per year.” [1]", VERIFIED),
        ('It says "New employees receive 15 days of paid leave". [1]', VERIFIED),
        ("“New employees receive 25 days of paid leave per year.” [1]", NOT_FOUND),
        ("「翌年に繰り越すことはできません。」[3]", VERIFIED),
        ("「翌年に繰り越すことができます。」[3]", NOT_FOUND),
        ("“He said ‘New employees’ and “more”.” [1]", NOT_FOUND),
    ],
)
def test_a_quotation_directly_before_the_marker_is_its_quote(answer, state):
    [citation] = check(answer).citations
    assert citation.state is state
    assert citation.quoted_by_answer


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ("New employees receive 15 days of paid leave a year [1].", "New employees receive **15"),
        ("Unused days cannot be carried over to the next year. [1]", "Unused days cannot"),
        ("- New employees receive 15 days of leave [1]\n- Unknown.", "New employees receive"),
        ("Per [1], new employees receive 15 days of paid leave.", "New employees receive"),
        ("Senior grade gets 20 days [1].", "| Senior | 20 |"),
        ("신입 직원은 연차 15일을 받습니다 [2].", "신입 직원은 연차 휴가 15일을"),
        ("新入社員は年15日の有給休暇があります[3]。", "新入社員の有給休暇は年15日です。"),
        ('A doctor\'s note is needed after 3 sick days [1: "note"].', "A doctor's note"),
    ],
)
def test_a_marker_without_a_quote_is_verified_by_the_supporting_sentence(answer, quote):
    [citation] = check(answer).citations
    assert citation.state is VERIFIED
    assert citation.quote.startswith(quote)
    assert not citation.quoted_by_answer


@pytest.mark.parametrize(
    "answer",
    [
        "New employees receive 25 days of paid leave a year [1].",
        "Junior grade gets 20 days [1].",
        "Unused days can be carried over [1].",
        "New employees do not receive 15 days of paid leave per year [1].",
        "휴가는 이월할 수 있습니다 [2].",
        "翌年に繰り越すことができます[3]。",
        "신입은 15일 휴가를 받습니다 [1].",
        "The canteen serves lunch for free at noon [1].",
    ],
)
def test_a_marker_on_a_statement_that_the_passage_does_not_support_is_not_found(answer):
    [citation] = check(answer).citations
    assert (citation.state, citation.quote, citation.quoted_by_answer) == (NOT_FOUND, "", False)


def test_each_marker_in_a_sentence_covers_its_own_part():
    checked = check(
        "New employees receive 15 days of paid leave per year [1] and the canteen is free [1]."
    )
    assert [citation.state for citation in checked.citations] == [VERIFIED, NOT_FOUND]
    assert checked.unsupported_sentences == 0


def test_the_displayed_text_has_only_numbers_and_every_mark_has_its_citation():
    checked = check('A [1: "15 days of paid leave"]. B [1, 9] and 【2†x】 `[3]`.')
    assert checked.text == "A [1]. B [1][9] and [2] `[3]`."
    assert [checked.citations[index].n for index in checked.marks] == [1, 1, 9, 2]


PIECES = st.sampled_from(
    ["A ", "[1", "]", ': "', "15 days of paid leave", '"', ", 9", "【2†", "】", "`", "```", "\n",
     "\n\n", "\r", "\u2028", "[", "](", "3: 「", "」", "~~~", " cut o", "“", "”", "다."]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join), st.lists(st.integers(1, 9), max_size=80))
@example('A [1: "15 days of paid leave"]. B [1, 9] and 【2†x】 [3: "cut o', [])
def test_the_streamed_text_equals_the_checked_text(answer, lengths):
    parser = AnswerReader(SOURCES)
    streamed, at = "", 0
    for length in [*lengths, *[1] * len(answer)]:
        streamed += as_markdown(parser.feed(answer[at : at + length]))
        at += length
    assert streamed + as_markdown(parser.close()) == check(answer).text


ANY_CHARACTER = st.characters(codec="utf-8")
SOUP = st.lists(PIECES | st.text(ANY_CHARACTER, max_size=8), max_size=40).map("".join)


@given(SOUP, st.lists(st.integers(1, 9), max_size=20))
@example("[1: " * 50, [3])
@example('[1: "15 days\u202e" [2†\x00] ［３］ 【1: 「」】 [1]', [1, 1, 1])
def test_any_text_is_checked_alike_whole_and_in_pieces(answer, lengths):
    reader, whole = AnswerReader(SOURCES), check(answer)
    in_pieces, at, found = AnswerCheck(SOURCES, TEXTS.get), 0, []
    for length in [*lengths, len(answer)]:
        found += in_pieces.read(reader.feed(answer[at : at + length]))
        at += length
    found += in_pieces.read(reader.close())
    assert in_pieces.result == whole
    by_marker = [whole.citations[index] for index in whole.marks]
    assert [by_marker[index] for index, _ in found] == [citation for _, citation in found]
    for citation in whole.citations:
        if citation.state is VERIFIED:
            text = TEXTS[citation.document_id]
            assert text[citation.start : citation.end] == citation.quote


def test_equal_citations_are_merged_and_different_ones_stay_in_text_order():
    same = check('A [1: "15 days of paid leave"]. B [1: "15 days of paid leave"].')
    assert len(same.citations) == 1
    assert same.marks == (0, 0)
    mixed = check('A [1: "15 days of paid leave"]. B [1: "no"]. C [1: "15 days of paid leave"].')
    assert [c.state for c in mixed.citations] == [VERIFIED, NOT_FOUND, VERIFIED]
    assert mixed.marks == (0, 1, 2)


@pytest.mark.parametrize(
    ("answer", "statements", "unsupported"),
    [
        ('You get 15 days [1: "15 days of paid leave"]. Lunch is free every day.', 2, 1),
        ("Lunch is free [9].", 1, 1),
        ('You get 25 days [1: "days of paid leave"].', 1, 1),
        ('15일이 아니라 25일입니다 [2: "연차 휴가 15일"].', 1, 1),
        ('You get 015 days [1: "15 days of paid leave"].', 1, 0),
        ('2. You get 15 days [1: "days of paid leave"].', 1, 0),
        ('**Step 4:** Bring a note on day 3 [1: "A doctor\'s note is needed"].', 1, 0),
        ("# Leave for new staff\n\n**Leave for new staff**\n\nHere is what it says:", 0, 0),
        ("Would you like to know more about leave?", 0, 0),
        ("I could not find anything about lunch in the documents.", 0, 0),
        ("The sources do not mention dental care.", 0, 0),
        ("문서에서 점심에 관한 내용을 찾을 수 없습니다.", 0, 0),
        ("昼食についての記述は見つかりませんでした。", 0, 0),
        ("Confidential documents must not leave the building.", 1, 1),
        ("If you cannot find your badge, call security.", 1, 1),
        ("```\nmake deploy everything now\n```", 0, 0),
        ("| Grade | Leave days |\n|---|---|\n| Junior staff | 15 days |", 1, 1),
        ("점심 식사는 매일 무료로 제공됩니다.", 1, 1),
        ("", 0, 0),
    ],
)
def test_sentences_without_support_are_counted(answer, statements, unsupported):
    checked = check(answer)
    assert (checked.statements, checked.unsupported_sentences) == (statements, unsupported)


@pytest.mark.parametrize(
    ("statement", "evidence", "expected"),
    [
        ("Up to 5 days.", "Up to five days.", True),
        ("Come at 10:00 on 3/07.", "Come on 03/07 at 10.", True),
        ("It costs 1,500 won.", "It costs 1500 won.", True),
        ("休暇は１５日です。", "休暇は15日です。", True),
        ("It takes 3.5 hours.", "It takes 3 to 5 hours.", False),
        ("① 25일입니다.", "15일입니다.", False),
        ("10:30 is too late.", "10 is too late.", False),
        ("It is 1.5 times as long.", "It is **1**.5 times as long.", True),
        ("It has 11 seats.", "It has 1\u200b1 seats.", True),
        ("It has 11 seats.", "It has 1`1 seats.", False),
        ("It has 11 seats.", "It has 1*1 seats.", False),
        ("See page 12.", "See [the guide](http://x.example/12).", True),
        ("They get 25 days.", "They get 25¹ days.", True),
        ("They get 251 days.", "They get 25¹ days.", False),
        ("The lab has 106 cells.", "The lab has 10⁶ cells.", False),
        ("The lab has 10⁵ cells.", "The lab has 10⁶ cells.", False),
        ("The lab has 10^6 cells.", "The lab has 10⁶ cells.", True),
        ("It has 1023 cells.", "It has 10²³ cells.", False),
        ("It was 2024.", "It was 2024.¹ Next", True),
        ("It takes 51/2 hours.", "It takes 5½ hours.", False),
        ("It takes 5¾ hours.", "It takes 5½ hours.", False),
        ("給付は35000円とする。", "給付は③5000円とする。", False),
        ("給付は5000円とする。", "給付は③5000円とする。", True),
        ("제출 서류는 23부로 한다.", "제출 서류는 ②3부로 한다.", False),
        ("면적은 84 m²이다.", "면적은 84㎡이다.", True),
        ("회의는 841이다.", "회의는 84㍙이다.", False),
        ("休暇は１．５日、１２：３０まで。", "休暇は1.5日、12:30まで。", True),
    ],
)
def test_numbers_in_a_statement_must_occur_in_the_evidence(statement, evidence, expected):
    assert contains_numbers(statement, evidence) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25¹ days, 10⁶", {"25", "1", "10", "6"}),
        ("１，２３４円、１．５倍、１２：３０", {"1234", "1.5", "12:30"}),
        ("٣ days, v1.2, 3/07.", {"٣", "1.2", "3/07"}),
        ("25㎡, 25 m2", {"25", "2"}),
    ],
)
def test_only_digits_of_the_same_kind_are_one_number(text, expected):
    assert numbers(text) == expected


@given(st.text(st.characters(exclude_categories=["No", "So", "Cs"])))
def test_the_form_of_digits_does_not_matter(text):
    assert numbers(text) == numbers(unicodedata.normalize("NFKC", text))


def test_numbers_are_found_in_linear_time():
    for part in ("1", "1.", "1¹", ".", "a"):
        require_linear_time(lambda count, part=part: numbers(part * count), 200_000)


@pytest.mark.parametrize(
    ("passage", "answer", "state"),
    [
        ("New employees get 25¹ days of annual leave.", "New employees get 25 days of annual leave",
         VERIFIED),
        ("New employees get 25¹ days of annual leave.",
         "New employees get 251 days of annual leave", NOT_FOUND),
        ("給付は③5000円とする。", "給付は35000円とする", NOT_FOUND),
    ],
)  # fmt: skip
def test_a_raised_number_is_not_part_of_the_one_before_it(passage, answer, state):
    sources = [RetrievedPassage(1, "p", "d", "T", "l", passage)]
    checked = check(f"{answer} [1].", sources, {"d": passage})
    assert [citation.state for citation in checked.citations] == [state]


@pytest.mark.parametrize(
    ("passage", "answer", "state"),
    [
        ("The canteen opens at 09:30.", "The canteen opens at 9:30", VERIFIED),
        ("The canteen opens at 9:30.", "The canteen opens at 09:30", VERIFIED),
        ("The canteen opens at 9:30.", "The canteen opens at 9:03", NOT_FOUND),
        ("The canteen closes for seven days.", "The canteen closes for 7 days", VERIFIED),
        ("The canteen closes for seven days.", "The canteen closes for 8 days", NOT_FOUND),
        ("The canteen closes for twenty-one days.", "The canteen closes for 21 days", VERIFIED),
        ("The canteen closes for twenty-one days.", "The canteen closes for 20 days", NOT_FOUND),
        ("One canteen closes for 8 days.", "The canteen closes for 1 day", NOT_FOUND),
        ("The canteen seats two hundred people.", "The canteen seats 2 people", NOT_FOUND),
        ("The canteen opens on 05/01/2025.", "The canteen opens on 5/1/2025", VERIFIED),
        ("The canteen opens at 1:05.", "The canteen opens at 1:5", NOT_FOUND),
        ("Call extension 0123 of the canteen.", "Call extension 123 of the canteen", NOT_FOUND),
    ],
)  # fmt: skip
def test_the_same_number_in_another_form_supports_a_statement(passage, answer, state):
    sources = [RetrievedPassage(1, "p", "d", "T", "l", passage)]
    checked = check(f"{answer} [1].", sources, {"d": passage})
    assert [citation.state for citation in checked.citations] == [state]


def test_a_quotation_of_two_sentences_supports_both():
    answer = (
        "“New employees receive 15 days of paid leave per year. "
        "Unused days cannot be carried over.” [1]"
    )
    assert check(answer).unsupported_sentences == 0


def test_an_answer_that_ends_inside_a_marker_is_checked_up_to_there():
    assert states('You get 15 days [1: "15 days of paid lea') == [VERIFIED]


def test_a_huge_document_is_searched_only_around_the_passage():
    text = "Filler sentence number one. " * 100_000 + SOURCES[0].text
    [citation] = check('So [1: "words that stand nowhere"].', texts={"en": text}).citations
    assert citation.state is NOT_FOUND


def test_a_quote_from_a_repeated_passage_has_the_position_of_that_passage():
    passage = "Ask the desk on the second floor for a new badge."
    text = f"{passage}\n\n{passage}\n"
    twice = replace(source(1, "en"), text=passage, start=text.rindex(passage))
    [citation] = check('Ask [1: "the desk on the second floor"].', [twice], {"en": text}).citations
    assert citation.start == text.rindex("the desk")
