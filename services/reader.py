"""Reading a document at a passage, so that an answer can be checked against what it cites."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain import Principal, Source, Turn
from errors import InputError, NotFoundError, UnreadableError
from services.document_view import (
    WEB,
    Cited,
    DocumentView,
    Freshness,
    Shown,
    Span,
    kept_view,
    with_quotes,
)
from services.own_sources import own_sources, sees
from storage.documents import Documents, StoredDocument
from storage.passage_finder import nearest_place
from storage.reading import Place, Reading
from storage.sources import Sources

if TYPE_CHECKING:
    from langchain_core.documents import Document

__all__ = ["Cited", "DocumentReader", "DocumentView", "Freshness", "Shown", "Span"]

NOT_THERE = "This document is not in the library: it was removed, or the link is not whole."
_AROUND = 250  # characters shown before and after the passage: the quote is to be seen at once
_WHITE_SPACE = re.compile(r"\s+")
_UNCUT = 1000  # characters shown of a document that has no passages, on either side of the span


@dataclass(frozen=True)
class DocumentReader:
    """Shows stored documents: everybody's, and what a person put into their own conversations.

    `turn` gives a turn that a person owns, or raises NotFoundError.
    """

    documents: Documents
    sources: Sources
    reading: Reading
    turn: Callable[[Principal, str, str], Turn]
    original_bytes: Callable[[Path, str], bytes]
    page_png: Callable[[bytes, int], bytes]

    def freshness(self, principal: Principal, turns: Sequence[Turn]) -> Mapping[str, Freshness]:
        """By document id, the stored version of every document that the turns' sources are from.

        Documents that are gone, or are not for that person, are left out. However many turns
        there are, the queries are two.
        """
        ids = {source.document_id for turn in turns for source in turn.sources}
        return self.reading.versions(sorted(ids), list(own_sources(self.sources, principal)))

    def view(
        self,
        principal: Principal,
        document_id: str,
        start: int = 0,
        end: int = 0,
        *,
        cited: Cited | None = None,
    ) -> DocumentView:
        """The document around a span; `cited` tells which answer's quotes to mark.

        Where the document is not stored any more as the turn cites it, the evidence that was
        kept with the turn is shown.

        Raises:
            NotFoundError: There is no such document for the person, or they have no such turn,
                or it has no such source of that document.
            InputError: The document's text has no such span.
        """
        document = self._stored(principal, document_id)
        if cited is not None:
            turn = self.turn(principal, cited.conversation_id, cited.turn_id)
            source = _source(turn, cited.n, document_id)
            if document is None or not self._is_as_cited(document, source):
                return kept_view(turn, source, *self._today(document, source))
            return with_quotes(self._view(document, Span(start, end)), turn, source)
        if document is None:
            raise NotFoundError(NOT_THERE)
        return self._view(document, Span(start, end))

    def text(
        self, principal: Principal, document_id: str, start: int = 0, end: int | None = None
    ) -> str:
        """The stored text from one character to before another, which the spans count in.

        What lies behind its end is left out.

        Raises:
            NotFoundError: There is no such document for the person.
        """
        document = self._known(principal, document_id)
        until = document.characters if end is None else end
        return self.reading.cut(document.id, start, until) if until > start else ""

    def passages(
        self, principal: Principal, document_id: str, start: int = 0, limit: int = 10
    ) -> list["Document"]:
        """The first `limit` passages that end behind that character, as a search gives them.

        Raises:
            NotFoundError: There is no such document for the person.
        """
        document = self._known(principal, document_id)
        return self.documents.hydrate(self.reading.passage_ids(document.id, start, limit))

    def page_image(self, principal: Principal, document_id: str, page: int) -> bytes:
        """A page of the original PDF, counted from 1, as PNG.

        Raises:
            NotFoundError: There is no such document for the person.
            UnreadableError: It is no PDF file, the file is not the imported one any more, or the
                page can't be drawn.
        """
        document = self._known(principal, document_id)
        if document.format != "pdf" or document.location.startswith(WEB):
            raise UnreadableError(f"{document.title} is no PDF file: it has no pages to draw.")
        data = self.original_bytes(Path(document.location), document.version)
        return self.page_png(data, page)

    def _known(self, principal: Principal, document_id: str) -> StoredDocument:
        document = self._stored(principal, document_id)
        if document is None:
            raise NotFoundError(NOT_THERE)
        return document

    def _stored(self, principal: Principal, document_id: str) -> StoredDocument | None:
        """The document, where there is one that the person may see."""
        try:
            document = self.documents.get(document_id)
        except NotFoundError:
            return None
        return document if sees(self.sources, principal, document.source_id) else None

    def _is_as_cited(self, document: StoredDocument, source: Source) -> bool:
        """Whether the text still stands where it was: the same bytes may be read otherwise."""
        if source.version and document.version != source.version:
            return False
        end = source.start + len(source.text)
        return self.reading.cut(document.id, source.start, end) == source.text

    def _view(self, document: StoredDocument, span: Span) -> DocumentView:
        if not 0 <= span.start <= span.end <= document.characters:
            raise InputError(
                f"The link asks for characters {span.start:,} to {span.end:,}, but"
                f" {document.title} has {document.characters:,}: open it from its beginning."
            )
        places = self.reading.places(document.id) or [_place_around(span, document.characters)]
        i = _nearest(places, span)
        focus = Span(*places[i][1:])
        first, text = self._around(document.id, focus)
        marked = span.end > span.start and span != focus
        return DocumentView(
            document_id=document.id,
            title=document.title,
            location=document.location,
            format=document.format,
            shown=Shown.STORED,
            stored=_version(document),
            text=text,
            start=first,
            focus=focus,
            marks=(span,) if marked else (),
            page=_page(document, span.start if marked else focus.start),
            heading_path=self.reading.headings(document.id, places[i].ordinal),
            ordinal=i + 1,
            passages=len(places),
            previous=Span(*places[i - 1][1:]) if i else None,
            next=Span(*places[i + 1][1:]) if i + 1 < len(places) else None,
        )

    def _around(self, document_id: str, focus: Span) -> tuple[int, str]:
        """The passage with a little on either side, from where a word begins, if one does."""
        first = max(focus.start - _AROUND, 0)
        text = self.reading.cut(document_id, first, focus.end + _AROUND)
        gap = _WHITE_SPACE.search(text, 0, focus.start - first) if first else None
        skipped = gap.end() if gap else 0
        return first + skipped, text[skipped:]

    def _today(
        self, document: StoredDocument | None, source: Source
    ) -> tuple[Freshness | None, Span | None]:
        """The version stored, and where the source's very text stands in it."""
        if document is None:
            return None, None
        return _version(document), _nearest_text(self.documents.text(document.id), source)


def _source(turn: Turn, n: int, document_id: str) -> Source:
    for source in turn.sources:
        if source.n == n and source.document_id == document_id:
            return source
    raise NotFoundError(f"The answer has no source [{n}] of this document: open it from the chat.")


def _version(document: StoredDocument) -> Freshness:
    return Freshness(document.version, document.revision, document.imported_at)


def _nearest_text(text: str, source: Source) -> Span | None:
    start = nearest_place(text, source.text, source.start)
    return None if start is None else Span(start, start + len(source.text))


def _place_around(span: Span, characters: int) -> Place:
    return Place(0, max(span.start - _UNCUT, 0), min(span.end + _UNCUT, characters))


def _nearest(places: Sequence[Place], span: Span) -> int:
    """The index of the passage that shares most with the span, else of the last before it."""

    def shared(place: Place) -> int:
        return min(place.end, max(span.end, span.start + 1)) - max(place.start, span.start)

    return max(range(len(places)), key=lambda i: shared(places[i]))


def _page(document: StoredDocument, at: int) -> int | None:
    """The page on which that character stands."""
    return next((page for start, page in reversed(document.pages) if start <= at), None)
