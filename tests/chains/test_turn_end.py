"""Markers of a chat template in the text of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.model_answer import answer_with_model
from chains.model_reply import TurnEnd
from tests.chains.scripted import ScriptedChatModel, StreamingChatModel, numbered

MARKERS = ["<|im_end|>", "</s>", "[/INST]", "<<SYS>>", "<end_of_turn>", "<|eot_id|>"]


def filtered(pieces, sources=()):
    end = TurnEnd(sources)
    return "".join([*map(end.read, pieces), end.close()])


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_an_answer_ends_at_the_marker_however_it_is_split(marker, size):
    text = f"25 days [1].{marker}user\nAnd sick leave?{marker}assistant\nNone."
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert filtered(pieces) == "25 days [1]."


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_before_the_first_word_are_removed(marker):
    assert filtered(["\n", marker, f" {marker}25 days [1]."]).strip() == "25 days [1]."


def test_an_answer_of_markers_alone_is_empty():
    assert filtered([*MARKERS, "\n"]).strip() == ""


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_that_occurs_in_a_source_can_be_quoted(marker):
    quote = f"A turn ends with `{marker}` in this format [1]."
    assert filtered([quote], [f"The token {marker} ends a turn."]) == quote


@given(st.lists(st.text(alphabet="a <|/[]sEINT_im>\n")), st.lists(st.sampled_from(MARKERS)))
def test_a_text_without_markers_is_unchanged(pieces, sources):
    text = "".join(pieces)
    if not any(marker in text for marker in ("</s>", "[INST]", "[/INST]")):
        assert filtered(pieces, sources) == text


@given(st.text(), st.sampled_from(MARKERS), st.text())
def test_the_output_never_contains_a_marker(before, marker, after):
    assert marker not in filtered([before, marker, after])


@pytest.mark.parametrize("model_class", [ScriptedChatModel, StreamingChatModel])
async def test_streamed_whole_and_async_answers_end_at_the_marker(model_class):
    model = model_class(replies=["<s> Ten days [1].<|im_end|> <|im_start|>user And you?"])
    answerer = answer_with_model(model)
    inputs = {"question": "How many?", "input_documents": numbered("Ten."), "chat_history": []}
    whole = answerer.invoke(inputs)
    assert whole.text == (await answerer.ainvoke(inputs)).text == "<s> Ten days [1]."
    streamed = [getattr(piece, "text", piece) for piece in answerer.stream(inputs)]
    assert "".join(map(str, streamed)) == whole.text
    streamed = [getattr(piece, "text", piece) async for piece in answerer.astream(inputs)]
    assert "".join(map(str, streamed)) == whole.text


def test_the_model_is_stopped_at_the_end_of_its_turn():
    model = StreamingChatModel(replies=["Ten days [1].</s> and so on and on"])
    inputs = {"question": "How many?", "input_documents": numbered("Ten."), "chat_history": []}
    stream = answer_with_model(model).stream(inputs)
    assert "".join(str(getattr(piece, "text", piece)) for piece in stream) == "Ten days [1]."
    assert model.closed
