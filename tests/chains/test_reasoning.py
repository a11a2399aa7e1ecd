"""The reasoning in the replies of thinking models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableGenerator

from chains.model_answer import answer_with_model
from chains.model_reply import ModelReply
from chains.reasoning import ReasoningFilter, reasoning_of
from domain import NO_TEXT
from tests.chains.scripted import FINISH, ScriptedChatModel, StreamingChatModel, numbered

INPUTS = {"question": "How many?", "input_documents": numbered("25 days."), "chat_history": []}


def separated(pieces, quotable_texts=()):
    """The answer and the reasoning in these pieces."""
    reader = ReasoningFilter(quotable_texts)
    parts = [*map(reader.read, pieces), reader.close()]
    return tuple("".join(part) for part in zip(*parts, strict=True))


def split(text, size):
    return [text[start : start + size] for start in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("reply", "answer", "reasoning"),
    [
        ("<think>\nLeave [1]?\n</think>\n\nIt is 25 [1].", "It is 25 [1].", "\nLeave [1]?\n"),
        ("\n<think></think>\n\n25.", "\n25.", ""),
        ("<think>One.</think><think>Two.</think> 25.", "25.", "One.Two."),
        ("It is <think>hm</think>25.", "It is 25.", "hm"),
        ("<think>Never", "", "Never"),
        ("<think>a < b </thin", "", "a < b </thin"),
        ("1 < 2 <thinking>", "1 < 2 <thinking>", ""),
        ("No tags, <thi", "No tags, <thi", ""),
    ],
)
def test_reasoning_is_separated_however_the_reply_is_split(size, reply, answer, reasoning):
    assert separated(split(reply, size)) == (answer, reasoning)


@given(st.lists(st.text(alphabet="a <think/>\n")))
def test_a_reply_without_the_tag_is_unchanged(pieces):
    reply = "".join(pieces)
    if "<think>" not in reply:
        assert separated(pieces) == (reply, "")


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_tag_that_a_passage_contains_is_text_after_the_first_word(size):
    reply = "<think>Tags.</think>The model writes `<think>` and `</think>` [1]."
    expected = ("The model writes `<think>` and `</think>` [1].", "Tags.")
    assert separated(split(reply, size), ["It writes <think> first."]) == expected


@pytest.mark.parametrize("model_class", [ScriptedChatModel, StreamingChatModel])
def test_the_reasoning_is_not_in_the_text_of_an_answer(model_class):
    model = model_class(replies=["<think> It is in [1] </think> 25 days [1]."])
    pieces = list(answer_with_model(model).stream(INPUTS))
    assert "".join(str(piece.text) for piece in pieces) == "25 days [1]."
    assert "".join(map(reasoning_of, pieces)).strip() == "It is in [1]"
    assert answer_with_model(model).invoke(INPUTS).text == "25 days [1]."


@pytest.mark.parametrize("model_class", [ScriptedChatModel, StreamingChatModel])
def test_a_reply_that_only_reasons_has_no_text(model_class):
    pieces = list(answer_with_model(model_class(replies=["<think> Hm."])).stream(INPUTS))
    assert "".join(map(reasoning_of, pieces)).strip() == "Hm."
    reasons = [one.response_metadata.get("finish_reason") for one in pieces]
    assert [reason for reason in reasons if reason] == [NO_TEXT]


def test_reasoning_in_its_own_field_is_kept():
    def model(_):
        pieces = ("Hm.", ""), ("", "25.")
        for reasoning, text in pieces:
            yield AIMessageChunk(text, additional_kwargs={"reasoning_content": reasoning})
        yield AIMessageChunk("", response_metadata=FINISH)

    pieces = list(answer_with_model(RunnableGenerator(model)).stream(INPUTS))
    assert "".join(map(reasoning_of, pieces)) == "Hm."
    assert "".join(str(piece.text) for piece in pieces) == "25."


def test_a_reply_of_content_blocks_has_text():
    reply = ModelReply({"question": "How many?", "input_documents": []})
    blocks = AIMessageChunk(content=[{"type": "text", "text": "25 days."}])
    assert reply.read(blocks) is blocks
    assert "finish_reason" not in reply.close().response_metadata
