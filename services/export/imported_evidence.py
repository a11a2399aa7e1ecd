"""Checks the evidence of an imported conversation again: anyone may have written the file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from chains.citations.quotes import QuoteFinder
from domain import Citation, CitationState, Principal, RetrievedPassage, Turn
from domain.errors import NotFoundError
from services.access import sees
from services.export.answer_text import safe_answer
from storage.ledger.document_store import Documents, StoredDocument
from storage.ledger.source_store import Sources

_TEXTS = 8
"""The number of documents that are in memory at once."""
_AROUND_CHARS = 200
"""The characters on each side of a quote that show whether it cuts a word or is a heading."""


class _Known(NamedTuple):
    """A passage as this library contains it, and the text of its document."""

    passage: RetrievedPassage
    text: str


@dataclass(frozen=True)
class ImportedEvidence:
    """Compares imported passages and quotes with the documents of this library."""

    documents: Documents
    sources: Sources

    def check(self, principal: Principal, turns: Iterable[Turn]) -> list[Turn]:
        """The turns with the evidence that this library confirms, and with safe answers.

        A passage that a document visible to the principal contains gets its title, location, and
        position from the library. A verified citation stays verified if that document contains its
        quote; otherwise, it becomes `not verified here`.
        """

        @lru_cache(maxsize=_TEXTS)
        def read(document_id: str) -> tuple[StoredDocument, str] | None:
            return self._read(principal, document_id)

        return [_checked_turn(turn, read) for turn in turns]

    def _read(self, principal: Principal, document_id: str) -> tuple[StoredDocument, str] | None:
        try:
            document = self.documents.get(document_id)
            if not sees(self.sources, principal, document.source_id):
                return None
            return document, self.documents.text(document_id)
        except NotFoundError:
            return None


def _checked_turn(turn: Turn, read: Callable[[str], tuple[StoredDocument, str] | None]) -> Turn:
    known = {source.n: _known(source, read(source.document_id)) for source in turn.sources}
    sources = [(known[source.n], source) for source in turn.sources]
    return replace(
        turn,
        answer=safe_answer(turn.answer),
        sources=tuple(found.passage if found else source for found, source in sources),
        citations=tuple(_checked(one, known.get(one.n)) for one in turn.citations),
    )


def _known(source: RetrievedPassage, stored: tuple[StoredDocument, str] | None) -> _Known | None:
    """The passage with the library's facts about it; None if its document does not contain it."""
    if stored is None:
        return None
    document, text = stored
    start = source.start if text.startswith(source.text, max(source.start, 0)) else -1
    start = start if start >= 0 else text.find(source.text)
    if start < 0 or not source.text:
        return None
    facts = {name: getattr(document, name) for name in ("title", "location", "version", "format")}
    return _Known(replace(source, start=start, **facts), text)


def _checked(citation: Citation, known: _Known | None) -> Citation:
    if citation.state is not CitationState.VERIFIED:
        return citation
    start = _position(citation, known) if known else -1
    if known is None or start < 0:
        return replace(citation, state=CitationState.NOT_VERIFIED, start=-1, end=-1)
    passage = known.passage
    return replace(
        citation,
        title=passage.title,
        location=passage.location,
        document_id=passage.document_id,
        passage_id=passage.passage_id,
        version=passage.version,
        page=passage.page,
        heading_path=passage.heading_path,
        passage_text=passage.text,
        start=start,
        end=start + len(citation.quote),
    )


def _position(citation: Citation, known: _Known) -> int:
    """Where the document states the words of the quote; -1 if it does not."""
    quote, text = citation.quote, known.text
    for start in (citation.start, text.find(quote)):
        if start >= 0 and text.startswith(quote, start):
            before = max(0, start - _AROUND_CHARS)
            around = text[before : start + len(quote) + _AROUND_CHARS]
            if QuoteFinder(around).find_statement(quote):
                return start
    return -1
