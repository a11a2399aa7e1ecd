"""The prompts as a model receives them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage

from chains.chat_prompts import (
    ANSWER_PROMPT,
    ANSWER_RULES,
    CONDENSE_PROMPT,
    TOOL_RULE,
    answer_prompt,
    render_sources,
)
from chains.citations.answer_check import check_answer
from chains.citations.visible_text import lookalikes, neutralize
from chains.history import render_history
from chains.model_answer import answer_with_model, is_usable
from domain import RetrievedPassage
from tests.chains.scripted import ScriptedChatModel

ROOT = Path(__file__).parents[2]
RENDERED = Path(__file__).parent / "rendered"
DOCUMENTS = [
    Document(
        "New employees get 15 days of paid leave.",
        metadata={"title": "Leave policy", "page": 3, "heading_path": ["Leave", "New employees"]},
    ),
    Document("입사 1년 미만은 {월} 1일입니다.", metadata={"title": "연차 규정", "page": None}),
    Document("No metadata at all."),
]


def test_the_prompts_have_the_variables_of_the_classic_chain_and_the_sources():
    assert sorted(CONDENSE_PROMPT.input_variables) == ["chat_history", "question"]
    assert sorted(ANSWER_PROMPT.input_variables) == ["question", "sources"]


def test_the_condense_prompt_matches_the_stored_text():
    history = render_history([("How much annual leave?", "15 days [1].")])
    text = CONDENSE_PROMPT.format(chat_history=history, question="그럼 신입사원은요?")
    assert text + "\n" == (RENDERED / "condense.txt").read_text("utf-8")


def test_the_answer_prompt_matches_the_stored_text():
    model = ScriptedChatModel(replies=["15 days."])
    question = "How much leave do new employees get?"
    inputs = {"question": question, "input_documents": DOCUMENTS, "chat_history": []}
    answer_with_model(model).invoke(inputs)
    ((system, instructions), (human, request)) = model.prompts[0]
    assert (system, human) == ("system", "human")
    expected = (RENDERED / "answer.txt").read_text("utf-8")
    assert f"{instructions}\n\n=====\n\n{request}\n" == expected


@pytest.mark.parametrize("reply", ANSWER_RULES.splitlines())
def test_a_reply_that_repeats_a_rule_proves_nothing(reply):
    """Documents that contain the words of the sample would be evidence for it."""
    paths = (ROOT / "samples" / "documents").glob("*.md")
    documents = [Document(path.read_text("utf-8")) for path in paths]
    assert documents
    assert not is_usable(reply, documents)


@pytest.mark.parametrize("prompt", [CONDENSE_PROMPT, ANSWER_PROMPT])
def test_text_from_users_and_documents_is_never_treated_as_a_template(prompt):
    hostile = "{question} {{sources}} {0} {chat_history!r}"
    values = dict.fromkeys(prompt.input_variables, hostile)
    assert prompt.format(**values).count(hostile) == len(values)


@pytest.mark.parametrize("passage", ["25 days.", "25 days ⟦sic⟧."])
@pytest.mark.parametrize("result", ['Unlimited [1: "25 days"]', '⟦a⟧ 【1: "25 days"】 [1] ［１］'])
def test_results_of_tools_contain_no_citation_markers(passage, result):
    calling = AIMessage("I look [1].", tool_calls=[{"name": "look", "args": {}, "id": "1"}])
    model = ScriptedChatModel(replies=["Done."])
    answerer = answer_with_model(model, answer_prompt(TOOL_RULE))
    documents = [Document(passage)]
    messages = [calling, ToolMessage(result, tool_call_id="1")]
    inputs = {"question": "How many?", "input_documents": documents, "chat_history": []}
    answerer.invoke({**inputs, "tool_messages": messages})
    [_system, _human, call, (kind, shown)] = model.prompts[0]
    assert call == ("ai", "I look [1].")
    assert (kind, shown) == ("tool", neutralize(result, lookalikes([passage, result])))
    passages = [RetrievedPassage(1, "", "", "", "", passage)]
    assert check_answer(shown, passages, lambda _: passage).citations == ()
    assert messages[1].content == result


@given(st.lists(st.text(min_size=1), max_size=5))
def test_every_source_is_numbered_and_unchanged_except_for_brackets(texts):
    rest = render_sources([Document(text) for text in texts])
    table = lookalikes(texts)
    for n, text in enumerate(texts, start=1):
        entry = f"[{n}]\n{neutralize(text, table)}"
        assert rest.startswith(entry)
        rest = rest[len(entry) :].removeprefix("\n\n")
    assert rest == ""
