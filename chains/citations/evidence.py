"""Looks up the quotes of an answer in the stored documents."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from chains.citations.quotes import QuoteFinder, proves_something
from chains.citations.support import find_support
from domain import Citation, CitationState, RetrievedPassage

NEAR_CHARS = 500_000
"""Characters before and after the passage that are searched for a quote.

This covers all but huge documents entirely.
"""


def citation_of(passage: RetrievedPassage, state: CitationState, quote: str) -> Citation:
    """A citation of the passage, without the position of the quote."""
    return Citation(
        n=passage.n,
        state=state,
        quote=quote,
        title=passage.title,
        location=passage.location,
        document_id=passage.document_id,
        passage_id=passage.passage_id,
        version=passage.version,
        page=passage.page,
        heading_path=passage.heading_path,
        passage_text=passage.text,
    )


class Evidence:
    """Looks up quotes in a retrieved passage and in the stored document around it."""

    def __init__(
        self, passage: RetrievedPassage, document_text: Callable[[str], str | None]
    ) -> None:
        self._passage = passage
        self._document_text = document_text
        self._by_quote: dict[str, Citation | None] = {}

    def check(self, quote: str, statement: str) -> Citation:
        """The citation of a marker with this quote, or with this statement if it has no quote.

        A quote that proves nothing, because it is too short or a heading, must occur in the passage
        or its headings, and the statement is checked in its place.
        """
        if not quote:
            return self._supporting(statement)
        if citation := self.cite(quote):
            return citation
        return self._supporting(statement) if self._contains(quote) else self._missing(quote)

    def cite(self, quote: str) -> Citation | None:
        """The verified citation of the quote, None if it is not found or proves nothing.

        It is the same for each call.
        """
        if quote not in self._by_quote:
            self._by_quote[quote] = self._find_quote(quote) if proves_something(quote) else None
        return self._by_quote[quote]

    def _contains(self, words: str) -> bool:
        """Whether the passage or one of its headings contains the words."""
        headings = map(QuoteFinder, (self._passage.title, *self._passage.heading_path))
        return any(finder.find_words(words) for finder in (self._in_passage, *headings))

    def _find_quote(self, quote: str) -> Citation | None:
        span = self._in_passage.find_statement(quote)
        if span:
            return self._span_citation(*span)
        text, start = self._surroundings
        span = self._in_surroundings.find_statement(quote)
        if span is None:
            return None
        return replace(
            self._citation(CitationState.VERIFIED, text[slice(*span)]),
            start=start + span[0],
            end=start + span[1],
        )

    def _supporting(self, statement: str) -> Citation:
        headings = " \n".join((self._passage.title, *self._passage.heading_path))
        span = find_support(statement, self._passage.text, headings)
        citation = self._span_citation(*span) if span else self._missing("")
        return replace(citation, quoted_by_answer=False)

    def _span_citation(self, start: int, end: int) -> Citation:
        """The citation of a span of the passage; its offsets are -1 if the document has changed."""
        citation = self._citation(CitationState.VERIFIED, self._passage.text[start:end])
        if self._offset < 0:
            return citation
        return replace(citation, start=self._offset + start, end=self._offset + end)

    def _missing(self, quote: str) -> Citation:
        return self._citation(CitationState.NOT_FOUND, quote)

    def _citation(self, state: CitationState, quote: str) -> Citation:
        return citation_of(self._passage, state, quote)

    @cached_property
    def _in_passage(self) -> QuoteFinder:
        return QuoteFinder(self._passage.text)

    @cached_property
    def _in_surroundings(self) -> QuoteFinder:
        return QuoteFinder(self._surroundings[0])

    @cached_property
    def _text(self) -> str:
        return self._document_text(self._passage.document_id) or ""

    @cached_property
    def _offset(self) -> int:
        passage, start = self._passage.text, self._passage.start
        if not passage:
            return -1
        if self._text.startswith(passage, start):
            return start
        return self._text.find(passage)  # the document has changed

    @cached_property
    def _surroundings(self) -> tuple[str, int]:
        start = max(0, self._offset - NEAR_CHARS)
        return self._text[start : start + len(self._passage.text) + 2 * NEAR_CHARS], start
