"""The text that is quoted together with a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.quotes import find_quote
from chains.extractive.quoted_units import (
    MAX_CHARS,
    MAX_ITEMS,
    announces_list,
    quoted_unit,
    readable,
)
from domain.language.sentences import split_sentences

STEPS = (
    "To launch a buoy, follow these steps:\n\n1. Check the anchor.\n2. Switch the lamp on.\n"
    "3. Call the harbor.\n\nThen write the report."
)
KOREAN = "휴가 신청은 다음과 같습니다.\n\n- 포털에 들어갑니다.\n- 날짜를 고릅니다.\n"
JAPANESE = (
    "タクシーは、次のどれかに当てはまるときに使えます。\n\n- 22時を過ぎたとき\n- 荷物が重いとき\n"
)
TABLE = "Our rooms:\n\n| Name | Seats |\n| --- | --- |\n| Gull | 8 |\n| Tern | 4 |\n"


def unit_of(text, sentence, *, all_items):
    start = text.index(sentence)
    return readable(text, *quoted_unit(text, start, start + len(sentence), all_items=all_items))


@pytest.mark.parametrize(
    ("text", "sentence", "quote"),
    [
        (
            STEPS,
            "To launch a buoy, follow these steps:",
            "To launch a buoy, follow these steps:\n1. Check the anchor.\n2. Switch the lamp on.\n"
            "3. Call the harbor.",
        ),
        (
            KOREAN,
            "휴가 신청은 다음과 같습니다.",
            "휴가 신청은 다음과 같습니다.\n포털에 들어갑니다.\n날짜를 고릅니다.",
        ),
        (
            JAPANESE,
            "タクシーは、次のどれかに当てはまるときに使えます。",
            "タクシーは、次のどれかに当てはまるときに使えます。\n- 22時を過ぎたとき\n"
            "荷物が重いとき",
        ),
    ],
)
def test_a_sentence_that_introduces_a_list_is_quoted_with_it(text, sentence, quote):
    start = text.index(sentence)
    assert announces_list(text, start, start + len(sentence))
    assert unit_of(text, sentence, all_items=False) == quote
    assert find_quote(text, quote)


def test_an_item_is_quoted_with_its_list_if_all_items_are_requested():
    whole = unit_of(STEPS, "To launch a buoy, follow these steps:", all_items=False)
    assert unit_of(STEPS, "Switch the lamp on.", all_items=True) == whole


def test_an_item_is_quoted_alone_if_one_fact_is_requested():
    assert unit_of(STEPS, "Switch the lamp on.", all_items=False) == "Switch the lamp on."


def test_a_sentence_after_a_list_is_quoted_alone():
    assert unit_of(STEPS, "Then write the report.", all_items=True) == "Then write the report."


def test_a_row_is_quoted_with_its_header():
    quote = unit_of(TABLE, "| Tern | 4 |", all_items=False)
    assert quote == "Name | Seats …\nTern | 4"
    assert find_quote(TABLE, "Name | Seats\nGull | 8")
    assert unit_of(TABLE, "| Gull | 8 |", all_items=False) == "Name | Seats\nGull | 8"


def test_all_rows_are_quoted_if_all_items_are_requested():
    quote = unit_of(TABLE, "| Tern | 4 |", all_items=True)
    assert quote == "Our rooms:\nName | Seats\nGull | 8\nTern | 4"
    assert find_quote(TABLE, quote)


def test_a_long_list_is_cut_at_the_end_of_an_item():
    text = "\n".join(f"- Item number {n} of a list that is rather long." for n in range(40))
    quote = unit_of(text, "Item number 0 of a list that is rather long.", all_items=True)
    lines = quote.splitlines()
    assert len(lines) == MAX_ITEMS
    assert all(line.endswith("long.") for line in lines)


def test_an_item_beyond_the_limit_of_a_long_list_is_quoted_alone():
    text = "\n".join(f"- Item number {n} of a list that is rather long." for n in range(40))
    sentence = "Item number 30 of a list that is rather long."
    assert unit_of(text, sentence, all_items=True) == sentence


@given(st.lists(st.sampled_from([STEPS, KOREAN, JAPANESE, TABLE]), min_size=1, max_size=4))
def test_the_unit_contains_the_sentence_and_is_verifiable(parts):
    text = "\n\n".join(parts)
    for start, end in split_sentences(text):
        begin, stop = quoted_unit(text, start, end, all_items=True)
        assert begin <= start <= end <= stop
        assert stop - begin <= max(MAX_CHARS, end - start)
        quote = readable(text, start, end)
        assert not quote or find_quote(text, quote) or len(quote) < 20
