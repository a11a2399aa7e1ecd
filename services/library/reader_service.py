"""Shows a document around a passage, so that an answer can be checked against its citations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain import CitationState, Principal, RetrievedPassage, Turn
from domain.messages import _
from errors import InputError, NotFoundError, UnreadableError
from services.access import own_sources, sees
from storage.ledger.conversation_store import Conversations
from storage.ledger.document_store import Documents, StoredDocument
from storage.ledger.passage_finder import CurrentVersion, PassageSpan, Reading, nearest_position
from storage.ledger.source_store import Sources

if TYPE_CHECKING:
    from langchain_core.documents import Document


Freshness = CurrentVersion
"""The stored version of a document and when it was imported."""
WEB = ("http://", "https://")


class Span(NamedTuple):
    """A range of a document's text."""

    start: int
    end: int


class Cited(NamedTuple):
    """Retrieved passage `n` of a turn, the target of marker [n]."""

    conversation_id: str
    turn_id: str
    n: int


class ViewContent(StrEnum):
    """What a view shows: the stored text, or the evidence saved with the turn that cites it."""

    STORED = "stored"
    SAVED_CHANGED = "changed"
    SAVED_REMOVED = "gone"


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document around one passage. All spans refer to the document's text.

    `text` starts at `start`; `focus` is the passage, and `marks` are the quotes in it. `stored` is
    the current version, None if the document was removed. For evidence saved with a turn, `now` is
    the current position of its text, if any, and `previous`, `next`, and the counts are empty.
    """

    document_id: str
    title: str
    location: str
    format: str
    content: ViewContent
    stored: Freshness | None
    text: str
    start: int
    focus: Span
    marks: tuple[Span, ...] = ()
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    ordinal: int = 0
    passages: int = 0
    previous: Span | None = None
    next: Span | None = None
    now: Span | None = None
    question: str = ""

    @property
    def has_pictures(self) -> bool:
        """Whether `page_image` may be able to render the page of this view."""
        is_file = self.format == "pdf" and not self.location.startswith(WEB)
        return is_file and self.page is not None and self.content is ViewContent.STORED


def quotes_of(turn: Turn, source: RetrievedPassage) -> tuple[Span, ...]:
    """The spans of the turn's verified quotes from this retrieved passage."""
    return tuple(
        Span(citation.start, citation.end)
        for citation in turn.citations
        if citation.n == source.n and citation.state is CitationState.VERIFIED
    )


def saved_view(
    turn: Turn, source: RetrievedPassage, stored: Freshness | None, now: Span | None
) -> DocumentView:
    """The passage saved with the turn, because the document has changed or was removed."""
    return DocumentView(
        document_id=source.document_id,
        title=source.title,
        location=source.location,
        format="",
        content=ViewContent.SAVED_REMOVED if stored is None else ViewContent.SAVED_CHANGED,
        stored=stored,
        text=source.text,
        start=source.start,
        focus=Span(source.start, source.start + len(source.text)),
        marks=quotes_of(turn, source),
        page=source.page,
        heading_path=source.heading_path,
        now=now,
        question=turn.question,
    )


__all__ = ["Cited", "DocumentReader", "DocumentView", "Freshness", "Span", "ViewContent"]

NOT_THERE = _("This document is not in the library: it was removed, or the link is incomplete.")
_AROUND = 250  # characters before and after the passage; small, so that the quote is visible
_WHITE_SPACE = re.compile(r"\s+")
_UNCUT = 1000  # characters on either side of the span in a document without passages


