from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import WrittenAnswer, citation, quotation
from chains.citations.markers import Text, as_markdown, plain_text
from chains.extractive.extractive_answerer import ExtractiveAnswerer
from domain import CitationState, RetrievedPassage

QUESTION = "Which method does Kim use?"
PASSAGE = 'Kim uses the method [42] of rows[1] and config["key"][2].'


def inputs(text):
    return {"question": QUESTION, "input_documents": [Document(text)]}


def test_the_built_in_answerer_returns_citations_next_to_its_text():
    message = ExtractiveAnswerer().invoke(inputs(PASSAGE))
    [cited] = message.additional_kwargs["citations"]
    assert cited["type"] == "citation"
    assert cited["cited_text"] == PASSAGE.replace('"', "'")
    assert cited["extras"] == {"n": 1}
    assert message.text[cited["start_index"] : cited["end_index"]] == message.text
    assert isinstance(message, AIMessageChunk)


def test_annotated_text_is_not_parsed_again():
    words = "see [42] and “[1]” or [1: x]"
    text = as_markdown(quotation(1, words))
    answer = WrittenAnswer()
    assert answer.read(f"So: {text}!", [citation(1, words, start=4)]) == f"So: {text}!"
    assert answer.pieces == [Text("So: "), *quotation(1, words), Text("!")]
    assert plain_text(answer.pieces) == f"So: “{words}” [1]!"


def test_annotation_offsets_refer_to_the_whole_answer():
    answer = WrittenAnswer()
    answer.read("Two quotes. ")
    first, second = as_markdown(quotation(1, "one [2]")), as_markdown(quotation(2, "two [1]"))
    answer.read(first, [citation(1, "one [2]", 12)])
    answer.read(f" {second}", [citation(2, "two [1]", 13 + len(first))])
    assert plain_text(answer.pieces) == "Two quotes. “one [2]” [1] “two [1]” [2]"


def test_a_long_quotation_of_several_sentences_is_supported_as_a_whole():
    words = " ".join(f"Rule {n} of the handbook says [{n}] for all of us." for n in range(1, 60))
    source = RetrievedPassage(1, "p", "d", "Rules", "", words)
    checked = check_answer(quotation(1, words), [source], {"d": words}.get)
    assert [one.state for one in checked.citations] == [CitationState.VERIFIED]
    assert (checked.statements, checked.unsupported_sentences) == (59, 0)


def test_text_held_back_from_a_model_precedes_added_text():
    answer = WrittenAnswer()
    assert answer.read("See [") == "See "
    assert answer.take([Text("more")]) == "[more"


PARTS = ["[42]", "[1, 2]", "［４２］", "【1】", "[^3]", "rows[1]", "[a](b[1])", "방법", "手法",
         "Kim", "method", " ", " ", ". ", "。", '"', "`", "*", "\\[6\\]", "⟦4⟧",
         "[1: "]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_every_quote_of_the_built_in_answerer_is_verified(text):
    passage = f"Kim uses the method {text}"
    answer = WrittenAnswer()
    for piece in ExtractiveAnswerer().stream(inputs(passage)):
        answer.read(str(piece.text), piece.additional_kwargs.get("citations", ()))
    source = RetrievedPassage(1, "p", "d", "Survey", "", passage)
    checked = check_answer(answer.pieces, [source], {"d": passage}.get)
    assert {one.state for one in checked.citations} <= {CitationState.VERIFIED}
    assert {one.n for one in checked.citations} <= {1}
    assert checked.unsupported_sentences == 0
