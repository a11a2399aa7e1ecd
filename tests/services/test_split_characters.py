"""Characters beyond U+FFFF of which a model's stream has the halves in two pieces."""

import pytest

from domain import LOCAL_USER, CitationState, SearchChoice, TurnState
from services.events import ReasoningDelta, TextDelta
from tests.fakes.openai import Call, Reasoned, Text, ToolCalls

QUESTION = "給与の担当者は誰ですか?"
HALVES = ("担当者は\ud842", '\udfb7田さんです [1: "給与の担当者は\ud842', '\udfb7田さん"]。')


@pytest.fixture
def services(handbook, imported):
    text = "# 社内の担当\n\n給与の担当者は𠮷田さんです。\n"
    (handbook / "staff.md").write_text(text, encoding="utf-8")
    return imported(chat=True)


def text_of(events, kind):
    return "".join(one.text for one in events if isinstance(one, kind))


def test_a_kanji_that_is_split_between_pieces_is_cited_and_stored(services, model_server):
    model_server.will(Text(*HALVES))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert (turn.state, turn.answer) == (TurnState.COMPLETE, "担当者は𠮷田さんです [1]。")
    assert [one.state for one in turn.citations] == [CitationState.VERIFIED]
    assert text_of(events, TextDelta) == turn.answer
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_the_extract_below_an_answer_with_a_split_kanji_is_marked_exactly(services, model_server):
    model_server.will(Text("担当者は\ud842", "\udfb7田さんだと思います。"))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert turn.answer.startswith("担当者は𠮷田さんだと思います。\n\n**")
    assert turn.answer.endswith("\n\n“給与の担当者は𠮷田さんです。” [1]")


def test_the_reasoning_is_joined_separately_from_the_answer(services, model_server):
    model_server.will(Reasoned("Hm \ud83d", "\ude00 so \ud83d", text="\ude00 Nobody."))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    turn = events[-1].turn
    assert turn.reasoning == text_of(events, ReasoningDelta) == "Hm 😀 so \ufffd"
    assert turn.answer.startswith("\ufffd Nobody.")


@pytest.mark.parametrize("pieces", [["Nobody \ud83d"], ["Nobody ", "\ud83d"]])
def test_half_of_a_character_at_the_end_is_replaced(services, model_server, pieces):
    model_server.will(Text(*pieces))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    assert events[-1].turn.answer.startswith("Nobody \ufffd")
    assert text_of(events, TextDelta) == events[-1].turn.answer


def test_half_of_a_character_before_a_step_of_the_agent_is_not_joined(services, model_server):
    call = Call("search_documents", {"query": "担当者"})
    model_server.will(ToolCalls(call, text="I look \ud83d"), Text("\ude00 ", *HALVES))
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(by_agent=True))
    assert [step.said for step in turn.steps] == ["I look \ufffd"]
    assert turn.answer == "\ufffd 担当者は𠮷田さんです [1]。"