@dataclass(frozen=True)
class DocumentReader:
    """Shows documents of shared sources and of the principal's own conversations."""

    documents: Documents
    sources: Sources
    reading: Reading
    conversations: Conversations

    def freshness(self, principal: Principal, turns: Sequence[Turn]) -> Mapping[str, Freshness]:
        """By id, the stored versions of the documents of the turns' retrieved passages.

        Removed and invisible documents are omitted. Runs two queries, however many turns there are.
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
        """The document around a span; `cited` selects the answer whose quotes are marked.

        If the stored document differs from the cited one, shows the evidence saved with the turn.

        Raises:
            NotFoundError: The principal has no such document or turn, or the turn has no such
                retrieved passage of the document.
            InputError: The span is outside the document's text.
        """
        if cited is None:
            return self._view(self._require(principal, document_id), Span(start, end))
        document = self._stored(principal, document_id)
        turn = self.conversations.turn(principal, cited.conversation_id, cited.turn_id)
        source = _source(turn, cited.n, document_id)
        if document is None or not self._is_as_cited(document, source):
            return saved_view(turn, source, *self._today(document, source))
        view = self._view(document, Span(start, end))
        return replace(view, marks=quotes_of(turn, source), question=turn.question)

    def text(
        self, principal: Principal, document_id: str, start: int = 0, end: int | None = None
    ) -> str:
        """A slice of the stored text, clipped to its length.

        Raises:
            NotFoundError: The principal has no such document.
        """
        document = self._require(principal, document_id)
        until = document.characters if end is None else end
        return self.reading.cut(document.id, start, until) if until > start else ""

    def passages(
        self, principal: Principal, document_id: str, start: int = 0, limit: int = 10
    ) -> list["Document"]:
        """The first `limit` passages that end after `start`, like those of a search.

        Raises:
            NotFoundError: The principal has no such document.
        """
        document = self._require(principal, document_id)
        return self.documents.hydrate(self.reading.passage_ids(document.id, start, limit))

    def page_image(self, principal: Principal, document_id: str, page: int) -> bytes:
        """A page of the original PDF, counted from 1, as PNG.

        Raises:
            NotFoundError: The principal has no such document.
            UnreadableError: The document is not a PDF file, the file has changed since its import,
                or the page can't be rendered.
        """
        document = self._require(principal, document_id)
        if document.format != "pdf" or document.location.startswith(WEB):
            raise UnreadableError(
                _("{title} is not a PDF file, so it has no pages to show.").format(
                    title=document.title
                )
            )
        from loaders.formats.pdf import original_bytes, page_png  # slow to import

        return page_png(original_bytes(Path(document.location), document.version), page)

    def _require(self, principal: Principal, document_id: str) -> StoredDocument:
        document = self._stored(principal, document_id)
        if document is None:
            raise NotFoundError(NOT_THERE)
        return document

    def _stored(self, principal: Principal, document_id: str) -> StoredDocument | None:
        """The document, if it exists and is visible."""
        try:
            document = self.documents.get(document_id)
        except NotFoundError:
            return None
        return document if sees(self.sources, principal, document.source_id) else None

    def _is_as_cited(self, document: StoredDocument, source: RetrievedPassage) -> bool:
        """Whether text and bytes are unchanged; a new reader version may extract different text."""
        if source.version and document.version != source.version:
            return False
        end = source.start + len(source.text)
        return self.reading.cut(document.id, source.start, end) == source.text

    def _view(self, document: StoredDocument, span: Span) -> DocumentView:
        if not 0 <= span.start <= span.end <= document.characters:
            raise InputError(
                _(
                    "The link points to characters {start} to {end}, but {title} has {characters}:"
                    " open it from the beginning."
                ).format(
                    start=f"{span.start:,}",
                    end=f"{span.end:,}",
                    title=document.title,
                    characters=f"{document.characters:,}",
                )
            )
        spans = self.reading.spans(document.id) or [_span_around(span, document.characters)]
        i = _nearest(spans, span)
        focus = Span(*spans[i][1:])
        first, text = self._around(document.id, focus)
        has_mark = span.end > span.start and span != focus
        return DocumentView(
            document_id=document.id,
            title=document.title,
            location=document.location,
            format=document.format,
            content=ViewContent.STORED,
            stored=_version(document),
            text=text,
            start=first,
            focus=focus,
            marks=(span,) if has_mark else (),
            page=_page(document, span.start if has_mark else focus.start),
            heading_path=self.reading.headings(document.id, spans[i].ordinal),
            ordinal=i + 1,
            passages=len(spans),
            previous=Span(*spans[i - 1][1:]) if i else None,
            next=Span(*spans[i + 1][1:]) if i + 1 < len(spans) else None,
        )

    def _around(self, document_id: str, focus: Span) -> tuple[int, str]:
        """The passage with some context on both sides, starting at a word boundary if possible."""
        first = max(focus.start - _AROUND, 0)
        text = self.reading.cut(document_id, first, focus.end + _AROUND)
        gap = _WHITE_SPACE.search(text, 0, focus.start - first) if first else None
        skipped = gap.end() if gap else 0
        return first + skipped, text[skipped:]

    def _today(
        self, document: StoredDocument | None, source: RetrievedPassage
    ) -> tuple[Freshness | None, Span | None]:
        """The stored version, and the current position of the retrieved passage's text in it."""
        if document is None:
            return None, None
        return _version(document), _nearest_text(self.documents.text(document.id), source)


def _source(turn: Turn, n: int, document_id: str) -> RetrievedPassage:
    for source in turn.sources:
        if source.n == n and source.document_id == document_id:
            return source
    raise NotFoundError(
        _(
            "Passage [{n}] of the answer is not from this document: open the document from the"
            " chat."
        ).format(n=n)
    )


def _version(document: StoredDocument) -> Freshness:
    return Freshness(document.version, document.revision, document.imported_at)


def _nearest_text(text: str, source: RetrievedPassage) -> Span | None:
    start = nearest_position(text, source.text, source.start)
    return None if start is None else Span(start, start + len(source.text))


def _span_around(span: Span, characters: int) -> PassageSpan:
    return PassageSpan(0, max(span.start - _UNCUT, 0), min(span.end + _UNCUT, characters))


def _nearest(spans: Sequence[PassageSpan], span: Span) -> int:
    """The index of the passage with the largest overlap, or of the last one before the span."""

    def shared(passage: PassageSpan) -> int:
        return min(passage.end, max(span.end, span.start + 1)) - max(passage.start, span.start)

    return max(range(len(spans)), key=lambda i: shared(spans[i]))


def _page(document: StoredDocument, at: int) -> int | None:
    """The number of the page that contains the character at this offset."""
    return next((page for start, page in reversed(document.pages) if start <= at), None)
