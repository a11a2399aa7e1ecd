"""The markers of an answer, each with its quote."""

import re
from datetime import UTC, datetime

import pytest

from domain import Citation, CitationState, RetrievedPassage, Turn, TurnState
from ui.chat.citation_view import citation_marker, sources_html

QUOTE = "They get 25 days."


def turn_of(source: RetrievedPassage, *citations: Citation) -> Turn:
    return Turn(
        "t",
        "c",
        "How many days?",
        TurnState.COMPLETE,
        datetime(2026, 1, 1, tzinfo=UTC),
        sources=(source,),
        citations=citations,
    )


def test_markers_with_equal_quotes_have_different_ids() -> None:
    source = RetrievedPassage(1, "p", "d", "Leave", "leave.md", QUOTE, score=0.5)
    citation = Citation(1, CitationState.VERIFIED, QUOTE, "Leave", "leave.md", 0, len(QUOTE))
    marker = citation_marker(turn_of(source, citation, citation))
    html = marker(1) + marker(1) + marker(1)
    ids = re.findall(r'id="(fn-tip-[^"]+)"', html)
    assert len(set(ids)) == len(ids) == 3
    assert ids == re.findall(r'aria-describedby="([^"]+)"', html)


@pytest.mark.parametrize(("format", "shown"), [("pdf", "They **get** 25"), ("", "They get 25")])
def test_the_quote_of_a_marker_is_shown_by_the_format_of_its_document(
    format: str, shown: str
) -> None:
    location, text = "https://drive.google.com/file/d/1/view", "They **get** 25"
    source = RetrievedPassage(1, "p", "d", "Leave", location, text, format=format)
    turn = turn_of(source, Citation(1, CitationState.VERIFIED, text, start=0, end=len(text)))
    assert f"<span>{shown}</span></span></span>" in citation_marker(turn)(1)


def test_a_source_that_this_library_does_not_contain_is_no_link_and_says_so() -> None:
    source = RetrievedPassage(1, "p", "", "Leave <b>", "", QUOTE)
    turn = turn_of(source, Citation(1, CitationState.NOT_VERIFIED, QUOTE, "Leave"))
    assert citation_marker(turn)(1) == '<span class="fn-cite fn-bad">1 ⚠ not verified here</span>'
    cards = sources_html(turn, {})
    assert "href" not in cards
    assert 'Leave &lt;b&gt;</span><span class="fn-badge fn-bad">not verified here</span>' in cards
