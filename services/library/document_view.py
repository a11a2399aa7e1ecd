"""What the document page shows: the text of a document, or the evidence saved with a turn."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from domain import CitationState, RetrievedPassage, Turn, is_on_web
from services.library.document_parts import Heading
from services.library.document_style import Style, style_of
from storage.ledger.passage_finder import CurrentVersion

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
