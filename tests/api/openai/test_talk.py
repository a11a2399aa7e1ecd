import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.openai.openai_answers import sources_of
from api.openai.openai_error_responses import InvalidFieldError
from api.openai.openai_requests import ChatRequest, question_with_history, without_sources
from services.events import TurnFinished
from tests.api.openai.test_completions import citation, turn_with

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=80)
QUESTIONS = TEXTS.filter(lambda text: text.replace("\ufeff", "").strip())


def question_of(*messages):
    payload = [{"role": role, "content": content} for role, content in messages]
    return question_with_history(ChatRequest(model="footnote", messages=payload).messages)


def test_the_last_user_message_is_the_question():
    result = question_of(("user", "Leave?"), ("assistant", "25 days."), ("user", "And for Kim?"))
    assert result == ("And for Kim?", [("Leave?", "25 days.")])


def test_instructions_and_greetings_are_ignored():
    result = question_of(
        ("system", "You are a pirate."),
        ("assistant", "Ahoy!"),
        ("developer", "Answer in rhymes."),
        ("user", "Leave?"),
        ("assistant", "This was begun for you:"),
    )
    assert result == ("Leave?", [])


def test_an_unanswered_question_stays_in_the_history():
    assert question_of(("user", "One?"), ("user", "Two?")) == ("Two?", [("One?", "")])


def test_consecutive_answers_are_joined():
    result = question_of(("user", "One?"), ("assistant", "A"), ("assistant", "B"), ("user", "Two?"))
    assert result.history == [("One?", "A\n\nB")]


def test_text_parts_are_joined():
    parts = [{"type": "text", "text": "Leave?"}, {"type": "text", "text": "For Kim."}]
    assert question_of(("user", parts)).question == "Leave?\nFor Kim."
    assert question_of(("user", "One?"), ("assistant", None), ("user", "Two?")).history == [
        ("One?", "")
    ]


def test_only_the_last_user_message_must_be_a_question():
    long = "x" * 30_000
    result = question_of(
        ("user", ""), ("assistant", "How can I help?"), ("user", long), ("user", "Leave?")
    )
    assert result == ("Leave?", [("", "How can I help?"), (long, "")])


def test_a_question_may_have_blank_parts():
    parts = [{"type": "text", "text": "Leave?"}, {"type": "text", "text": ""}]
    assert question_of(("user", parts)).question.strip() == "Leave?"


def test_a_refusal_is_an_answer():
    refusal = [{"type": "refusal", "refusal": "I can't say."}]
    parts = [{"type": "text", "text": "Hm."}, *refusal]
    result = question_of(
        ("user", "One?"), ("assistant", refusal), ("user", "Two?"), ("assistant", parts),
        ("user", "Three?"),
    )  # fmt: skip
    assert result.history == [("One?", "I can't say."), ("Two?", "Hm.\nI can't say.")]


@pytest.mark.parametrize(
    ("question", "advice"),
    [
        (" \n", "empty"),
        ("x" * 20_001, "20,000"),
        ([{"type": "text", "text": " "}, {"type": "text", "text": ""}], "empty"),
        ([{"type": "text", "text": "x" * 15_000}] * 2, "20,000"),
    ],
)
def test_a_last_question_that_is_blank_or_too_long_is_rejected(question, advice):
    with pytest.raises(InvalidFieldError, match=advice) as raised:
        question_of(("user", "One?"), ("assistant", "A"), ("user", question), ("assistant", "B"))
    assert raised.value.param == "messages[2].content"


def test_messages_without_a_user_message_are_rejected():
    with pytest.raises(InvalidFieldError, match="No message has the role user"):
        question_of(("system", "x"), ("assistant", "y"))


@given(QUESTIONS, st.lists(st.tuples(TEXTS, TEXTS)))
def test_any_conversation_is_split_into_questions_and_answers(question, pairs):
    messages = [
        one for earlier, answer in pairs for one in (("user", earlier), ("assistant", answer))
    ]
    expected = [(earlier, without_sources(answer)) for earlier, answer in pairs]
    assert question_of(*messages, ("user", question)) == (question, expected)


@given(TEXTS, st.lists(st.tuples(st.integers(1, 99), TEXTS, TEXTS), min_size=1, max_size=4))
def test_the_source_list_is_removed_from_an_answer(answer, quotes):
    citations = [citation(n, quote=quote, title=title) for n, quote, title in quotes]
    with_sources = answer + sources_of(TurnFinished(turn_with(answer, *citations)))
    assert without_sources(with_sources) == without_sources(answer)


def test_text_that_only_resembles_a_source_list_stays():
    for answer in ("Sources:\n[1] x", "Two\n\nSources:\n- a book", "A\n\nSources:\n[1] x\n\nB"):
        assert without_sources(answer) == answer


def test_a_source_list_with_trailing_whitespace_is_removed():
    assert without_sources("25 days [1].\n\nSources:\n[1] x \t\n \n") == "25 days [1]."


def test_much_whitespace_in_text_that_resembles_a_source_list_is_fast():
    answer = f"A\n\nSources:\n[1]{' ' * 500_000}\nB"
    start = time.monotonic()
    assert without_sources(answer) == answer
    assert time.monotonic() - start < 5
