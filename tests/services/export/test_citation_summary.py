"""Summaries say whether quotes were found, never whether the answer is right."""

import pytest

from domain import Citation, CitationState
from services.export.answer_text import CitationCounts, count_citations, describe, summarize

FOUND = Citation(1, CitationState.VERIFIED, "25 days")
MATCHED = Citation(1, CitationState.VERIFIED, "25 days", quoted_by_answer=False)
MISSING = Citation(1, CitationState.NOT_FOUND, "27 days")
UNSUPPORTED = Citation(1, CitationState.NOT_FOUND, "", quoted_by_answer=False)
INVENTED = Citation(9, CitationState.NO_SUCH_SOURCE, "")


def test_quotes_and_matched_sentences_are_counted_separately() -> None:
    counts = count_citations([FOUND, FOUND, MATCHED, MISSING, UNSUPPORTED, INVENTED])
    assert counts == CitationCounts(found=2, missing=1, matched=1, unsupported=2)


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([FOUND], "1 quote found in the documents."),
        ([FOUND, FOUND], "2 quotes found in the documents."),
        ([FOUND, MISSING], "1 of 2 quotes found in the documents; 1 not found."),
        ([MATCHED], "Sentences matched by Footnote: 1."),
        ([UNSUPPORTED, INVENTED], "Citations without support: 2."),
        ([], ""),
    ],
)
def test_the_summary_counts_quotes_matches_and_unsupported_citations(
    citations: list[Citation], expected: str
) -> None:
    assert summarize(count_citations(citations)) == expected


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
