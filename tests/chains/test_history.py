"""Histories of messages or pairs."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from chains.history import (
    cited_headings,
    last_citations,
    questions,
    render_history,
    turns,
)

PAIR = ("How much leave?", "15 days.")
QUESTION, ANSWER = HumanMessage("And in Japan?"), AIMessage("20 days.")
HISTORY = [SystemMessage("Be kind."), PAIR, QUESTION, ANSWER]


def test_pairs_and_messages_are_equivalent():
    as_messages = [HumanMessage(PAIR[0]), AIMessage(PAIR[1])]
    assert render_history([PAIR]) == render_history(as_messages)
    assert questions([PAIR]) == questions(as_messages) == ["How much leave?"]
    assert last_citations([PAIR]) == last_citations(as_messages) == []


def test_a_message_of_blocks_is_rendered_by_its_text():
    blocks = [
        {"type": "reasoning", "reasoning": "They mean leave."},
        {"type": "text", "text": "15 days "},
        {"type": "text", "text": "[1]."},
    ]
    assert render_history([AIMessage(blocks)]) == "\nAssistant: 15 days [1]."


def test_a_turn_is_a_pair_or_a_question_with_all_following_messages():
    call = ToolMessage("found", tool_call_id="1")
    greeting = [AIMessage("Hello!")]
    history = [*greeting, PAIR, QUESTION, call, ANSWER, PAIR]
    assert turns(history) == [greeting, [PAIR], [QUESTION, call, ANSWER], [PAIR]]


def test_only_messages_of_the_user_count_as_questions():
    assert questions(HISTORY) == ["How much leave?", "And in Japan?"]


def cites(**citation):
    return AIMessage("20 days [1].", additional_kwargs={"citations": [citation]})


def test_the_title_and_headings_come_from_the_last_answer_with_citations():
    leave = cites(title="Leave policy", extras={"heading_path": ["Annual leave", "Asking"]})
    history = [cites(title="VPN"), leave, ANSWER, PAIR]
    assert last_citations(history) == leave.additional_kwargs["citations"]
    assert cited_headings(history) == ["Leave policy", "Annual leave", "Asking"]


def test_a_citation_without_a_title_or_headings_has_no_cited_headings():
    assert cited_headings([cites(cited_text="20 days", title="")]) == []
