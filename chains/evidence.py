"""Looking quotes up in what one source's document says."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from chains.quotes import QuoteFinder, proves_something
from chains.support import find_support
from domain import Citation, CitationState, Source

NEAR_CHARS = 500_000
"""How far around the passage a quote is looked for: all of any document but a huge one."""


class Evidence:
    """One source: its passage, and around it the document as it is stored."""

    def __init__(self, source: Source, document_text: Callable[[str], str | None]) -> None:
        self._source = source
        self._document_text = document_text

    def check(self, quote: str, statement: str) -> Citation:
        """What checking a marker gives: with its quote, or the statement where it has none.

        A quote too short to prove anything only helps if it occurs in the passage; then the
        statement is looked at instead.
        """
        if not quote:
            return self._supporting(statement)
        if not proves_something(quote):
            occurs = self._in_passage.find_words(quote) is not None
            return self._supporting(statement) if occurs else self._missing(quote)
        return self._quoted(quote) or self._missing(quote)

    def _quoted(self, quote: str) -> Citation | None:
        found = self._in_passage.find(quote)
        if found:
            return self._verified(*found)
        text, start = self._surroundings
        found = QuoteFinder(text).find(quote) if text else None
        if found is None:
            return None
        return replace(
            self._citation(CitationState.VERIFIED, text[slice(*found)]),
            start=start + found[0],
            end=start + found[1],
        )

    def _supporting(self, statement: str) -> Citation:
        headings = " \n".join((self._source.title, *self._source.heading_path))
        found = find_support(statement, self._source.text, headings)
        citation = self._verified(*found) if found else self._missing("")
        return replace(citation, quoted_by_answer=False)

    def _verified(self, start: int, end: int) -> Citation:
        """The citation for a span of the passage; -1 where the document has changed since."""
        citation = self._citation(CitationState.VERIFIED, self._source.text[start:end])
        if self._offset < 0:
            return citation
        return replace(citation, start=self._offset + start, end=self._offset + end)

    def _missing(self, quote: str) -> Citation:
        return self._citation(CitationState.NOT_FOUND, quote)

    def _citation(self, state: CitationState, quote: str) -> Citation:
        source = self._source
        return Citation(
            n=source.n,
            state=state,
            quote=quote,
            title=source.title,
            location=source.location,
            document_id=source.document_id,
            passage_id=source.passage_id,
            version=source.version,
            page=source.page,
            heading_path=source.heading_path,
            passage_text=source.text,
        )

    @cached_property
    def _in_passage(self) -> QuoteFinder:
        return QuoteFinder(self._source.text)

    @cached_property
    def _text(self) -> str:
        return self._document_text(self._source.document_id) or ""

    @cached_property
    def _offset(self) -> int:
        passage, start = self._source.text, self._source.start
        if not passage:
            return -1
        if self._text.startswith(passage, start):
            return start
        return self._text.find(passage)  # the document has changed since

    @cached_property
    def _surroundings(self) -> tuple[str, int]:
        start = max(0, self._offset - NEAR_CHARS)
        return self._text[start : start + len(self._source.text) + 2 * NEAR_CHARS], start
