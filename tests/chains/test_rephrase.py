"""Rephrasings of a question, parsed from the reply of a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.chat_prompts import REPHRASE_PROMPT
from chains.condensing.condense import MAX_CHARS, parse_rephrasings, rephrase_with_model
from tests.chains.scripted import ScriptedChatModel

QUESTION = "How much annual leave do I get?"
TWO = ["How many vacation days are there?", "What is the paid time off?"]


@pytest.mark.parametrize(
    "reply",
    [
        "{0}\n{1}",
        "\n\n  {0}  \n\n{1}\n",
        "1. {0}\n2. {1}",
        "1) {0}\n2) {1}",
        "(1) {0}\n(2) {1}",
        "- {0}\n* {1}",
        "**1.** {0}\n**2.** {1}",
        '1. "{0}"\n2. “{1}”',
        "Here are two other wordings:\n\n{0}\n{1}",
        "**Other wordings:**\n- {0}\n- {1}",
        "<think>They want leave.\nMaybe PTO?</think>\n{0}\n{1}",
        '["{0}", "{1}"]',
        '[\n  "{0}",\n  "{1}"\n]',
        "```\n{0}\n{1}\n```",
        "{0}\n{1}\n{0}\n" + QUESTION.upper(),
    ],
)
def test_text_around_the_rephrasings_is_stripped(reply):
    text = reply.replace("{0}", TWO[0]).replace("{1}", TWO[1])
    assert parse_rephrasings(text, QUESTION) == TWO


def test_text_around_korean_and_japanese_rephrasings_is_stripped():
    reply = (
        "다른 표현:\n1. 「유급 휴가는 며칠인가요?」\n２．有給休暇は何日ですか？\n・年休の日数は？"
    )
    assert parse_rephrasings(reply, "연차는?") == [
        "유급 휴가는 며칠인가요?",
        "有給休暇は何日ですか？",
        "年休の日数は？",
    ]


@pytest.mark.parametrize(
    "wording", ["3 days of leave?", "What does error: 404 mean?", "24/7 support", "-v option"]
)
def test_numbers_and_signs_within_a_rephrasing_are_preserved(wording):
    assert parse_rephrasings(wording, QUESTION) == [wording]


@pytest.mark.parametrize(
    "reply",
    ["", "\n \n", "...", "[]", "{}", "null", "<think>I wonder", QUESTION, "x" * (MAX_CHARS + 1)],
)
def test_a_reply_without_a_rephrasing_gives_none(reply):
    assert parse_rephrasings(reply, QUESTION) == []


@given(st.text(st.sampled_from('ab1.)-*"「」[]{},:\n <think/>\ud800'), max_size=60))
def test_rephrasings_from_arbitrary_replies_are_single_searchable_lines(reply):
    wordings = parse_rephrasings(reply, "a")
    assert len(set(wordings)) == len(wordings)
    for wording in wordings:
        assert wording.encode()
        assert wording.strip()
        assert "\n" not in wording
        assert wording != "a"


@pytest.mark.parametrize("number", [1, 2])
async def test_no_more_rephrasings_are_returned_than_requested_also_async(number):
    model = ScriptedChatModel(replies=["\n".join(f"wording {n}" for n in range(50))])
    rephrase = rephrase_with_model(model, number)
    wordings = rephrase.invoke(QUESTION)
    assert wordings == [f"wording {n}" for n in range(number)]
    assert await rephrase.ainvoke(QUESTION) == wordings


def test_the_model_is_called_once_with_the_question_and_the_number():
    model = ScriptedChatModel(replies=["other"])
    rephrase_with_model(model, 3).invoke(QUESTION)
    (((_, prompt),),) = model.prompts
    assert prompt == REPHRASE_PROMPT.format(number=3, question=QUESTION)
    assert "3 other wordings" in prompt
    assert f"Question: {QUESTION}\n" in prompt


def test_a_question_is_never_treated_as_a_template():
    hostile = "{number} {{question}} {0}"
    assert hostile in REPHRASE_PROMPT.format(number=2, question=hostile)


def test_a_number_below_1_is_rejected():
    with pytest.raises(ValueError, match="at least 1"):
        rephrase_with_model(ScriptedChatModel(replies=["x"]), 0)
