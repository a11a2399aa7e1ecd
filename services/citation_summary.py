"""What checking found of an answer's citations, counted and in words.

Found words prove that they stand in the document, never that they answer the question; nothing here
may read as if they did.
"""

from collections.abc import Iterable
from typing import NamedTuple

from domain import Citation, CitationState

MEANING = (
    "A quote that was found stands in the document. Whether it answers the question is for the"
    " reader to judge."
)
_MATCHED = "found in the document, matched by the program"
_OUTCOMES = {CitationState.VERIFIED: "found in the document"}


class CitationCounts(NamedTuple):
    """How many citations had which outcome.

    `found` and `missing` are quotes of the answer. For a number without a quote the program
    `matched` a sentence of its source, or the citation is `unsupported`.
    """

    found: int
    missing: int
    matched: int
    unsupported: int


def count_citations(citations: Iterable[Citation]) -> CitationCounts:
    """The citations by outcome; each is counted once."""
    found = missing = matched = unsupported = 0
    for one in citations:
        is_found = one.state is CitationState.VERIFIED
        found += is_found and one.quoted_by_answer
        matched += is_found and not one.quoted_by_answer
        missing += not is_found and bool(one.quote)
        unsupported += not is_found and not one.quote
    return CitationCounts(found, missing, matched, unsupported)


def summarize(counts: CitationCounts) -> str:
    """The counts as English sentences; "" where there are none."""
    sentences = (
        _quotes(counts.found, counts.missing),
        f"Sentences matched by the program: {counts.matched}." if counts.matched else "",
        f"Citations without support: {counts.unsupported}." if counts.unsupported else "",
    )
    return " ".join(filter(None, sentences))


def describe(citation: Citation) -> str:
    """The outcome of checking one citation, as a phrase: `found in the document`, `not found`."""
    if citation.state is CitationState.VERIFIED and not citation.quoted_by_answer:
        return _MATCHED
    return _OUTCOMES.get(citation.state, citation.state.value)


def _quotes(found: int, missing: int) -> str:
    if missing:
        return f"{found} of {found + missing} quotes found in the documents; {missing} not found."
    noun = "quote" if found == 1 else "quotes"
    return f"{found} {noun} found in the documents." if found else ""
