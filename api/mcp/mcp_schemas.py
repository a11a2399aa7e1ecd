"""The structured output of the MCP server's tools, in addition to their text for the model."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import AfterValidator, ConfigDict

from api.field_types import Schema
from domain import CitationState, Turn, TurnState, public_location
from services.agent.tool_results import NumberedAnswer
from services.sources.source_service import SourceStatus

_Location = Annotated[str, AfterValidator(public_location)]


class _Output(Schema):
    model_config = ConfigDict(extra="forbid")


class Passage(_Output):
    """A piece of a document with its exact span."""

    n: int
    """Number of the passage in this result, from 1"""
    document_id: str
    """Id of the document, for open_document"""
    title: str
    location: _Location
    """Address of the document; of a file, only its name"""
    page: int | None
    """Page number from 1; null for formats without pages"""
    headings: list[str]
    """Headings above the passage, outermost first"""
    text: str
    score: float | None
    """Relevance score; null if the passage was not found by a search"""
    start: int
    """Start offset in the document's text, in characters"""
    end: int
    """End offset, exclusive"""


class Passages(_Output):
    """Passages, best first or in the order of the document."""

    passages: list[Passage]


class Citation(_Output):
    """A citation of a passage, checked against the stored document."""

    n: int
    """Number of the cited passage"""
    state: CitationState
    """verified: the quoted words appear in the document, which does not prove that they answer
    the question; not found: the document does not contain them; no such source: no source has
    that number"""
    quote: str
    """The words that support the answer"""
    document_id: str
    title: str
    location: _Location
    page: int | None
    start: int
    """Start offset of the quote in the document's text; -1 if not found"""
    end: int
    """End offset, exclusive; -1 if not found"""


class Answer(_Output):
    """An answer whose markers [n] are the numbers of its passages."""

    answer: str
    """The answer in Markdown; brackets from documents are escaped, so every [n] is a citation
    marker"""
    state: TurnState
    """complete, or incomplete if the model stopped early"""
    model: str
    """Name of the model that wrote the answer"""
    citations: list[Citation]
    unsupported_sentences: int
    """Number of sentences without a verified citation"""
    passages: list[Passage]
    """The passages that the answer cites"""


class LibrarySource(_Output):
    """A source that the tools search, with its numbers of documents and passages."""

    name: str
    kind: str
    collection: str
    labels: list[str]
    documents: int
    passages: int


class LibrarySources(_Output):
    """The sources that the tools search."""

    sources: list[LibrarySource]


def passages_of(artifact: Mapping[str, Any]) -> Passages:
    """The passages that a tool found, from the artifact of its result."""
    return Passages(passages=_passages(artifact["documents"], artifact["numbers"]))


def answer_of(turn: Turn, numbered: NumberedAnswer) -> Answer:
    """The renumbered answer of a turn, with the location of each citation."""
    new = {document.id: n for n, document in zip(numbered.numbers, numbered.documents, strict=True)}
    numbers = {source.n: new.get(source.passage_id) for source in turn.sources}
    return Answer.from_objects(
        turn,
        answer=numbered.text,
        citations=[
            Citation.from_objects(one, n=n)
            for one in turn.citations
            if (n := numbers.get(one.n)) is not None
        ],
        passages=_passages(numbered.documents, numbered.numbers),
    )


def sources_of(statuses: Sequence[SourceStatus]) -> LibrarySources:
    """The sources with their numbers of documents and passages, in the same order."""
    return LibrarySources(
        sources=[
            LibrarySource.from_objects(
                one.source,
                one.figures,
                name=one.source.name or public_location(one.source.location),
            )
            for one in statuses
        ]
    )


def _passages(documents: Sequence[Document], numbers: Sequence[int]) -> list[Passage]:
    return [
        _passage(n, document.page_content, document.metadata)
        for n, document in zip(numbers, documents, strict=True)
    ]


def _passage(n: int, text: str, metadata: Mapping[str, Any]) -> Passage:
    names = ("document_id", "title", "location", "page", "start", "end")
    return Passage(
        n=n,
        headings=metadata["heading_path"],
        text=text,
        score=metadata.get("score"),
        **{name: metadata[name] for name in names},
    )
