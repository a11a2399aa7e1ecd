"""What the tools of the MCP server give to programs, beside the text for the model."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field

from agent.tool_texts import NumberedAnswer
from domain import CitationState, Turn, TurnState
from services.source_status import SourceStatus


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Passage(_Given):
    """A piece of a document with its exact place."""

    n: int = Field(description="Its number in this result, from 1")
    document_id: str = Field(description="What open_document takes")
    title: str
    location: str = Field(description="A path or an address")
    page: int | None = Field(description="From 1; null in formats without pages")
    headings: list[str] = Field(description="Those above it, the highest first")
    text: str
    score: float | None = Field(description="How well it was found; null where it was not searched")
    start: int = Field(description="Where it begins in the document's text, in characters")
    end: int = Field(description="Where it ends, itself not included")


class Passages(_Given):
    """Passages in their order: the best first, or as they stand in a document."""

    passages: list[Passage]


class Citation(_Given):
    """A pointer from the answer to a passage, checked against the stored document."""

    n: int = Field(description="The number of the passage it points to")
    state: CitationState = Field(
        description="verified: the quoted words stand in the document, which does not say that they"
        " answer the question; not found: the document does not hold them; no such source: no"
        " source has that number"
    )
    quote: str = Field(description="The words that support the answer")
    document_id: str
    title: str
    location: str
    page: int | None
    start: int = Field(description="Where the quote begins in the document's text; -1 if not found")
    end: int = Field(description="Where it ends; -1 if not found")


class Answer(_Given):
    """An answer; its markers [n] are numbers of its passages."""

    answer: str = Field(
        description="In Markdown; brackets of documents are escaped, so that every [n] is a marker"
    )
    state: TurnState = Field(description="complete, or incomplete where the model broke off")
    model: str = Field(description="What wrote it")
    citations: list[Citation]
    unsupported_sentences: int = Field(description="How many no verified citation supports")
    passages: list[Passage] = Field(description="What the answer points to")


class LibrarySource(_Given):
    """A source of documents."""

    name: str
    kind: str
    collection: str
    labels: list[str]
    documents: int
    passages: int


class LibrarySources(_Given):
    """What the library holds."""

    sources: list[LibrarySource]


def passages_of(artifact: Mapping[str, Any]) -> Passages:
    """What a tool found, of the artifact beside its text."""
    return Passages(passages=_passages(artifact["documents"], artifact["numbers"]))


def answer_of(turn: Turn, numbered: NumberedAnswer) -> Answer:
    """The turn's answer as it was numbered, with every citation to what it points to."""
    new = {document.id: n for n, document in zip(numbered.numbers, numbered.documents, strict=True)}
    numbers = {source.n: new.get(source.passage_id) for source in turn.sources}
    return Answer(
        answer=numbered.text,
        state=turn.state,
        model=turn.model,
        citations=[
            Citation(
                n=n,
                state=one.state,
                quote=one.quote,
                document_id=one.document_id,
                title=one.title,
                location=one.location,
                page=one.page,
                start=one.start,
                end=one.end,
            )
            for one in turn.citations
            if (n := numbers.get(one.n)) is not None
        ],
        unsupported_sentences=turn.unsupported_sentences,
        passages=_passages(numbered.documents, numbered.numbers),
    )


def sources_of(statuses: Sequence[SourceStatus]) -> LibrarySources:
    """The sources in their order."""
    return LibrarySources(
        sources=[
            LibrarySource(
                name=one.source.name or one.source.location,
                kind=one.source.kind,
                collection=one.source.collection,
                labels=list(one.source.labels),
                documents=one.figures.documents,
                passages=one.figures.passages,
            )
            for one in statuses
        ]
    )


def _passages(documents: Sequence[Document], numbers: Sequence[int]) -> list[Passage]:
    return [
        _passage(n, document.page_content, document.metadata)
        for n, document in zip(numbers, documents, strict=True)
    ]


def _passage(n: int, text: str, known: Mapping[str, Any]) -> Passage:
    return Passage(
        n=n,
        document_id=known["document_id"],
        title=known["title"],
        location=known["location"],
        page=known["page"],
        headings=list(known["heading_path"]),
        text=text,
        score=known.get("score"),
        start=known["start"],
        end=known["end"],
    )
