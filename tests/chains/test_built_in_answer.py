from functools import reduce
from operator import add

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import WrittenAnswer
from chains.requests.built_in_answer import Quotation, answer_pieces, quotable
from domain import EXTRACTIVE, CitationState, RetrievedPassage
from tests.chains.documents import LEAVE

QUOTE = "New employees get 25 days of annual leave a year."


def check_paragraphs(paragraphs, sources=()):
    """The answer that the chat service would store."""
    answer = WrittenAnswer(sources)
    for piece in answer_pieces(paragraphs):
        if "answer" in piece:
            answer.read(piece["answer"], piece["answer_citations"])
    return check_answer(answer.pieces, sources, {"d1": LEAVE[1].page_content}.get)


def test_pieces_add_up_to_the_answer_with_correct_citation_offsets():
    whole = reduce(add, answer_pieces(["Found:", Quotation(2, QUOTE)]))
    assert whole["answer"] == f"Found:\n\n“{QUOTE}” [2]"
    [cited] = whole["answer_citations"]
    assert whole["answer"][cited["start_index"] : cited["end_index"]] == f"“{QUOTE}” [2]"
    assert whole["answer_message"].content == whole["answer"]
    assert whole["answer_message"].response_metadata == {
        "model_name": EXTRACTIVE,
        "finish_reason": "stop",
    }


def test_sentences_of_the_program_need_no_source():
    checked = check_paragraphs(
        ["I answer questions from 25 documents. Ask what you would like to know."]
    )
    assert (checked.statements, checked.unsupported_sentences) == (0, 0)


def test_sentences_of_the_program_contain_no_marker():
    checked = check_paragraphs(["This is an extract of “Minutes [1]”."])
    assert checked.citations == ()


def test_a_quotation_next_to_sentences_of_the_program_is_verified():
    source = RetrievedPassage(1, "p1", "d1", "Leave policy", "leave.md", LEAVE[1].page_content)
    checked = check_paragraphs(["An extract of the leave policy.", Quotation(1, QUOTE)], [source])
    assert [one.state for one in checked.citations] == [CitationState.VERIFIED]
    assert (checked.statements, checked.unsupported_sentences) == (1, 0)


def test_only_verifiable_text_can_be_quoted():
    passage = LEAVE[1]
    start = passage.page_content.index(QUOTE)
    assert quotable(passage, start, start + len(QUOTE)) == QUOTE
    assert quotable(passage, start, start + 2) == ""
