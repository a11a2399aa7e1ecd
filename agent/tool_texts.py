"""What the tools tell the model, and the artifact that goes beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from langchain_core.documents import Document

from agent.numbering import SourceNumbers
from chains.brackets import lookalikes, neutralize
from chains.marker import Marker
from chains.markers import Text
from chains.prompts import render_sources
from domain import Citation, CitationState, Source, Turn
from services.answer_text import answer_pieces
from services.source_status import SourceStatus

Told = tuple[str, dict[str, Any]]
"""A tool's content, and its artifact: `documents`, their `numbers`, and `citations`."""

NOTHING_FOUND = (
    "Nothing was found. Try other words: synonyms, the full name of an abbreviation, the language "
    "of the documents."
)


def artifact(
    documents: Sequence[Document] = (),
    numbers: Sequence[int] = (),
    citations: Iterable[Citation] = (),
) -> dict[str, Any]:
    """What programs read of a tool's result; citations as JSON values, all of them verified."""
    cited = [{**asdict(one), "heading_path": list(one.heading_path)} for one in citations]
    return {"documents": list(documents), "numbers": list(numbers), "citations": cited}


def passages_told(documents: Sequence[Document], numbers: SourceNumbers) -> Told:
    """Passages as numbered text with a list of where they are from."""
    if not documents:
        return NOTHING_FOUND, artifact()
    given = numbers.number(documents)
    return _numbered_text(documents, given), artifact(documents, given)


def plain_answer(answer: "NumberedAnswer") -> str:
    """The answer, then `Sources:` and one a line; nothing more where it cites none."""
    lines = [
        _source_line(n, document.metadata)
        for n, document in zip(answer.numbers, answer.documents, strict=True)
    ]
    return "\n".join((answer.text, "", "Sources:", *lines)) if lines else answer.text


def answer_told(answer: "NumberedAnswer") -> Told:
    """The answer, what it cites as numbered text, and the list of where that is from."""
    told = answer.text
    if answer.documents:
        told = f"{told}\n\n{_numbered_text(answer.documents, answer.numbers)}"
    return told, artifact(answer.documents, answer.numbers, answer.citations)


@dataclass(frozen=True, slots=True)
class NumberedAnswer:
    """An answer whose markers are a conversation's numbers, with what it cites in their order.

    `citations` are the verified ones.
    """

    text: str
    documents: tuple[Document, ...]
    numbers: tuple[int, ...]
    citations: tuple[Citation, ...]


def numbered_answer(turn: Turn, numbers: SourceNumbers) -> NumberedAnswer:
    """The turn's answer with its markers renumbered; those of no source are left out.

    What could not be verified, and why the answer ends early, is said below it.
    """
    pieces = answer_pieces(turn.answer)
    sources = {source.n: source for source in turn.sources}
    markers = (piece for piece in pieces if isinstance(piece, Marker))
    cited = dict.fromkeys(
        claim.n for marker in markers for claim in marker.claims if claim.n in sources
    )
    documents = tuple(_as_document(sources[n]) for n in cited)
    given = tuple(numbers.number(documents))
    new = dict(zip(cited, given, strict=True))
    shown = [piece.shown if isinstance(piece, Text) else _marker(piece, new) for piece in pieces]
    verified = tuple(
        replace(one, n=new[one.n])
        for one in turn.citations
        if one.state is CitationState.VERIFIED and one.n in new
    )
    return NumberedAnswer("\n\n".join(("".join(shown), *_notes(turn))), documents, given, verified)


def sources_told(statuses: Sequence[SourceStatus]) -> Told:
    """What the library holds, a line for each source."""
    lines = [_status_line(status) for status in statuses]
    return "\n".join(lines) or "The library holds nothing yet.", artifact()


def _numbered_text(documents: Sequence[Document], numbers: Sequence[int]) -> str:
    """The passages, then where they are from, a line each, with what opens their document."""
    lines = (
        f"{_source_line(n, document.metadata)} (document_id: {document.metadata['document_id']}, "
        f"start: {document.metadata['start']})"
        for n, document in zip(numbers, documents, strict=True)
    )
    return "\n".join((render_sources(documents, numbers), "", "Sources:", *lines))


def _marker(marker: Marker, new: Mapping[int, int]) -> str:
    return "".join(f"[{new[claim.n]}]" for claim in marker.claims if claim.n in new)


def _notes(turn: Turn) -> list[str]:
    notes = []
    if turn.unsupported_sentences:
        notes.append(f"(Not supported by any source: {turn.unsupported_sentences} sentences.)")
    if turn.error:
        notes.append(f"(The answer is incomplete: {turn.error})")
    return notes


def _source_line(n: int, known: Mapping[str, Any]) -> str:
    page = "" if known.get("page") is None else f", page {known['page']}"
    return f"[{n}] {neutralize(known['title'], lookalikes(()))}, {known['location']}{page}"


def _status_line(status: SourceStatus) -> str:
    source, figures = status.source, status.figures
    labels = f", labels {', '.join(source.labels)}" if source.labels else ""
    return (
        f"- {source.name or source.location} ({source.kind}): {figures.documents:,} documents, "
        f"collection {source.collection}{labels}"
    )


def _as_document(source: Source) -> Document:
    """The source as a search gives it."""
    return Document(
        id=source.passage_id,
        page_content=source.text,
        metadata={
            "document_id": source.document_id,
            "title": source.title,
            "location": source.location,
            "version": source.version,
            "page": source.page,
            "heading_path": list(source.heading_path),
            "score": source.score,
            "start": source.start,
            "end": source.start + len(source.text),
            "window": [hit._asdict() for hit in source.hits],
        },
    )
