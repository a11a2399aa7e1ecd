from functools import reduce
from operator import add

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import WrittenAnswer
from chains.requests.built_in_answer import Quotation, answer_pieces, quotable
from domain import EXTRACTIVE, CitationState, RetrievedPassage
from tests.chains.documents import LEAVE

QUOTE = "New employees get 25 days of annual leave a year."


def written(paragraphs, sources=()):
    """The answer as the chat service reads and checks it."""
    answer = WrittenAnswer(sources)
    for piece in answer_pieces(paragraphs):
        if "answer" in piece:
            answer.read(piece["answer"], piece["answer_citations"])
    return check_answer(answer.pieces, sources, {"d1": LEAVE[1].page_content}.get)


def test_pieces_add_up_to_the_answer_with_its_citations_in_place():
    whole = reduce(add, answer_pieces(["Found:", Quotation(2, QUOTE)]))
    assert whole["answer"] == f"Found:\n\n“{QUOTE}” [2]"
    [cited] = whole["answer_citations"]
    assert whole["answer"][cited["start_index"] : cited["end_index"]] == f"“{QUOTE}” [2]"
    assert whole["answer_message"].content == whole["answer"]
    assert whole["answer_message"].response_metadata == {
        "model_name": EXTRACTIVE,
        "finish_reason": "stop",
    }


def test_the_programs_own_words_need_no_source():
    checked = written(["I answer questions from 25 documents. Ask what you would like to know."])
    assert (checked.statements, checked.unsupported_sentences) == (0, 0)


def test_the_programs_own_words_hold_no_marker():
    checked = written(["This is an extract of “Minutes [1]”."])
    assert checked.citations == ()


def test_a_quotation_is_verified_beside_the_programs_own_words():
    source = RetrievedPassage(1, "p1", "d1", "Leave policy", "leave.md", LEAVE[1].page_content)
    checked = written(["An extract of the leave policy.", Quotation(1, QUOTE)], [source])
    assert [one.state for one in checked.citations] == [CitationState.VERIFIED]
    assert (checked.statements, checked.unsupported_sentences) == (1, 0)


def test_only_what_is_found_again_can_be_quoted():
    passage = LEAVE[1]
    start = passage.page_content.index(QUOTE)
    assert quotable(passage, start, start + len(QUOTE)) == QUOTE
    assert quotable(passage, start, start + 2) == ""
