"""Shows a document at a passage, so that an answer can be checked against its citations."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from domain import CitationState, Principal, RetrievedPassage, Turn, is_on_web
from domain.errors import InputError, NotFoundError
from domain.messages import _
from services.access import Access
from services.library.document_parts import DocumentParts, Heading, document_parts
from services.library.document_style import Style, style_of
from services.library.text_search import find_words
from storage.ledger.conversation_store import Conversations
from storage.ledger.document_store import Documents, StoredDocument
from storage.ledger.passage_finder import CurrentVersion, PassageSpan, Reading, nearest_position

if TYPE_CHECKING:
    from langchain_core.documents import Document


Freshness = CurrentVersion
"""The stored version of a document and when it was imported."""


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
    """A document, or a part of a long one. All spans and positions refer to the document's text.

    `text` starts at `start`; `opening` is to be read before it (see `Part`). `focus` is the passage
    to show, empty if none was requested, and `marks` are the quotes. `part` counts from 1;
    `previous` and `next` are the starts of its neighbors, if any. `at` is the position shown
    instead of the focus, if any; `page` and `heading_path` belong to what is shown. `stored` is the
    current version, None if the document was removed. For evidence saved with a turn, `now` is the
    current position of its text, if any, and there are no headings and no other parts.
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
    opening: str = ""
    headings: tuple[Heading, ...] = ()
    part: int = 1
    parts: int = 1
    previous: int | None = None
    next: int | None = None
    pages: int = 0
    at: int | None = None
    now: Span | None = None
    question: str = ""

    @property
    def style(self) -> Style:
        """How the text is read."""
        return style_of(self.format, self.location)

    @property
    def has_pictures(self) -> bool:
        """Whether `page_image` may be able to render the page of this view."""
        return self.has_file and self.format == "pdf" and self.page is not None

    @property
    def has_file(self) -> bool:
        """Whether the document was read from a file on this machine."""
        is_elsewhere = is_on_web(self.location) or self.format == "place"
        return self.content is ViewContent.STORED and not is_elsewhere

    @property
    def quotes(self) -> list[str]:
        """The quotes, or else the passage to show, as far as they are in `text`."""
        spans = self.marks or (self.focus,)
        return [
            self.text[max(start - self.start, 0) : max(end - self.start, 0)] for start, end in spans
        ]


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
        format=source.format,
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


NOT_THERE = _("This document is not in the library: it was removed, or the link is incomplete.")


def require_document(
    documents: Documents, access: Access, principal: Principal, document_id: str
) -> StoredDocument:
    """The stored document; one that is hidden takes as long as one that does not exist.

    Raises:
        NotFoundError: It does not exist, or the principal may not read it.
    """
    readable = access.readable(principal)
    with suppress(NotFoundError):
        document = documents.get(document_id)
        if readable.includes(document.source_id, document_id):
            return document
    raise NotFoundError(NOT_THERE)


