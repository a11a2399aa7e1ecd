"""Whether a rewrite still asks what was typed, and what two searches found as one list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from chains.condensing.condense import as_one_question, interleave, questions_to_search

LEAVE = "How many days of annual leave do new employees get?"


@pytest.mark.parametrize(
    ("typed", "standalone"),
    [
        ("And in Japan?", LEAVE),
        ("What about the VPN password?", "It is 15 days."),
        ("일본에서는요?", "신입사원의 연차는 며칠인가요?"),
        ("신입사원은요?", "How many days of leave are there?"),
        ("ドイツは?", "新入社員の有給休暇は何日ですか?"),
        ("冬は?", "新入社員の有給休暇は何日ですか?"),
    ],
)
def test_a_rewrite_that_lost_all_words_is_searched_beside_the_question_as_typed(typed, standalone):
    assert questions_to_search(typed, standalone) == [standalone, typed]


@pytest.mark.parametrize(
    ("typed", "standalone"),
    [
        ("And new employees in Japan?", LEAVE),
        ("What does a new employee get?", LEAVE),
        ("신입사원은요?", "신입사원의 연차는 며칠인가요?"),
        ("신입 사원은요?", "신입사원의 연차는 며칠인가요?"),
        ("新入社員は?", "新入社員の有給休暇は何日ですか?"),
        ("冬は?", "冬の有給休暇は何日ですか?"),
        (LEAVE, LEAVE),
    ],
)
def test_one_word_that_is_kept_is_enough(typed, standalone):
    assert questions_to_search(typed, standalone) == [standalone]


@pytest.mark.parametrize(
    "typed",
    [
        "Why?",
        "And then?",
        "Sorry, what do you mean?",
        "How does it?",
        "왜요?",
        "그건 누가 정하나요?",
        "どうしてですか?",
        "もう少し詳しく教えてください",
        "何ですか?",
        "?",
        "",
    ],
)
def test_a_question_without_a_word_of_its_own_has_none_to_lose(typed):
    assert questions_to_search(typed, LEAVE) == [LEAVE]


def test_the_answerer_is_asked_both_where_both_are_searched():
    assert as_one_question([LEAVE]) == LEAVE
    assert as_one_question([LEAVE, "And in Japan?"]) == f"And in Japan? ({LEAVE})"


def passages(*ids):
    return [Document("the same text", id=passage) for passage in ids]


def ids(documents):
    return [document.id for document in documents]


def test_two_lists_take_turns_and_each_passage_stands_once():
    merged = interleave([passages("a", "b", "c", "d"), passages("b", "x", "a", "y")])
    assert ids(merged) == ["a", "b", "x", "c"]


def test_a_list_that_found_nothing_leaves_the_other_whole():
    assert ids(interleave([[], passages("x", "y")])) == ["x", "y"]
    assert interleave([[], []]) == interleave([]) == []


def test_passages_without_an_id_are_known_by_their_text():
    one, same, other = Document("one"), Document("one"), Document("other")
    assert interleave([[one], [same]]) == [one]
    assert interleave([[one, other], [same, other]]) == [one, other]


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(IDS, IDS)
def test_nothing_is_lost_but_for_want_of_room_and_the_best_of_both_come_first(first, second):
    merged = ids(interleave([passages(*first), passages(*second)]))
    assert len(merged) == len(set(merged)) == max(len(first), len(second))
    assert set(merged) <= {*first, *second}
    best = list(dict.fromkeys([*first[:1], *second[:1]]))
    assert merged[: len(best)] == best[: len(merged)]


@given(IDS)
def test_one_list_stays_as_it_is_even_with_repeats(found):
    repeated = passages(*found, *found)
    assert interleave([repeated]) == repeated
