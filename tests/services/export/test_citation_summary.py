"""The outcome of checking reads as words that were found, never as a right answer."""

import pytest

from domain import Citation, CitationState
from services.export.answer_text import CitationCounts, count_citations, describe, summarize

FOUND = Citation(1, CitationState.VERIFIED, "25 days")
MATCHED = Citation(1, CitationState.VERIFIED, "25 days", quoted_by_answer=False)
MISSING = Citation(1, CitationState.NOT_FOUND, "27 days")
UNSUPPORTED = Citation(1, CitationState.NOT_FOUND, "", quoted_by_answer=False)
INVENTED = Citation(9, CitationState.NO_SUCH_SOURCE, "")


def test_quotes_and_what_the_program_matched_are_counted_apart() -> None:
    counts = count_citations([FOUND, FOUND, MATCHED, MISSING, UNSUPPORTED, INVENTED])
    assert counts == CitationCounts(found=2, missing=1, matched=1, unsupported=2)


@pytest.mark.parametrize(
    ("citations", "told"),
    [
        ([FOUND], "1 quote found in the documents."),
        ([FOUND, FOUND], "2 quotes found in the documents."),
        ([FOUND, MISSING], "1 of 2 quotes found in the documents; 1 not found."),
        ([MATCHED], "Sentences matched by the program: 1."),
        ([UNSUPPORTED, INVENTED], "Citations without support: 2."),
        ([], ""),
    ],
)
def test_the_summary_says_what_was_found_where(citations: list[Citation], told: str) -> None:
    assert summarize(count_citations(citations)) == told


@pytest.mark.parametrize(
    ("citation", "told"),
    [
        (FOUND, "found in the document"),
        (MATCHED, "found in the document, matched by the program"),
        (MISSING, "not found"),
        (INVENTED, "no such source"),
    ],
)
def test_each_outcome_has_its_words(citation: Citation, told: str) -> None:
    assert describe(citation) == told
