"""Checks the evidence of an imported conversation again: anyone may have written the file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

from chains.citations.quotes import QuoteFinder, citation_of
from domain import Citation, CitationState, Principal, RetrievedPassage, Turn
from domain.errors import NotFoundError
from services.access import Access
from services.export.answer_text import safe_answer
from storage.ledger.document_store import Documents, StoredDocument

_TEXTS = 8
"""The number of documents that are in memory at once."""
_AROUND_CHARS = 200
"""The characters on each side of a quote that show whether it cuts a word or is a heading."""

_MAX_OCCURRENCES = 100
"""The number of places in a document where a quote is checked."""

_Read = Callable[[str], tuple[StoredDocument, str] | None]
_Passages = Mapping[str, Mapping[str, Any]]
"""The metadata of passages that this library contains, by id."""


class _Known(NamedTuple):
    """A passage as this library contains it, and the text of its document."""

    passage: RetrievedPassage
    text: str


@dataclass(frozen=True)
class ImportedEvidence:
    """Compares imported passages and quotes with the documents of this library."""

    documents: Documents
    access: Access

    def check(self, principal: Principal, turns: Iterable[Turn]) -> list[Turn]:
        """The turns with the evidence that this library confirms, and with safe answers.

        A passage that a document visible to the principal contains gets all facts about it from the
        library. Any other loses its document, location, and explanation. A verified citation stays
        verified if that document contains its quote; otherwise, it becomes `not verified here`.
        """
        read = lru_cache(maxsize=_TEXTS)(partial(self._read, principal))
        return [_checked_turn(turn, read, self._passages(turn)) for turn in turns]

    def _passages(self, turn: Turn) -> _Passages:
        ids = {source.passage_id for source in turn.sources}
        return {one.id or "": one.metadata for one in self.documents.hydrate(sorted(ids))}

    def _read(self, principal: Principal, document_id: str) -> tuple[StoredDocument, str] | None:
        try:
            document = self.documents.get(document_id)
            if not self.access.reads(principal, document.source_id, document_id):
                return None
            return document, self.documents.text(document_id)
        except NotFoundError:
            return None


def _checked_turn(turn: Turn, read: _Read, passages: _Passages) -> Turn:
    known = {one.n: _known(one, read(one.document_id), passages) for one in turn.sources}
    sources = [(known[source.n], source) for source in turn.sources]
    return replace(
        turn,
        answer=safe_answer(turn.answer),
        sources=tuple(
            found.passage if found else _unknown(source, passages) for found, source in sources
        ),
        citations=tuple(_checked(one, known.get(one.n)) for one in turn.citations),
    )


def _known(
    source: RetrievedPassage, stored: tuple[StoredDocument, str] | None, passages: _Passages
) -> _Known | None:
    """The passage with the library's facts about it; None if its document does not contain it."""
    if stored is None:
        return None
    document, text = stored
    start = source.start if text.startswith(source.text, max(source.start, 0)) else -1
    start = start if start >= 0 else text.find(source.text)
    if start < 0 or not source.text:
        return None
    facts = {name: getattr(document, name) for name in ("title", "location", "version", "format")}
    passage = passages.get(source.passage_id, {})
    is_part = passage.get("document_id") == document.id and (
        passage["start"] < start + len(source.text) and start < passage["end"]
    )
    found = replace(
        _without_explanation(source),
        passage_id=source.passage_id if is_part or not passage else "",
        start=start,
        page=document.page_at(start),
        heading_path=tuple(passage["heading_path"]) if is_part else (),
        **facts,
    )
    return _Known(found, text)


def _unknown(source: RetrievedPassage, passages: _Passages) -> RetrievedPassage:
    """The passage without what would make it look like a part of this library."""
    passage_id = "" if source.passage_id in passages else source.passage_id
    return replace(_without_explanation(source), passage_id=passage_id, document_id="", location="")


def _without_explanation(source: RetrievedPassage) -> RetrievedPassage:
    return replace(source, score=None, why=None, hits=())


def _checked(citation: Citation, known: _Known | None) -> Citation:
    if known is None:
        checked = replace(citation, document_id="", location="", passage_id="")
    else:
        checked = _with_facts(citation, known.passage)
    if citation.state is not CitationState.VERIFIED:
        return checked
    start = _position(citation, known) if known else -1
    if start < 0:
        return replace(checked, state=CitationState.NOT_VERIFIED, start=-1, end=-1)
    return replace(checked, start=start, end=start + len(citation.quote))


def _with_facts(citation: Citation, passage: RetrievedPassage) -> Citation:
    return replace(
        citation_of(passage, citation.state, citation.quote),
        start=citation.start,
        end=citation.end,
        quoted_by_answer=citation.quoted_by_answer,
    )


def _position(citation: Citation, known: _Known) -> int:
    """Where the document states the words of the quote; -1 if it does not."""
    quote, text = citation.quote, known.text
    for start in islice(_occurrences(citation, text), _MAX_OCCURRENCES):
        before = max(0, start - _AROUND_CHARS)
        around = text[before : start + len(quote) + _AROUND_CHARS]
        if QuoteFinder(around).find_statement(quote):
            return start
    return -1


def _occurrences(citation: Citation, text: str) -> Iterator[int]:
    """The places of the quote in the text: the recorded one, then all in order."""
    quote = citation.quote
    if citation.start >= 0 and text.startswith(quote, citation.start):
        yield citation.start
    start = text.find(quote) if quote else -1
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)
