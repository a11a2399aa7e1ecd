"""What was said before, in messages or pairs."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from chains.history import last_answer, questions, render_history, turns

PAIR = ("How much leave?", "15 days.")
QUESTION, ANSWER = HumanMessage("And in Japan?"), AIMessage("20 days.")
HISTORY = [SystemMessage("Be kind."), PAIR, QUESTION, ANSWER]


def test_pairs_and_messages_read_alike():
    as_messages = [HumanMessage(PAIR[0]), AIMessage(PAIR[1])]
    assert render_history([PAIR]) == render_history(as_messages)
    assert questions([PAIR]) == questions(as_messages) == ["How much leave?"]
    assert last_answer([PAIR]) == last_answer(as_messages) == "15 days."


def test_a_message_in_blocks_is_shown_by_its_text():
    blocks = [
        {"type": "reasoning", "reasoning": "They mean leave."},
        {"type": "text", "text": "15 days "},
        {"type": "text", "text": "[1]."},
    ]
    assert render_history([AIMessage(blocks)]) == "\nAssistant: 15 days [1]."


def test_a_turn_is_a_pair_or_a_question_with_all_that_follows_it():
    call = ToolMessage("found", tool_call_id="1")
    unasked = [AIMessage("Hello!")]
    history = [*unasked, PAIR, QUESTION, call, ANSWER, PAIR]
    assert turns(history) == [unasked, [PAIR], [QUESTION, call, ANSWER], [PAIR]]


def test_only_what_the_person_said_counts_as_questions_and_only_the_last_answer_is_the_last():
    assert questions(HISTORY) == ["How much leave?", "And in Japan?"]
    assert last_answer(HISTORY) == "20 days."
    assert last_answer([QUESTION]) == ""
