"""Findings say whether quotes were found, never whether the answer is right."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import EXTRACTIVE, Citation, CitationState, RetrievedPassage, Turn, TurnState
from services.export.answer_text import (
    CitationCounts,
    Finding,
    count_citations,
    describe,
    findings,
)

FOUND = Citation(1, CitationState.VERIFIED, "25 days")
MATCHED = Citation(1, CitationState.VERIFIED, "25 days", quoted_by_answer=False)
MISSING = Citation(1, CitationState.NOT_FOUND, "27 days")
UNSUPPORTED = Citation(1, CitationState.NOT_FOUND, "", quoted_by_answer=False)
NOT_VERIFIED = Citation(1, CitationState.NOT_VERIFIED, "25 days")
INVENTED = Citation(9, CitationState.NO_SUCH_SOURCE, "")
ANSWERED = Turn(
    "t",
    "c",
    "How many days?",
    TurnState.COMPLETE,
    datetime(2026, 1, 1, tzinfo=UTC),
    answer="They get 25 days.",
    model="m",
    sources=(RetrievedPassage(1, "p", "d", "Leave", "leave.md", "25 days"),),
)


def test_quotes_and_matched_sentences_are_counted_separately() -> None:
    counts = count_citations([FOUND, FOUND, MATCHED, MISSING, UNSUPPORTED, INVENTED, NOT_VERIFIED])
    assert counts == CitationCounts(found=2, missing=1, matched=1, unsupported=2, unverified=1)


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([FOUND], (Finding.QUOTED, "1 quote found in the documents.")),
        ([FOUND, FOUND], (Finding.QUOTED, "2 quotes found in the documents.")),
        (
            [FOUND, MISSING],
            (Finding.MISSING, "1 of 2 quotes found in the documents; 1 not found."),
        ),
        ([MATCHED], (Finding.MATCHED, "Sentences matched by Footnote: 1.")),
        ([UNSUPPORTED, INVENTED], (Finding.DOUBT, "Citations without support: 2.")),
    ],
)
def test_quotes_matches_and_unsupported_citations_are_counted(
    citations: list[Citation], expected: tuple[Finding, str]
) -> None:
    turn = replace(ANSWERED, citations=tuple(citations))
    without = (Finding.DOUBT, "Sentences without a source: 3.")
    assert findings(turn) == [expected]
    assert findings(replace(turn, unsupported_sentences=3)) == [expected, without]


def test_imported_citations_that_could_not_be_checked_are_counted_apart() -> None:
    turn = replace(ANSWERED, citations=(FOUND, NOT_VERIFIED))
    assert findings(turn) == [
        (Finding.QUOTED, "1 quote found in the documents."),
        (Finding.DOUBT, "Imported citations that are not verified here: 1."),
    ]


NEAREST = (Finding.NEAREST, "Closest passages. They may not answer the question.")
UNCITED = (Finding.DOUBT, "This answer cites no source. Check it before you rely on it.")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [UNCITED]),
        ({"sources": (), "unsupported_sentences": 1}, [UNCITED]),
        ({"sources": (), "answer": "Hello!"}, []),
        ({"answer": "", "state": TurnState.FAILED, "error": "The model failed."}, []),
        ({"answer": "I found nothing.", "model": EXTRACTIVE}, [NEAREST]),
        ({"answer": "I found nothing.", "model": EXTRACTIVE, "sources": ()}, []),
    ],
)
def test_only_a_claim_without_citations_is_doubtful(
    changes: dict[str, object], expected: list[tuple[Finding, str]]
) -> None:
    assert findings(replace(ANSWERED, citations=(), **changes)) == expected


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        (FOUND, "found in the document"),
        (MATCHED, "found in the document, matched by Footnote"),
        (MISSING, "not found"),
        (INVENTED, "no such source"),
    ],
)
def test_each_citation_state_has_a_description(citation: Citation, expected: str) -> None:
    assert describe(citation) == expected
