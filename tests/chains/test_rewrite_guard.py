"""Whether a rewrite still asks the typed question, and how two result lists are merged."""

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
def test_a_rewrite_without_a_typed_word_is_searched_with_the_typed_question(typed, standalone):
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
def test_a_rewrite_with_one_typed_word_is_searched_alone(typed, standalone):
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
def test_for_a_question_without_content_words_only_the_rewrite_is_searched(typed):
    assert questions_to_search(typed, LEAVE) == [LEAVE]


def test_the_answerer_receives_both_questions_if_both_are_searched():
    assert as_one_question([LEAVE]) == LEAVE
    assert as_one_question([LEAVE, "And in Japan?"]) == f"And in Japan? ({LEAVE})"


def passages(*ids):
    return [Document("the same text", id=passage) for passage in ids]


def ids(documents):
    return [document.id for document in documents]


def test_two_lists_are_interleaved_without_repeated_passages():
    merged = interleave([passages("a", "b", "c", "d"), passages("b", "x", "a", "y")])
    assert ids(merged) == ["a", "b", "x", "c"]


def test_an_empty_list_leaves_the_other_unchanged():
    assert ids(interleave([[], passages("x", "y")])) == ["x", "y"]
    assert interleave([[], []]) == interleave([]) == []


def test_passages_without_an_id_are_identified_by_their_text():
    one, same, other = Document("one"), Document("one"), Document("other")
    assert interleave([[one], [same]]) == [one]
    assert interleave([[one, other], [same, other]]) == [one, other]


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(IDS, IDS)
def test_a_merged_list_is_only_truncated_and_starts_with_the_best_of_both(first, second):
    merged = ids(interleave([passages(*first), passages(*second)]))
    assert len(merged) == len(set(merged)) == max(len(first), len(second))
    assert set(merged) <= {*first, *second}
    best = list(dict.fromkeys([*first[:1], *second[:1]]))
    assert merged[: len(best)] == best[: len(merged)]


@given(IDS)
def test_a_single_list_is_unchanged_even_with_repeats(names):
    repeated = passages(*names, *names)
    assert interleave([repeated]) == repeated
