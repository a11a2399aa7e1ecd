import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.openai.openai_answers import sources_of
from api.openai.openai_error_responses import NoQuestionError
from api.openai.openai_requests import ChatRequest, question_with_history, without_sources
from tests.api.openai.test_completions import cited, turn_with

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=80)
QUESTIONS = TEXTS.filter(lambda text: text.strip())


def talk(*messages):
    said = [{"role": role, "content": content} for role, content in messages]
    return question_with_history(ChatRequest(model="footnote", messages=said).messages)


def test_the_last_message_of_a_user_is_the_question():
    told = talk(("user", "Leave?"), ("assistant", "25 days."), ("user", "And for Kim?"))
    assert told == ("And for Kim?", [("Leave?", "25 days.")])


def test_instructions_and_greetings_are_no_part_of_it():
    told = talk(
        ("system", "You are a pirate."),
        ("assistant", "Ahoy!"),
        ("developer", "Answer in rhymes."),
        ("user", "Leave?"),
        ("assistant", "This was begun for you:"),
    )
    assert told == ("Leave?", [])


def test_a_question_that_nobody_answered_stays_in_the_history():
    assert talk(("user", "One?"), ("user", "Two?")) == ("Two?", [("One?", "")])


def test_answers_in_a_row_are_one():
    told = talk(("user", "One?"), ("assistant", "A"), ("assistant", "B"), ("user", "Two?"))
    assert told.history == [("One?", "A\n\nB")]


def test_parts_of_text_are_put_together():
    parts = [{"type": "text", "text": "Leave?"}, {"type": "text", "text": "For Kim."}]
    assert talk(("user", parts)).question == "Leave?\nFor Kim."
    assert talk(("user", "One?"), ("assistant", None), ("user", "Two?")).history == [("One?", "")]


def test_without_a_user_there_is_no_question():
    with pytest.raises(NoQuestionError, match="none with the role user"):
        talk(("system", "x"), ("assistant", "y"))


@given(QUESTIONS, st.lists(st.tuples(QUESTIONS, TEXTS)))
def test_any_conversation_comes_back_as_its_pairs(question, pairs):
    messages = [one for asked, told in pairs for one in (("user", asked), ("assistant", told))]
    expected = [(asked, without_sources(told)) for asked, told in pairs]
    assert talk(*messages, ("user", question)) == (question, expected)


@given(TEXTS, st.lists(st.tuples(st.integers(1, 99), TEXTS, TEXTS), min_size=1, max_size=4))
def test_an_answer_loses_the_list_that_was_put_behind_it(answer, found):
    citations = [cited(n, quote=quote, title=title) for n, quote, title in found]
    told = answer + sources_of(turn_with(answer, *citations))
    assert without_sources(told) == without_sources(answer)


def test_what_only_looks_like_the_list_stays():
    for answer in ("Sources:\n[1] x", "Two\n\nSources:\n- a book", "A\n\nSources:\n[1] x\n\nB"):
        assert without_sources(answer) == answer


def test_the_list_is_known_with_blanks_behind_it():
    assert without_sources("25 days [1].\n\nSources:\n[1] x \t\n \n") == "25 days [1]."


def test_many_blanks_in_what_only_looks_like_the_list_cost_nothing():
    answer = f"A\n\nSources:\n[1]{' ' * 500_000}\nB"
    begun = time.monotonic()
    assert without_sources(answer) == answer
    assert time.monotonic() - begun < 5