@dataclass(frozen=True)
class DocumentReader:
    """Shows documents of shared sources and of the principal's own conversations."""

    documents: Documents
    access: Access
    reading: Reading
    conversations: Conversations

    def freshness(self, principal: Principal, turns: Sequence[Turn]) -> Mapping[str, Freshness]:
        """By id, the stored versions of the documents of the turns' retrieved passages.

        Removed and invisible documents are omitted. Runs two queries, however many turns there are.
        """
        readable, _hidden, denied = self.access.readable(principal)
        ids = {source.document_id for turn in turns for source in turn.sources}
        return self.reading.versions(sorted(ids - denied.documents), list(readable))

    def view(
        self,
        principal: Principal,
        document_id: str,
        start: int = 0,
        end: int = 0,
        *,
        cited: Cited | None = None,
        at: int | None = None,
    ) -> DocumentView:
        """The document at a span; `cited` selects the answer whose quotes are marked.

        With `at`, this position is shown instead of the span. If the stored document differs from
        the cited one, shows the evidence saved with the turn.

        Raises:
            NotFoundError: The principal has no such document or turn, or the turn has no such
                retrieved passage of the document.
            InputError: The span is outside the document's text.
        """
        if cited is None:
            return self._view(self._require(principal, document_id), Span(start, end), at)
        if self.access.unreadable(principal, [document_id]):
            raise NotFoundError(NOT_THERE)
        document = self._find(principal, document_id)
        turn = self.conversations.turn(principal, cited.conversation_id, cited.turn_id)
        source = _source(turn, cited.n, document_id)
        if document is None or not self._is_as_cited(document, source):
            return saved_view(turn, source, *self._today(document, source))
        view = self._view(document, Span(start, end), at)
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

    def find(self, principal: Principal, document_id: str, words: str) -> tuple[Span, ...]:
        """Where the words occur in the stored text, in order (see `find_words`).

        The latest searches are cached, so a page may repeat its own on each rerun.

        Raises:
            NotFoundError: The principal has no such document.
        """
        document = self._require(principal, document_id)
        return _matches(self.documents, document.id, _version(document), words)

    def passages(
        self, principal: Principal, document_id: str, start: int = 0, limit: int = 10
    ) -> list["Document"]:
        """The first `limit` passages that end after `start`, like those of a search.

        Raises:
            NotFoundError: The principal has no such document.
        """
        document = self._require(principal, document_id)
        return self.documents.hydrate(self.reading.passage_ids(document.id, start, limit))

    def _require(self, principal: Principal, document_id: str) -> StoredDocument:
        return require_document(self.documents, self.access, principal, document_id)

    def _find(self, principal: Principal, document_id: str) -> StoredDocument | None:
        try:
            return self._require(principal, document_id)
        except NotFoundError:
            return None

    def _is_as_cited(self, document: StoredDocument, source: RetrievedPassage) -> bool:
        """Whether text and bytes are unchanged; a new reader version may extract different text."""
        if source.version and document.version != source.version:
            return False
        end = source.start + len(source.text)
        return self.reading.cut(document.id, source.start, end) == source.text

    def _view(self, document: StoredDocument, span: Span, at: int | None) -> DocumentView:
        _check_span(document, span)
        version, style = _version(document), style_of(document.format, document.location)
        headings, parts = contents = _contents(self.documents, document.id, version, style)
        i = contents.part_at(span.start if at is None else at)
        passages = self.reading.spans(document.id)
        passage = _nearest(passages, span)
        focus = Span(*passage[1:])
        has_mark = span.end > span.start and span != focus
        shown = passage if at is None else _nearest(passages, Span(at, at))
        return DocumentView(
            document_id=document.id,
            title=document.title,
            location=document.location,
            format=document.format,
            content=ViewContent.STORED,
            stored=version,
            text=self.reading.cut(document.id, parts[i].start, parts[i].end),
            start=parts[i].start,
            opening=parts[i].opening,
            focus=focus if span.end > span.start else Span(span.start, span.start),
            marks=(span,) if has_mark else (),
            page=document.page_at(at if at is not None else (span if has_mark else focus).start),
            pages=document.pages[-1][1] if document.pages else 0,
            heading_path=self.reading.headings(document.id, shown.ordinal),
            at=at,
            headings=headings,
            part=i + 1,
            parts=len(parts),
            previous=parts[i - 1].start if i else None,
            next=parts[i + 1].start if i + 1 < len(parts) else None,
        )

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


@lru_cache(maxsize=64)
def _contents(
    documents: Documents,
    document_id: str,
    version: Freshness,  # noqa: ARG001  # part of the cache key
    style: Style,
) -> DocumentParts:
    """The headings and parts of a stored version, to which the caller has checked the access."""
    return document_parts(documents.text(document_id), style)


@lru_cache(maxsize=16)
def _matches(
    documents: Documents,
    document_id: str,
    version: Freshness,  # noqa: ARG001  # part of the cache key
    words: str,
) -> tuple[Span, ...]:
    """The matches in a stored version, to which the caller has checked the access."""
    return tuple(Span(*span) for span in find_words(documents.text(document_id), words))


def _nearest_text(text: str, source: RetrievedPassage) -> Span | None:
    start = nearest_position(text, source.text, source.start)
    return None if start is None else Span(start, start + len(source.text))


def _check_span(document: StoredDocument, span: Span) -> None:
    if 0 <= span.start <= span.end <= document.characters:
        return
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


def _nearest(passages: Sequence[PassageSpan], span: Span) -> PassageSpan:
    """The passage with the largest overlap, or the last one before the span.

    If there are no passages, this is the span itself, with the ordinal -1.
    """

    def shared(passage: PassageSpan) -> int:
        return min(passage.end, max(span.end, span.start + 1)) - max(passage.start, span.start)

    return max(passages, key=shared, default=PassageSpan(-1, *span))
