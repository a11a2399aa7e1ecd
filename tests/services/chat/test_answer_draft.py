"""The quotes that are announced while an answer is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import citation
from domain import CitationState, RetrievedPassage
from services.chat.answer_draft import AnswerDraft
from services.events import CitationVerified, TextDelta

LEAVE = "New employees get 25 days of annual leave. Unused days expire in March [42]."
GATEWAY = "Install WireGuard and choose the Bristol gateway."
DOCUMENT = f"{LEAVE}\n\nSick leave needs no note."
SOURCES = [
    RetrievedPassage(1, "p1", "d1", "Leave policy", "", LEAVE),
    RetrievedPassage(2, "p2", "d2", "VPN", "", GATEWAY),
]
TEXTS = {"d1": DOCUMENT, "d2": GATEWAY}
QUOTED = 'They get it [1: "25 days of annual leave"]'
FRAGMENTS = [
    QUOTED, ' [2: "the Bristol gateway"]', ' [1: "Sick leave needs no note"]',
    ' [1: "thirty days"]', ' [1: "days"]', "New employees get 25 days of annual leave [1]",
    "“25 days of annual leave” [1]", ' [9: "annual leave"]', " [2]", "[1][2]",
    ' [1: "25 days of annual leave", 2: "Bristol gateway"]', "March [42]", '[1: "25 days',
    ". ", "\n\n", "\n", " ", ", ", "```\n", "`", "x",
]  # fmt: skip


def draft():
    return AnswerDraft(SOURCES, TEXTS.get)


def announced(events):
    return [(one.marker, one.citation) for one in events if isinstance(one, CitationVerified)]


def verified_marks(checked):
    cited = [(n, checked.citations[index]) for n, index in enumerate(checked.marks)]
    return [(n, one) for n, one in cited if one.state is CitationState.VERIFIED]


@st.composite
def split_replies(draw):
    """A reply in chunks, split anywhere."""
    reply = "".join(draw(st.lists(st.sampled_from(FRAGMENTS), max_size=12)))
    cuts = draw(st.lists(st.integers(0, len(reply)), max_size=12).map(sorted))
    bounds = [0, *cuts, len(reply)]
    return [reply[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]


@given(split_replies())
def test_the_announced_citations_are_the_verified_ones_in_the_order_of_completion(chunks):
    answer = draft()
    events = [event for chunk in chunks for event in answer.write(chunk, None)]
    events += answer.close()
    checked = answer.check()
    verified = verified_marks(checked)
    assert announced(events) == sorted(verified, key=lambda one: not one[1].quoted_by_answer)
    assert checked == check_answer("".join(chunks), SOURCES, TEXTS.get)
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == checked.text


@given(split_replies(), st.integers(0, 13))
def test_what_follows_a_quote_does_not_change_its_result(chunks, written):
    whole, beginning = draft(), draft()
    early = [event for chunk in chunks[:written] for event in beginning.write(chunk, None)]
    for chunk in chunks:
        list(whole.write(chunk, None))
    assert set(announced(early)) <= set(verified_marks(whole.check()))


def test_a_quote_is_announced_with_the_last_character_of_its_marker():
    answer = draft()
    assert announced(answer.write(QUOTED[:-1], None)) == []
    [(marker, one)] = announced(answer.write(QUOTED[-1], None))
    assert (marker, one.n, one.quote) == (0, 1, "25 days of annual leave")
    assert announced(answer.write(" and much more", None)) == []


def test_a_quotation_before_a_number_is_announced_once_the_number_is_certain():
    answer = draft()
    assert announced(answer.write("“25 days of annual leave” [1]", None)) == []
    assert [marker for marker, _ in announced(answer.write(".", None))] == [0]


@pytest.mark.parametrize("reply", ["New employees get 25 days [1].", 'They get 25 days [1: "25"].'])
def test_a_citation_without_a_proving_quote_waits_for_its_sentence(reply):
    answer = draft()
    assert announced(answer.write(reply, None)) == []
    [(marker, one)] = announced(answer.close())
    assert (marker, one.quoted_by_answer) == (0, False)


@pytest.mark.parametrize(
    "reply", ['It is so [1: "forty days of leave"]. ', "Nothing is said [9]. "]
)
def test_a_citation_that_is_not_verified_is_never_announced(reply):
    answer = draft()
    assert announced([*answer.write(reply, None), *answer.close()]) == []


def test_a_quote_of_the_built_in_answerer_is_announced_with_its_text():
    words = "25 days of annual leave"
    text = f"“{words}” [1]"
    text_event, found = draft().write(text, [citation(1, words, 0)])
    assert text_event == TextDelta(text)
    assert (found.marker, found.citation.quote) == (0, words)


def test_a_document_that_disappears_does_not_take_an_announced_quote_back():
    texts = dict(TEXTS)
    answer = AnswerDraft(SOURCES, texts.get)
    [(_, found)] = announced(answer.write('No note [1: "Sick leave needs no note"].', None))
    texts.clear()
    assert answer.check().citations == (found,)
