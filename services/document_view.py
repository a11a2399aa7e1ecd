"""What a reader is shown of a document, and of what an answer cites of it."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from domain import CitationState, Source, Turn
from storage.reading import StoredVersion

Freshness = StoredVersion
"""Which version of a document is stored now, and when it was imported."""
WEB = ("http://", "https://")


class Span(NamedTuple):
    """A stretch of a document's text."""

    start: int
    end: int


class Cited(NamedTuple):
    """Source `n` of a turn: what a marker [n] points to."""

    conversation_id: str
    turn_id: str
    n: int


class Shown(StrEnum):
    """What a view shows: the stored text, or what was kept with the turn that cites it."""

    STORED = "stored"
    KEPT_CHANGED = "changed"
    KEPT_GONE = "gone"


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document around one passage. All spans count in the document's text, as `start` does.

    `text` begins at `start`; `focus` is the passage, `marks` are the quotes in it. `stored` is
    the version that answers now, None where the document is gone. Of evidence that was kept with
    a turn, `now` is where its passage stands today, where it does; then `previous`, `next` and
    the counts are empty.
    """

    document_id: str
    title: str
    location: str
    format: str
    shown: Shown
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
        """Whether `page_image` may have its page: of a PDF file, as it was imported."""
        is_file = self.format == "pdf" and not self.location.startswith(WEB)
        return is_file and self.page is not None and self.shown is Shown.STORED


def quotes_of(turn: Turn, source: Source) -> tuple[Span, ...]:
    """Where the turn's verified quotes from that source stand in the document's text."""
    return tuple(
        Span(citation.start, citation.end)
        for citation in turn.citations
        if citation.n == source.n and citation.state is CitationState.VERIFIED
    )


def with_quotes(view: DocumentView, turn: Turn, source: Source) -> DocumentView:
    """The view with the turn's quotes marked, in place of the span it was opened at."""
    return replace(view, marks=quotes_of(turn, source), question=turn.question)


def kept_view(
    turn: Turn, source: Source, stored: Freshness | None, now: Span | None
) -> DocumentView:
    """The passage as it was kept with the turn, for what is stored is another, or nothing."""
    return DocumentView(
        document_id=source.document_id,
        title=source.title,
        location=source.location,
        format="",
        shown=Shown.KEPT_GONE if stored is None else Shown.KEPT_CHANGED,
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
