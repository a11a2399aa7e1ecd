"""The markers of an answer, each with its quote."""

import re
from datetime import UTC, datetime

from domain import Citation, CitationState, RetrievedPassage, Turn, TurnState
from ui.chat.citation_view import citation_marker

QUOTE = "They get 25 days."


def test_markers_with_equal_quotes_have_different_ids() -> None:
    source = RetrievedPassage(1, "p", "d", "Leave", "leave.md", QUOTE, score=0.5)
    citation = Citation(1, CitationState.VERIFIED, QUOTE, "Leave", "leave.md", 0, len(QUOTE))
    turn = Turn(
        "t",
        "c",
        "How many days?",
        TurnState.COMPLETE,
        datetime(2026, 1, 1, tzinfo=UTC),
        sources=(source,),
        citations=(citation, citation),
    )
    marker = citation_marker(turn)
    html = marker(1) + marker(1) + marker(1)
    ids = re.findall(r'id="(fn-tip-[^"]+)"', html)
    assert len(set(ids)) == len(ids) == 3
    assert ids == re.findall(r'aria-describedby="([^"]+)"', html)
