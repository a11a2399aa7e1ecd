"""Documents of the library, what could not be read, and what is left out."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from api.paging import FIRST, MOST, MOST_BEFORE, Page
from api.schemas.answers import Given, Told
from api.schemas.imports import Import
from api.schemas.texts import Line
from domain import DocumentFilter, DocumentOrder, SharedPassage

_SEVERAL = 200
_SOURCE_ID = "7c9e6679742540de944be07fc1f90ae7"
_LOCATION = Field(
    description="What a person opens: a path or an address", examples=["/srv/handbook/leave.md"]
)
_KEY = Field(description="Its name within the source", examples=["leave.md"])


class Document(Told):
    """A document in the version that answers."""

    id: str = Field(description="Id of the document", examples=["9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"])
    source_id: str = Field(description="Id of the source that it is from", examples=[_SOURCE_ID])
    key: Annotated[str, _KEY]
    title: str = Field(description="Its title", examples=["Leave policy"])
    location: Annotated[str, _LOCATION]
    format: str = Field(description="Its format", examples=["md"])
    encoding: str | None = Field(
        description="Of a text file, as Python names it; null in formats with an encoding of"
        " their own",
        examples=["utf_8"],
    )
    pages: int = Field(ge=0, description="How many pages; 0 in formats without pages", examples=[0])
    characters: int = Field(ge=0, description="Length of its whole text", examples=[1280])
    characters_per_page: int | None = Field(
        description="Few mean a scan; null in formats without pages", examples=[None]
    )
    script: str = Field(
        description="The writing most of it is in; `none` where it has no letters",
        examples=["latin"],
    )
    passages: int = Field(ge=0, description="How many passages it was split into", examples=[3])
    longest_passage: int = Field(
        ge=0, description="Length of its longest passage, in characters", examples=[512]
    )
    revision: int = Field(
        ge=1, description="Counts the versions that were imported, from 1", examples=[1]
    )
    imported_at: datetime = Field(
        description="When this version was imported, in UTC", examples=["2026-11-21T10:00:00Z"]
    )
    warnings: list[str] = Field(description="What its import warned of", examples=[[]])
    details: dict[str, Any] = Field(
        description="How it is filed, and what its source told besides",
        examples=[{"collection": "HR"}],
    )


class DocumentText(Told):
    """A span of a document's text."""

    document_id: str = Field(
        description="Id of the document", examples=["9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5"]
    )
    start: int = Field(
        ge=0, description="Where the span begins, in characters from 0", examples=[0]
    )
    end: int = Field(ge=0, description="Where it ends, itself not included", examples=[14])
    characters: int = Field(ge=0, description="Length of the whole text", examples=[1280])
    text: str = Field(
        description='The text of the span, "" behind its end', examples=["# Leave policy"]
    )


class DocumentPassage(Told):
    """A passage as it is searched now."""

    passage_id: str = Field(
        description="Id of the passage", examples=["1f0e6a7b8c9d4e5f8a3be1f1c2d3e4f5"]
    )
    ordinal: int = Field(ge=0, description="Its place in the document, from 0", examples=[0])
    start: int = Field(
        ge=0, description="Where it begins in the document's text, in characters", examples=[0]
    )
    end: int = Field(ge=0, description="Where it ends, itself not included", examples=[512])
    text: str = Field(
        description="The whole passage",
        examples=["New employees get 25 days of annual leave a year."],
    )
    heading_path: list[str] = Field(
        description="The headings above it, the highest first",
        examples=[["Leave policy", "Annual leave"]],
    )
    page: int | None = Field(
        description="Its page from 1; null in formats without pages", examples=[None]
    )
    shared_before: int = Field(
        ge=0, description="Characters that also stand in the passage before", examples=[0]
    )
    shared_after: int = Field(
        ge=0, description="Characters that also stand in the one after", examples=[64]
    )

    @classmethod
    def of(cls, shared: SharedPassage) -> "DocumentPassage":
        """The passage with what it shares."""
        passage = shared.passage
        values = {
            name: getattr(passage, name) for name in cls.model_fields if hasattr(passage, name)
        }
        return cls(
            passage_id=passage.id,
            **values,
            shared_before=shared.shared_before,
            shared_after=shared.shared_after,
        )


class NamedDocument(Told, Given):
    """A document by its name within its source."""

    source_id: Line = Field(description="Id of the source that has it", examples=[_SOURCE_ID])
    key: Annotated[Line, _KEY]


class GivenDocuments(Given):
    """One document or more, which need not be in the library."""

    documents: list[NamedDocument] = Field(
        min_length=1,
        max_length=1000,
        description="The documents, each by its name within its source",
    )


class Failure(Told):
    """A document that could not be read."""

    source_id: str = Field(description="Id of the source that has it", examples=[_SOURCE_ID])
    key: Annotated[str, _KEY]
    title: str = Field(description='Its title, "" where its key names it', examples=[""])
    location: Annotated[str, _LOCATION]
    reason: str = Field(description="Why it could not be read", examples=["the file is empty"])
    failed_at: datetime | None = Field(
        description="When it was tried last, in UTC; null where that was not noted",
        examples=["2026-11-21T10:00:00Z"],
    )


class QueuedImports(Told):
    """The imports that will do it, one for each source."""

    queued: list[Import] = Field(description="The imports that were queued")


class DocumentPage(Page[Document]):
    """Documents."""


class PassagePage(Page[DocumentPassage]):
    """Passages of a document, in the order of its text."""


class FailurePage(Page[Failure]):
    """Documents that could not be read, the latest first."""


class LeftOutPage(Page[NamedDocument]):
    """Documents that their sources leave out because somebody deleted them, by source."""


class DocumentQuery(BaseModel):
    """Which documents to list, and in which order; what is left out narrows nothing."""

    words: Line = Field(
        "",
        description='Words that all occur in the title or the key, in any case; "" for any',
        examples=["leave"],
    )
    sources: list[Line] = Field(
        [],
        max_length=_SEVERAL,
        description="Only of these sources, by their ids",
        examples=[[_SOURCE_ID]],
    )
    collections: list[Line] = Field(
        [],
        max_length=_SEVERAL,
        description="Only of sources filed under one of these",
        examples=[["HR"]],
    )
    formats: list[Line] = Field(
        [], max_length=_SEVERAL, description="Only of these formats", examples=[["pdf"]]
    )
    scripts: list[Line] = Field(
        [],
        max_length=_SEVERAL,
        description="Only where most of the text is in one of these writings",
        examples=[["latin"]],
    )
    warned: bool = Field(False, description="Only documents that their import warned of")
    order: DocumentOrder = Field(
        DocumentOrder.TITLE,
        description="By `title`; the latest imported first; the most passages first; `density`:"
        " the fewest characters per page first",
    )

    limit: int = Field(FIRST, ge=1, le=MOST, description="So many at most")
    offset: int = Field(0, ge=0, le=MOST_BEFORE, description="So many of the first are left out")

    @property
    def filter(self) -> DocumentFilter:
        """Which ones."""
        return DocumentFilter(
            self.words,
            tuple(self.sources) or None,
            tuple(self.collections),
            tuple(self.formats),
            tuple(self.scripts),
            self.warned,
        )


Documents = Annotated[DocumentQuery, Query()]
