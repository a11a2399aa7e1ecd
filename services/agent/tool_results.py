"""The content of tool results for the model, and their artifacts for programs."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from langchain_core.documents import Document

from chains.chat_prompts import render_sources
from chains.citations.markers import Marker, Text
from chains.citations.visible_text import lookalikes, neutralize
from domain import Citation, CitationState, RetrievedPassage, Turn, public_location
from services.export.answer_text import answer_pieces, escape, location_text, safe_answer
from services.sources.source_service import SourceStatus


class SourceNumbers:
    """Numbers passages from 1 without gaps, in order of arrival.

    A passage keeps its number, whichever tool returns it again. It is identified by its id, or else
    by its document and position. Thread-safe.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._documents: list[Document] = []
        self._lock = threading.Lock()

    def number(self, documents: Sequence[Document]) -> list[int]:
        """The number of each document; new ones get the next numbers."""
        with self._lock:
            return [self._number(document) for document in documents]

    @property
    def documents(self) -> tuple[Document, ...]:
        """All numbered documents; number n is at index n - 1."""
        with self._lock:
            return tuple(self._documents)

    def _number(self, document: Document) -> int:
        identity = _identity(document)
        if identity not in self._numbers:
            self._documents.append(document)
            self._numbers[identity] = len(self._documents)
        return self._numbers[identity]


def _identity(document: Document) -> tuple[object, ...]:
    if document.id:
        return (document.id,)
    position = document.metadata.get("document_id"), document.metadata.get("start")
    return (*position, document.page_content)


ToolOutput = tuple[str, dict[str, Any]]
"""A tool's content, and its artifact: `documents`, their `numbers`, and `citations`.

The artifact may have a `basis`: ids of other documents and sources of which the content may tell.
"""

NO_PASSAGES = (
    "Nothing was found. Try other words: synonyms, the full name of an abbreviation, the language "
    "of the documents."
)


def artifact(
    documents: Sequence[Document] = (),
    numbers: Sequence[int] = (),
    citations: Iterable[Citation] = (),
) -> dict[str, Any]:
    """The artifact of a tool's result; the verified citations are JSON values."""
    values = [{**asdict(one), "heading_path": list(one.heading_path)} for one in citations]
    return {"documents": list(documents), "numbers": list(numbers), "citations": values}


def passages_output(documents: Sequence[Document], numbers: SourceNumbers) -> ToolOutput:
    """Passages as numbered text with a list of their sources."""
    if not documents:
        return NO_PASSAGES, artifact()
    passage_numbers = numbers.number(documents)
    return _numbered_text(documents, passage_numbers), artifact(documents, passage_numbers)


def answer_with_sources(answer: "NumberedAnswer") -> str:
    """The answer, then `Sources:` and one source per line if it cites any, as safe Markdown."""
    lines = [
        _shown_source_line(n, document.metadata)
        for n, document in zip(answer.numbers, answer.documents, strict=True)
    ]
    return "\n".join((answer.text, "", "Sources:", *lines)) if lines else answer.text


def answer_output(answer: "NumberedAnswer") -> ToolOutput:
    """The answer, the cited passages as numbered text, and the list of their sources."""
    content = answer.text
    if answer.documents:
        content = f"{content}\n\n{_numbered_text(answer.documents, answer.numbers)}"
    found = artifact(answer.documents, answer.numbers, answer.citations)
    return content, found | {"basis": list(answer.basis)}


@dataclass(frozen=True, slots=True)
class NumberedAnswer:
    """An answer with a conversation's numbers in its markers, and the cited documents in order.

    `text` is safe Markdown (see `safe_answer`). `citations` are the verified ones. `basis` has the
    ids of all documents of which the text may tell.
    """

    text: str
    documents: tuple[Document, ...]
    numbers: tuple[int, ...]
    citations: tuple[Citation, ...]
    basis: frozenset[str]


def numbered_answer(turn: Turn, numbers: SourceNumbers) -> NumberedAnswer:
    """The turn's answer with renumbered markers, and without markers that match no passage.

    Notes below it give the number of unsupported sentences, and why the answer is incomplete.
    """
    pieces = answer_pieces(turn.answer)
    passages = {source.n: source for source in turn.sources}
    markers = (piece for piece in pieces if isinstance(piece, Marker))
    cited_numbers = dict.fromkeys(
        claim.n for marker in markers for claim in marker.claims if claim.n in passages
    )
    documents = tuple(_as_document(passages[n]) for n in cited_numbers)
    new = tuple(numbers.number(documents))
    renumbered = dict(zip(cited_numbers, new, strict=True))
    parts = [
        piece.shown if isinstance(piece, Text) else _marker(piece, renumbered) for piece in pieces
    ]
    verified = tuple(
        replace(one, n=renumbered[one.n])
        for one in turn.citations
        if one.state is CitationState.VERIFIED and one.n in renumbered
    )
    # Without a marker, the text around it may be live.
    text = safe_answer("\n\n".join(("".join(parts), *_notes(turn))))
    return NumberedAnswer(text, documents, new, verified, turn.used)


def sources_output(statuses: Sequence[SourceStatus]) -> ToolOutput:
    """The sources of the library, one per line."""
    lines = [_status_line(status) for status in statuses]
    listed = [one.source.id for one in statuses]
    return "\n".join(lines) or "The library is empty.", artifact() | {"basis": listed}


def _numbered_text(documents: Sequence[Document], numbers: Sequence[int]) -> str:
    """The passages, then a line per source with the arguments for opening its document."""
    lines = (
        f"{_source_line(n, document.metadata)} (document_id: {document.metadata['document_id']}, "
        f"start: {document.metadata['start']})"
        for n, document in zip(numbers, documents, strict=True)
    )
    return "\n".join((render_sources(documents, numbers), "", "Sources:", *lines))


def _marker(marker: Marker, renumbered: Mapping[int, int]) -> str:
    return "".join(f"[{renumbered[claim.n]}]" for claim in marker.claims if claim.n in renumbered)


def _notes(turn: Turn) -> list[str]:
    notes = []
    if turn.unsupported_sentences:
        notes.append(f"(Not supported by any source: {turn.unsupported_sentences} sentences.)")
    if turn.error:
        notes.append(f"(The answer is incomplete: {turn.error})")
    return notes


def _shown_source_line(n: int, metadata: Mapping[str, Any]) -> str:
    page = "" if metadata.get("page") is None else f", page {metadata['page']}"
    return f"[{n}] {escape(metadata['title'])}, {location_text(metadata['location'])}{page}"


def _source_line(n: int, metadata: Mapping[str, Any]) -> str:
    page = "" if metadata.get("page") is None else f", page {metadata['page']}"
    title = neutralize(metadata["title"], lookalikes(()))
    return f"[{n}] {title}, {public_location(metadata['location'])}{page}"


def _status_line(status: SourceStatus) -> str:
    source, figures = status.source, status.figures
    name = source.name or public_location(source.location)
    labels = f", labels {', '.join(source.labels)}" if source.labels else ""
    return (
        f"- {name} ({source.kind}): {figures.documents:,} documents, "
        f"collection {source.collection}{labels}"
    )


def _as_document(source: RetrievedPassage) -> Document:
    """The passage in the form of a search result."""
    return Document(
        id=source.passage_id,
        page_content=source.text,
        metadata={
            "document_id": source.document_id,
            "title": source.title,
            "location": source.location,
            "version": source.version,
            "format": source.format,
            "page": source.page,
            "heading_path": list(source.heading_path),
            "score": source.score,
            "start": source.start,
            "end": source.start + len(source.text),
            "window": [hit._asdict() for hit in source.hits],
        },
    )
